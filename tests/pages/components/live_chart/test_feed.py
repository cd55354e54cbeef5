import pytest

from core.train.run.reader import RunReader
from core.train.run.store import RunStore
from pages.components.live_chart import feed, hub

TOTALS = ("total_records", "step_seconds")
OLD, NEW = "20260101t000000z-old-0001", "20260102t000000z-new-0002"


def test_a_late_joiner_gets_a_snapshot_with_everything_that_a_chart_needs(
    runs, open_stream, make_run, train
):
    directory = make_run(runs, OLD, num_steps=3)
    with RunStore(directory) as store:
        train(store, [4], loss=float("nan"))
        store.append_event("eval", 4, validation_loss=3.0)
    stream = open_stream(OLD)
    assert stream.answer.status == 200
    assert stream.answer.headers["Content-Type"].startswith("text/event-stream")
    assert stream.answer.headers["Cache-Control"] == "no-cache"
    assert stream.answer.headers["X-Accel-Buffering"] == "no"
    kind, identity, data = stream.next()
    assert (kind, identity) == ("snapshot", f"{OLD}:4:1")
    assert data.keys() == {"run", "info", "state", "columns", "events", *TOTALS}
    assert [data[name] for name in ("run", *TOTALS)] == [OLD, 4, 2.0]
    assert data["info"]["config"] == {"name": OLD}
    assert data["state"]["state"] == "finished"
    assert tuple(data["columns"]) == feed.COLUMNS
    assert data["columns"]["step"] == [1, 2, 3, 4]
    assert data["columns"]["loss"] == [1.0, 0.5, 1.0 / 3, None]
    assert data["columns"]["flags"] == [0, 0, 0, 1]
    assert data["events"][0]["validation_loss"] == 3.0


def test_a_long_run_arrives_decimated_with_its_spike(runs, open_stream, make_run, train):
    directory = make_run(runs, OLD, num_steps=2000)
    with RunStore(directory) as store:
        train(store, [2001], loss=99.0)
        train(store, range(2002, 4001))
    _kind, identity, data = open_stream(OLD).next()
    assert len(data["columns"]["step"]) <= 1500
    assert max(data["columns"]["loss"]) == 99.0
    assert data["total_records"] == 4000
    assert identity == f"{OLD}:4000:0"


def test_the_mean_speed_is_that_of_every_step_of_every_attempt_also_when_most_are_not_sent(
    runs, open_stream, make_run, train
):
    """3,000 steps of 0.5 s, 500 of 0.1 s, and a second attempt that does 500 again in 0.3 s."""
    directory = make_run(runs, OLD, num_steps=3000)
    with RunStore(directory) as store:
        train(store, range(3001, 3501), seconds=0.1)
    with RunStore(directory, attempt=2) as store:
        train(store, range(3001, 3501), seconds=0.3)
        stream = open_stream(OLD)
        _kind, _identity, data = stream.next()
        records = RunReader(directory).read_new().records
        assert len(data["columns"]["step"]) < len(records) == data["total_records"] == 4000
        assert data["step_seconds"] == pytest.approx(records["seconds"].sum())
        assert data["step_seconds"] == pytest.approx(1500 + 50 + 150)
        train(store, [3501], seconds=7.0)
    kind, _identity, data = stream.next()
    assert (kind, data["total_records"]) == ("update", 4001)
    assert data["step_seconds"] == pytest.approx(1707)


def test_updates_bring_only_what_is_new_with_growing_ids(runs, open_stream, make_run, train):
    directory = make_run(runs, OLD, num_steps=2)
    stream = open_stream(OLD)
    assert stream.next()[0] == "snapshot"
    places = [(2, 0)]
    with RunStore(directory) as store:
        for step in range(3, 8):
            train(store, [step])
            store.append_event("eval", step, validation_loss=float(step))
            while places[-1] != (step, step - 2):
                kind, identity, data = stream.next()
                run, num_records, num_events = identity.split(":")
                place = (int(num_records), int(num_events))
                assert (kind, run) == ("update", OLD)
                assert place > places[-1]
                assert data["columns"]["step"] == list(range(places[-1][0] + 1, place[0] + 1))
                seqs = [event["seq"] for event in data["events"]]
                assert seqs == list(range(places[-1][1], place[1]))
                places.append(place)


def test_two_viewers_get_the_same_bytes_from_one_reading_of_the_disk(
    runs, open_stream, monkeypatch, make_run, train
):
    opened = []
    monkeypatch.setattr(hub, "Feed", lambda directory: opened.append(1) or feed.Feed(directory))
    directory = make_run(runs, OLD, num_steps=2)
    one, two = open_stream(OLD), open_stream("")
    assert one.next() == two.next()
    with RunStore(directory) as store:
        train(store, [3])
    assert one.next() == two.next()
    assert len(opened) == 1


def test_a_change_of_state_alone_is_an_update(runs, open_stream, make_run):
    directory = make_run(runs, OLD, num_steps=1)
    stream = open_stream(OLD)
    stream.next()
    with RunStore(directory) as store:
        store.write_state("failed", step=1, reason="non_finite")
    kind, _id, data = stream.next()
    assert kind == "update"
    assert (data["state"]["state"], data["state"]["reason"]) == ("failed", "non_finite")
    assert (data["columns"]["step"], data["events"]) == ([], [])


def test_last_event_id_resumes_with_exactly_the_newer_part(runs, open_stream, make_run):
    directory = make_run(runs, OLD, num_steps=5)
    with RunStore(directory) as store:
        store.append_event("eval", 5, validation_loss=1.0)
        store.append_event("eval", 5, validation_loss=2.0)
    kind, identity, data = open_stream(OLD, **{"Last-Event-ID": f"{OLD}:3:1"}).next()
    assert (kind, identity) == ("update", f"{OLD}:5:2")
    assert data["columns"]["step"] == [4, 5]
    assert [event["validation_loss"] for event in data["events"]] == [2.0]


@pytest.mark.parametrize(
    "last_event_id",
    [f"{OLD}:9:0", f"{OLD}:0:9", f"{NEW}:1:0", f"{OLD}:-1:0", "nonsense", f"{OLD}:" + "9" * 5000],
)
def test_an_id_that_is_not_of_this_run_gets_a_snapshot(runs, open_stream, last_event_id, make_run):
    make_run(runs, OLD, num_steps=5)
    assert open_stream(OLD, **{"Last-Event-ID": last_event_id}).next()[0] == "snapshot"


def test_asking_for_ever_other_positions_fills_no_memory(runs, make_run):
    one_feed = feed.Feed(make_run(runs, OLD, num_steps=100))
    one_feed.take(one_feed.look())
    for num_records in range(100):
        since = feed.Position(OLD, num_records, 0)
        assert f'"step":[{num_records + 1}'.encode() in one_feed.message(since)
    assert len(one_feed._encoded) <= feed.MAX_ENCODED


def test_who_is_too_far_behind_gets_a_snapshot(runs, open_stream, monkeypatch, make_run):
    monkeypatch.setattr(feed, "MAX_BEHIND", 3)
    make_run(runs, OLD, num_steps=5)
    assert open_stream(OLD, **{"Last-Event-ID": f"{OLD}:1:0"}).next()[0] == "snapshot"
