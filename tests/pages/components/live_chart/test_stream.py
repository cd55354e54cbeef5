import csv
import io

from pages.components.live_chart.stream import routes

OLD, NEW = "20260101t000000z-old-0001", "20260102t000000z-new-0002"


def test_names_that_lead_elsewhere_are_refused(served, get):
    for name in ("..%2F..%2Fetc", "%2Fetc%2Fpasswd", OLD + "%00", "..", "C:%5CWindows"):
        for path in ("/live/stream", "/live/metrics.csv"):
            answer, body = get(served.port, f"{path}?run={name}")
            assert answer.status == 400, (path, name)
            assert b"is not the name of a run" in body, (path, name)


def test_more_viewers_than_the_limit_are_sent_away_until_one_leaves(
    runs, served, open_stream, until, get, make_run
):
    make_run(runs, OLD)
    streams = [open_stream(OLD) for _viewer in range(3)]
    for stream in streams:
        stream.next()
    answer, body = get(served.port, f"/live/stream?run={OLD}")
    assert answer.status == 503
    assert body == b"This server has 3 live viewers, the most it carries; try later."
    streams[0].close()
    until(lambda: served.live.hub.num_viewers == 2)
    assert open_stream(OLD).next()[0] == "snapshot"


def test_a_forged_host_is_refused(served, get):
    answer, body = get(served.port, "/live/stream?run=", Host="evil.example")
    assert (answer.status, body) == (400, b"Invalid host header")


def test_the_metrics_of_a_run_come_as_a_csv_download(runs, served, get, make_run):
    make_run(runs, OLD, num_steps=3)
    answer, body = get(served.port, f"/live/metrics.csv?run={OLD}")
    assert answer.status == 200
    assert answer.headers["Content-Disposition"] == f'attachment; filename="{OLD}.csv"'
    assert answer.headers["Content-Type"].startswith("text/csv")
    rows = list(csv.DictReader(io.StringIO(body.decode())))
    assert [row["step"] for row in rows] == ["1", "2", "3"]
    assert float(rows[2]["loss"]) == 1.0 / 3


def test_a_csv_of_a_run_that_is_missing_or_damaged_is_a_sentence(runs, served, get, make_run):
    answer, body = get(served.port, f"/live/metrics.csv?run={OLD}")
    assert answer.status == 404
    assert b"There is no run" in body
    (make_run(runs, NEW) / "run.json").write_text("{")
    answer, body = get(served.port, f"/live/metrics.csv?run={NEW}")
    assert answer.status == 400
    assert b"cannot be read" in body


def test_head_requests_do_not_wait_for_a_stream_to_end(served, get):
    answer, body = get(served.port, "/live/stream", method="HEAD")
    assert (answer.status, body) == (200, b"")
    assert get(served.port, "/live/stream", method="POST")[0].status == 405


def test_the_server_gets_three_routes():
    paths = [route.path for route in routes()]
    assert paths == ["/live/stream", "/live/metrics.csv", "/live/assets/plotly.min.js"]
