"""What a crowd and one hostile student cost a class's teacher, on the real server; prints a table.

Thirty students behind one address reload three times; from another address come 300 idle sessions,
200 streams, 100 uploads of 4.9 MB, 60 exports and eight fresh cookies. Meanwhile the teacher
pauses, resumes and opens a page. All of it stays on 127.0.0.0/8, bounded in number and time.
"""

import argparse
import asyncio
import contextlib
import multiprocessing
import os
import re
import subprocess
import sys
import tempfile
import time
import uuid
from collections import Counter
from collections.abc import Awaitable, Iterator, Mapping
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from http import HTTPStatus
from pathlib import Path
from typing import Any

import psutil
import websockets

from benchmarks.class_load import training
from benchmarks.measuring import ROOT, Server, free_port, own_folders, show, show_head
from benchmarks.streamlit_client import Session, open_session
from core.train.run.reader import RunReader
from pages.components.live_chart.exports import MAX_KEPT_BYTES
from pages.server.browser import COOKIE
from pages.server.uploads import TOTAL_BYTES

SERVER, TEACHER, CLASS, HOSTILE = "127.0.0.2", "127.0.0.1", "127.0.0.3", "127.0.0.4"
NUM_STUDENTS, NUM_RELOADS = 30, 3
NUM_IDLE, NUM_STREAMS, NUM_UPLOADS, NUM_EXPORTS, NUM_COOKIES = 300, 200, 100, 60, 8
UPLOAD_BYTES = 4_900_000
PAGE_MIB = 1.0  # of a page that is open
MIB = 2**20
RECORDING = "one_minute"
SETTLE_SECONDS = 12.0
FLOOD_AFTER = 3.0
PATIENCE = 60.0
GOAL = 1.0  # seconds
NUM_TRIES, PAUSE = 20, 0.25  # of a connection that is closed without a word
TROUBLE = (OSError, EOFError, TimeoutError, websockets.WebSocketException)


@contextlib.contextmanager
def running_class(folder: Path, num_files: int) -> Iterator[Server]:
    """Open the dashboard for a class, in a process that may open so many files."""
    os.environ |= own_folders(str(folder))
    port = free_port(SERVER)
    start = f'ulimit -n {num_files} && exec "$0" classroom.py --headless --address {SERVER}'
    log_file = folder / "log"
    with log_file.open("wb") as log:
        process = subprocess.Popen(
            ["/bin/sh", "-c", f"{start} --port {port}", sys.executable],
            cwd=ROOT,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
        )
    try:
        until = time.monotonic() + PATIENCE
        while not log_file.read_text().count("URL"):
            if process.poll() is not None or time.monotonic() > until:
                raise RuntimeError(log_file.read_text())
            time.sleep(0.2)
        print(*(line for line in log_file.read_text().splitlines() if "ulimit" in line), sep="\n")
        yield Server(port=port, process=psutil.Process(process.pid))
    finally:
        process.terminate()
        process.wait(20)
        log = log_file.read_text()
        print("log of the server:", Counter(re.findall(r"Too many open files|Traceback", log)))


@dataclass(kw_only=True)
class Answer:
    """What the server said: its status, its head, and the connection for the rest."""

    status: int
    head: str
    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter

    def cookie(self, name: str) -> str:
        """Return the value of a cookie that was set; "" if it was not."""
        found = re.search(rf"(?i)^set-cookie: {name}=([^;\r\n]+)", self.head, re.MULTILINE)
        return found[1] if found else ""


