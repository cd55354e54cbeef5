"""The server itself: how it starts and stops, whom it answers, what it keeps out of its memory."""

import contextlib
import http.client
import time

import psutil
import pytest

from tests.browser.dashboard import HANDSHAKE, ask

FORGED = "evil.example"
SECURITY_HEADERS = ("x-content-type-options", "x-frame-options", "referrer-policy")


@contextlib.contextmanager
def open_stream(server):
    """Open the live stream as a browser does, and wait for its first bytes."""
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=20)
    with contextlib.closing(connection):
        connection.request("GET", "/live/stream", headers={"Accept": "text/event-stream"})
        answer = connection.getresponse()
        assert answer.status == 200
        assert answer.getheader("Content-Type", "").startswith("text/event-stream")
        assert answer.readline()
        yield answer


def test_a_websocket_of_another_site_is_refused(server):
    for host, statuses in ((f"127.0.0.1:{server.port}", {101}), (FORGED, {400, 403})):
        answer, _body = ask(server, "/_stcore/stream", host, Origin=f"http://{host}", **HANDSHAKE)
        assert answer.status in statuses, host


@pytest.mark.parametrize("path", ["/", "/live/stream", "/live/metrics.csv?run=x"])
def test_a_request_with_a_forged_host_is_refused(server, path):
    assert ask(server, path, FORGED)[0].status == 400


@pytest.mark.parametrize("path", ["/", "/live-run", "/live/stream", "/_stcore/health"])
def test_every_answer_carries_the_security_headers(server, path):
    answer, _body = ask(server, path)
    assert answer.status == 200
    assert [name for name in SECURITY_HEADERS if not answer.getheader(name)] == []


def test_the_server_listens_on_this_machine_only(server):
    listening = [
        connection.laddr
        for connection in psutil.Process(server.process.pid).net_connections("inet")
        if connection.status == psutil.CONN_LISTEN
    ]
    assert {address.ip for address in listening} == {"127.0.0.1"}


def test_two_open_streams_and_an_open_page_do_not_keep_the_server_alive(start_server, new_page):
    with start_server() as started, open_stream(started), open_stream(started):
        page = new_page(url=started.url)
        page.goto("/")
        begin = time.monotonic()
        started.process.terminate()
        started.process.wait(15)  # without the stop signal the streams would hold it for ever
        print(f"\nstopped in {time.monotonic() - begin:.2f} s with two open streams")  # noqa: T201
        page.watch.problems.clear()  # the page rightly says that its server is gone
    assert "Traceback" not in started.log.read_text(encoding="utf-8")


def test_a_first_start_asks_nothing_and_opens_the_reader_s_browser(start_server, tmp_path):
    """Streamlit would ask for an e-mail address in a home folder that it has never seen."""
    home = tmp_path / "home"
    home.mkdir()
    options = ("--server.headless", "false")
    with start_server(*options, HOME=str(home), USERPROFILE=str(home), BROWSER="true") as started:
        assert ask(started, "/")[0].status == 200
    assert "email" not in started.log.read_text(encoding="utf-8").lower()


def test_home_on_a_cold_server_paints_without_torch_and_without_plotly(start_server, new_page):
    with start_server() as started:
        page = new_page(url=started.url)
        requests = []
        page.on("request", lambda request: requests.append(request.url))
        begin = time.monotonic()
        page.goto("/")
        page.get_by_role("heading", level=1).first.wait_for()
        print(f"\nHome painted after {time.monotonic() - begin:.2f} s on a cold server")  # noqa: T201
        page.wait_for_selector('[data-test-script-state="notRunning"]')
        assert [url for url in requests if "plotly" in url.lower()] == []
        assert "libtorch" not in mapped_files(started)


def mapped_files(server):
    """Return the names of all files in the memory of the server process."""
    process = psutil.Process(server.process.pid)
    if not hasattr(process, "memory_maps"):
        pytest.skip("psutil cannot list the memory of a process on this system")
    return " ".join(area.path for area in process.memory_maps())


def test_a_deep_link_works_on_a_cold_server(start_server, new_page, ready):
    with start_server() as started:
        page = new_page(url=started.url)
        page.goto("/live-run")
        ready(page)
        assert page.get_by_role("heading", level=1).count() == 1
