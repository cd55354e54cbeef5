"""A dashboard in a separate process, and what is asked of it without a browser."""

import asyncio
import contextlib
import http.client
import os
import socket
import subprocess
import sys
import time
import urllib.request
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import psutil

ROOT = Path(__file__).parents[2]
PATIENCE = 90  # seconds: it ends what hangs, and says nothing about speed
APP = ("-m", "streamlit", "run", "app.py", "--server.headless", "true")
HANDSHAKE = {
    "Connection": "Upgrade",
    "Upgrade": "websocket",
    "Sec_WebSocket_Version": "13",
    "Sec_WebSocket_Key": "dGhlIHNhbXBsZSBub25jZQ==",
}


@dataclass(frozen=True, kw_only=True)
class Server:
    """A dashboard that was started for tests."""

    address: str
    port: int
    runs: Path
    state: Path
    log: Path
    process: subprocess.Popen

    @property
    def url(self):
        return f"http://{self.address}:{self.port}"


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def wait_until(condition, seconds=PATIENCE):
    """Return what the condition gives once it is true."""
    deadline = time.monotonic() + seconds
    while not (found := condition()):
        assert time.monotonic() < deadline, f"not within {seconds} s"
        time.sleep(0.1)
    return found


def is_healthy(server):
    said = server.log.read_text(encoding="utf-8")
    assert server.process.poll() is None, f"the server ended:\n{said}"
    with (
        contextlib.suppress(OSError),  # a busy machine answers late
        urllib.request.urlopen(f"{server.url}/_stcore/health", timeout=5) as answer,
    ):
        return answer.read() == b"ok"
    return False


@contextlib.contextmanager
def running_server(
    folder,
    *options,
    program=APP,
    port_option="--server.port",
    address="127.0.0.1",
    environment=os.environ,
):
    """Run the dashboard with its own runs and state inside `folder`."""
    port, runs, state, log = free_port(), folder / "runs", folder / "state", folder / "server.log"
    command = [sys.executable, *program, port_option, str(port), *options]
    folders = {"B2G_RUNS_DIR": str(runs), "B2G_STATE_DIR": str(state)}
    with log.open("ab") as output:
        process = subprocess.Popen(
            command,
            cwd=ROOT,
            env={**environment, **folders},
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
        )
    server = Server(address=address, port=port, runs=runs, state=state, log=log, process=process)
    try:
        wait_until(lambda: is_healthy(server))
        yield server
    finally:
        process.terminate()
        try:
            process.wait(20)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        end_workers(runs)


def end_workers(runs):
    """End the training processes of these runs: by design they outlive the server."""
    for process in psutil.process_iter(["cmdline"]):
        if str(runs) in " ".join(process.info["cmdline"] or []):
            process.kill()


def ask(server, path, host=None, **headers):
    """Send one GET exactly as written, with a Host of our choice; return (answer, first bytes)."""
    connection = http.client.HTTPConnection(server.address, server.port, timeout=20)
    connection.putrequest("GET", path, skip_host=True)
    for name, value in {"Host": host or f"{server.address}:{server.port}", **headers}.items():
        connection.putheader(name.replace("_", "-"), value)
    connection.endheaders()
    answer = connection.getresponse()
    is_stream = answer.status == 101 or "event-stream" in answer.getheader("Content-Type", "")
    body = b"" if is_stream else answer.read(400)
    connection.close()
    return answer, body


def in_a_thread(coroutine):
    """Run a coroutine to its end, also where Playwright's own loop runs in this thread."""
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(asyncio.run, coroutine).result()