async def ask(
    crowded: Server, request: str, source: str, said: Mapping[str, str], body: bytes = b""
) -> Answer:
    """Send one request from an address of 127.0.0.0/8 and read the head of the answer.

    As a browser does, try again when the server closes the connection without a word.
    """
    headers = {"Host": f"{SERVER}:{crowded.port}", "Connection": "close", **said}
    headers |= {"Content-Length": str(len(body))} if body else {}
    lines = [
        f"{request} HTTP/1.1",
        *(f"{name}: {value}" for name, value in headers.items()),
        "",
        "",
    ]
    for _try in range(NUM_TRIES):
        reader, writer = await asyncio.open_connection(
            SERVER, crowded.port, local_addr=(source, 0), limit=1 << 24
        )
        writer.write("\r\n".join(lines).encode() + body)
        with contextlib.suppress(EOFError, ConnectionError):
            async with asyncio.timeout(PATIENCE):
                head = (await reader.readuntil(b"\r\n\r\n")).decode()
            return Answer(status=int(head.split()[1]), head=head, reader=reader, writer=writer)
        writer.close()
        await asyncio.sleep(PAUSE)
    raise ConnectionRefusedError(f"closed {NUM_TRIES} times without a word")


async def status_of(asked: Awaitable[Answer]) -> str:
    """Return the status of an answer, read to its end if it is no refusal; or what went wrong."""
    try:
        answer = await asked
        if answer.status < HTTPStatus.BAD_REQUEST:
            async with asyncio.timeout(PATIENCE):
                await answer.reader.read(-1)
        answer.writer.close()
    except TROUBLE as error:
        return type(error).__name__
    return str(answer.status)


async def fresh_cookie(crowded: Server, source: str) -> str:
    """Load a page as a browser without cookies does; return the cookie it gets."""
    answer = await ask(crowded, "GET /", source, {"Accept": "text/html"})
    await answer.reader.read(-1)
    answer.writer.close()
    return f"{COOKIE}={answer.cookie(COOKIE)}"


def visit(crowded: Server, source: str, cookie: str = "", page: str = "live-run") -> Any:  # noqa: ANN401
    """Return a session that opens from an address, with a cookie."""
    headers = {"Cookie": cookie} if cookie else {}
    return open_session(crowded.port, host=SERVER, source=source, page=page, headers=headers)


async def stream(crowded: Server, source: str, cookie: str = "") -> Answer:
    """Open the live stream."""
    said = {"Cookie": cookie} if cookie else {}
    return await ask(crowded, "GET /live/stream", source, said)


async def student(crowded: Server, over: asyncio.Event, seconds: list[float]) -> str:
    """Load the page and follow the run, three times anew; stay until it is over."""
    cookie = await fresh_cookie(crowded, CLASS)
    try:
        for load in range(1 + NUM_RELOADS):
            began = time.monotonic()
            async with visit(crowded, CLASS, cookie) as session:
                await session.run()
                seconds.append(time.monotonic() - began)
                followed = await stream(crowded, CLASS, cookie)
                if followed.status != HTTPStatus.OK:
                    return f"stream {followed.status}"
                if load == NUM_RELOADS:
                    await over.wait()
                followed.writer.close()
    except TROUBLE as error:
        return type(error).__name__
    return "served"


async def idle(crowded: Server, over: asyncio.Event) -> str:
    """Hold a session that asks for nothing."""
    try:
        async with visit(crowded, HOSTILE):
            await over.wait()
    except TROUBLE as error:
        return type(error).__name__
    return "let in"


async def hold_stream(crowded: Server, over: asyncio.Event) -> str:
    """Hold a live stream and read nothing."""
    try:
        answer = await stream(crowded, HOSTILE)
    except TROUBLE as error:
        return type(error).__name__
    if answer.status == HTTPStatus.OK:
        await over.wait()
    answer.writer.close()
    return str(answer.status)


async def flood_with_connections(crowded: Server, over: asyncio.Event) -> list[str]:
    """Hold as many sessions and streams as the server lets in; come after files and wishes."""
    await asyncio.sleep(FLOOD_AFTER)
    sessions = [idle(crowded, over) for _ in range(NUM_IDLE)]
    return await asyncio.gather(
        *sessions, *(hold_stream(crowded, over) for _ in range(NUM_STREAMS))
    )


async def send_files(crowded: Server, over: asyncio.Event) -> Counter[str]:
    """Send a hundred files in one session, and keep it."""
    answer = await ask(crowded, "GET /_stcore/health", HOSTILE, {})
    token = answer.cookie("_streamlit_xsrf")
    answer.writer.close()
    cookie = await fresh_cookie(crowded, HOSTILE)
    head = '--x\r\nContent-Disposition: form-data; name="f"; filename="f"\r\n\r\n'
    body = head.encode() + bytes(UPLOAD_BYTES) + b"\r\n--x--\r\n"
    said = {
        "Content-Type": "multipart/form-data; boundary=x",
        "Cookie": f"_streamlit_xsrf={token}; {cookie}",
        "X-Xsrftoken": token,
    }
    statuses: Counter[str] = Counter()
    try:
        async with visit(crowded, HOSTILE, cookie, "quantization") as session:
            await session.run()
            for _file in range(NUM_UPLOADS):
                request = f"PUT /_stcore/upload_file/{session.name}/{uuid.uuid4()}"
                statuses[await status_of(ask(crowded, request, HOSTILE, said, body))] += 1
            await over.wait()
    except TROUBLE as error:
        statuses[f"session {type(error).__name__}"] += 1
    return statuses


async def export(crowded: Server, run: str) -> Counter[str]:
    """Ask for sixty files at once."""
    paths = (f"/live/metrics.csv?run={run}", f"/live/run.html?recording={RECORDING}")
    asked = (
        status_of(ask(crowded, f"GET {paths[number % 2]}", HOSTILE, {}))
        for number in range(NUM_EXPORTS)
    )
    return Counter(await asyncio.gather(*asked))


async def line_up(crowded: Server) -> Counter[str]:
    """Wish for runs of one's own with eight fresh cookies."""
    said: Counter[str] = Counter()
    for _number in range(NUM_COOKIES):
        cookie = await fresh_cookie(crowded, HOSTILE)
        try:
            async with visit(crowded, HOSTILE, cookie) as session:
                await session.run()
                await session.press("lr_own")
                await session.run()
                waits = "Your run waits" in session.texts
                said["in the line" if waits else "refused"] += 1
        except (*TROUBLE, LookupError) as error:
            said[type(error).__name__] += 1
    return said


async def command(session: Session, directory: Path, op: str, state: str) -> float:
    """Give a command as the teacher's page does; return the seconds until the run obeys."""
    began, reader = time.monotonic(), RunReader(directory)
    value = {"op": op, "value": None, "run": directory.name, "nonce": str(uuid.uuid4())}
    await session.trigger("live_chart", "command", value)
    error = session.data_of("live_chart")["receipt"]["error"]
    if error:
        raise RuntimeError(error)
    while reader.read_state().state != state:
        await asyncio.sleep(0.01)
    return time.monotonic() - began


def teach_alone(port: int, directory: Path, seconds: float) -> dict[str, list[float]]:
    """Be the teacher, in a process of one's own: here one would wait for what the crowd reads."""

    async def both() -> dict[str, list[float]]:
        until = time.monotonic() + seconds
        crowded = Server(port=port, process=psutil.Process())
        taught, events = await asyncio.gather(
            teach(crowded, directory, until), first_event(crowded, until)
        )
        return {**taught, "first live event": events}

    return asyncio.run(both())


async def teach(crowded: Server, directory: Path, until: float) -> dict[str, list[float]]:
    """Open pages, pause and resume until the time is over."""
    seconds: dict[str, list[float]] = {"pause": [], "resume": [], "open": []}
    async with visit(crowded, TEACHER) as held:
        await held.run()
        while time.monotonic() < until:
            seconds["pause"].append(await command(held, directory, "pause", "paused"))
            seconds["resume"].append(await command(held, directory, "resume", "running"))
            began = time.monotonic()
            async with visit(crowded, TEACHER, page="model-sizes") as opened:
                await opened.run()
            seconds["open"].append(time.monotonic() - began)
            await asyncio.sleep(0.5)
        seconds["stop"] = [await command(held, directory, "stop", "stopped")]
    return seconds


async def first_event(crowded: Server, until: float) -> list[float]:
    """Return how long the teacher's live stream takes to begin, again and again."""
    seconds = []
    while time.monotonic() < until:
        began = time.monotonic()
        answer = await stream(crowded, TEACHER)
        if answer.status == HTTPStatus.OK:
            async with asyncio.timeout(PATIENCE):
                await answer.reader.readuntil(b"event: snapshot")
            seconds.append(time.monotonic() - began)
        answer.writer.close()
        await asyncio.sleep(0.5)
    return seconds


async def prepare(crowded: Server) -> None:
    """Allow students' own runs, and wait until what is loaded late, torch among it, is loaded."""
    async with visit(crowded, TEACHER) as session:
        await session.run()
        await session.choose("checkbox", "frame_sandbox", bool_value=True)
    await asyncio.sleep(SETTLE_SECONDS)


async def scene(crowded: Server, directory: Path, seconds: float) -> None:
    """Let the class come, then the hostile student, and print what the teacher noticed."""
    await prepare(crowded)
    memory = crowded.process.memory_info().rss
    over, loads = asyncio.Event(), list[float]()
    students = [asyncio.create_task(student(crowded, over, loads)) for _ in range(NUM_STUDENTS)]
    while len(loads) < NUM_STUDENTS * (1 + NUM_RELOADS) and not all(s.done() for s in students):
        await asyncio.sleep(0.1)
    show(f"{NUM_STUDENTS} students load {1 + NUM_RELOADS} times: one load", loads, "s")
    print("    descriptors of the server", crowded.process.num_fds())
    with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as teacher:
        loop = asyncio.get_running_loop()
        await loop.run_in_executor(teacher, os.getloadavg)  # the process has started
        taught = loop.run_in_executor(teacher, teach_alone, crowded.port, directory, seconds)
        files = asyncio.create_task(send_files(crowded, over))
        exports = asyncio.create_task(export(crowded, directory.name))
        cookies = asyncio.create_task(line_up(crowded))
        flood = asyncio.create_task(flood_with_connections(crowded, over))
        for what, taken in (await taught).items():
            show(f"the teacher meanwhile: {what}", taken, "s", goal=f"< {GOAL:.0f}")
    grown = (crowded.process.memory_info().rss - memory) / MIB
    print("    descriptors of the server", crowded.process.num_fds())
    over.set()
    print("exports", dict(await exports), "  own runs", dict(await cookies))
    print("uploads", dict(await files))
    ends = [*await asyncio.gather(*students), *await flood]
    cuts = (0, NUM_STUDENTS, NUM_STUDENTS + NUM_IDLE, len(ends))
    for what, begin, end in zip(
        ("students", "idle sessions", "streams"), cuts, cuts[1:], strict=False
    ):
        print(what, dict(Counter(ends[begin:end])))
    num_pages = sum(end in {"served", "let in"} for end in ends)
    bound = (TOTAL_BYTES + MAX_KEPT_BYTES) / MIB + PAGE_MIB * num_pages
    show("memory of the server, more than before", [grown], "MiB", goal=f"< {bound:.0f}")


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--files", type=int, default=256, help="what `ulimit -n` says")
    parser.add_argument("--seconds", type=float, default=20.0, help="of the attack")
    options = parser.parse_args()
    if sys.platform != "linux":
        print("not measured: only Linux answers on every address of 127.0.0.0/8")
        return
    print("load of this machine", os.getloadavg())
    show_head()
    with (
        tempfile.TemporaryDirectory() as name,
        running_class(Path(name), options.files) as crowded,
        training() as directory,
    ):
        asyncio.run(scene(crowded, directory, min(options.seconds, PATIENCE)))


if __name__ == "__main__":
    main()
