"""A class on one machine: 127.0.0.2 is the server, 127.0.0.1 the teacher, 127.0.0.3 a student.

A browser cannot choose its own address, so a student's browser goes through a small relay.
"""

import asyncio
import contextlib
import os
import re
import socket
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from benchmarks.streamlit_client import open_session
from core.train.run.reader import RunReader
from core.train.run.shelf import list_runs
from pages.server.browser import COOKIE
from tests.browser.dashboard import (
    ask,
    free_port,
    in_a_thread,
    running_server,
    wait_until,
)

SERVER, TEACHER, STUDENT = "127.0.0.2", "127.0.0.1", "127.0.0.3"
PIN = "246810"
QUICK = {"lr_size": "110k", "lr_steps": "2000", "lr_context": "16", "lr_batch": "2"}
FORGED = "20260102t030405z-one-minute-00ff"
PATIENCE = 10  # seconds that a wish outlives its owner's last connection here; 60 for a class


async def carry(reader, writer):
    try:
        while data := await reader.read(65_536):
            writer.write(data)
            await writer.drain()
    except ConnectionError:
        pass  # one end has closed, or the class is over
    finally:
        writer.close()


async def serve_relay(port, ours, ready, over):
    writers = []

    async def meet(reader, writer):
        there = await asyncio.open_connection(SERVER, port, local_addr=(STUDENT, 0))
        writers.extend((writer, there[1]))
        await asyncio.gather(carry(reader, there[1]), carry(there[0], writer))

    async with await asyncio.start_server(meet, "127.0.0.1", ours):
        ready.set()
        await asyncio.to_thread(over.wait)
    for writer in writers:
        writer.transport.abort()
    await asyncio.sleep(0.2)  # the carriers notice


@contextlib.contextmanager
def relay(port):
    """Carry connections to the class's port, from the student's address; yields a port of ours."""
    ours, ready, over = free_port(), threading.Event(), threading.Event()
    with ThreadPoolExecutor(1) as pool:
        serving = pool.submit(lambda: asyncio.run(serve_relay(port, ours, ready, over)))
        ready.wait(10)
        try:
            yield ours
        finally:
            over.set()
            serving.result(10)


@contextlib.contextmanager
def running_class(folder):
    """Open the dashboard with the command for a class; yield it and a student's address of it."""
    program = ("classroom.py", "--address", SERVER, "--headless")
    own = {"B2G_TEACHER_PIN": PIN, "B2G_WISH_SECONDS": str(PATIENCE)}
    environment = {**os.environ, **own}
    with (
        running_server(
            folder, program=program, port_option="--port", address=SERVER, environment=environment
        ) as server,
        relay(server.port) as ours,
    ):
        yield server, f"http://127.0.0.1:{ours}"


@pytest.fixture(scope="module")
def both(tmp_path_factory):
    with running_class(tmp_path_factory.mktemp("class")) as started:
        yield started


@pytest.fixture(scope="module")
def idle(tmp_path_factory):
    """A class in which nothing trains yet, and a student's address of it."""
    with running_class(tmp_path_factory.mktemp("idle")) as started:
        yield started


@pytest.fixture
def student_url(both):
    return both[1]


@pytest.fixture(scope="module")
def a_class(both):
    return both[0]


async def start_quick_run(a_class):
    """Start a run of the class in the teacher's browser, and let it make ten steps a second."""
    before = {run.name for run in list_runs(a_class.runs)}
    query = "&".join(f"{name}={value}" for name, value in QUICK.items())
    async with open_session(
        a_class.port, host=SERVER, source=TEACHER, page="live-run", query=query
    ) as session:
        await session.run()
        await session.press("lr_start")
        await session.run()
        command = {"op": "set_max_steps_per_second", "value": 10, "nonce": "slow"}
        (name,) = wait_until(lambda: {run.name for run in list_runs(a_class.runs)} - before)
        await session.trigger("live_chart", "command", {**command, "run": name})
        assert session.data_of("live_chart")["receipt"]["error"] == ""
        return a_class.runs / name


@pytest.fixture(scope="module")
def a_run(a_class):
    """A run that the teacher has started, slow enough to last for all tests."""

    return in_a_thread(start_quick_run(a_class))


def allow_own_runs(a_class, *, allowed=True):
    """Let the teacher turn the switch of the students' own runs."""

    async def scene():
        async with open_session(
            a_class.port, host=SERVER, source=TEACHER, page="live-run"
        ) as session:
            await session.run()
            await session.choose("checkbox", "frame_sandbox", bool_value=allowed)

    in_a_thread(scene())


@pytest.fixture
def own_runs_allowed(a_class):
    allow_own_runs(a_class)
    yield
    allow_own_runs(a_class, allowed=False)


@pytest.fixture
def line_up(student_url, new_page, visit):
    """Return line_up(): a new browser of a student that asks for a run of its own."""

    def go():
        page = visit(new_page(url=student_url), "/live-run", **QUICK)
        page.get_by_role("button", name="Train my own").click()
        page.get_by_text("Your run waits: number").wait_for()
        return page

    return go


def place_of(page):
    """Return the place in the line that a student reads."""
    return int(re.search(r"number (\d+)", page.get_by_text("Your run waits").inner_text())[1])


@pytest.fixture
def as_student(a_class):
    """Return as_student(act): run `act(session)` in a session from the student's address."""

    def go(act, **options):
        async def scene():
            async with open_session(
                a_class.port, host=SERVER, source=STUDENT, page="live-run", **options
            ) as session:
                await session.run()
                return await act(session)

        return in_a_thread(scene())

    return go


def ops(run):
    """Return what has been commanded so far."""
    return sorted(path.read_text(encoding="utf-8") for path in (run / "control").glob("*.json"))


def test_the_class_is_served_on_its_own_address_only(a_class):
    told = a_class.log.read_text(encoding="utf-8")
    assert f"Class: {a_class.url}" in told
    assert f"Teacher's PIN: {PIN}" in told
    with socket.socket() as elsewhere:
        assert elsewhere.connect_ex(("127.0.0.1", a_class.port)) != 0


def test_a_student_follows_the_curve_and_cannot_touch_the_run(student_url, a_run, new_page, visit):
    page = visit(new_page(url=student_url), "/live-run")
    step = page.locator(".st-key-headline")
    wait_until(lambda: re.search(r"step (\d+)", step.inner_text()))
    first = step.inner_text()
    wait_until(lambda: step.inner_text() != first)
    assert page.get_by_text("You are watching.").first.is_visible()
    for name in ("Pause", "Stop and save"):
        assert page.get_by_role("button", name=name).is_disabled()
    assert page.get_by_test_id("stBaseButton-primary").is_disabled()
    page.keyboard.press(" ")  # the key for pause
    page.wait_for_timeout(1000)
    assert RunReader(a_run).read_state().state == "running"


def test_the_teacher_s_own_browser_controls_and_shows_how_to_join(
    a_class, a_run, new_page, visit, screenshot
):
    page = visit(new_page(url=a_class.url), "/live-run")
    wait_until(lambda: page.get_by_role("button", name="Pause").is_enabled())
    page.get_by_test_id("stPopover").filter(has_text="Join").get_by_role("button").click()
    code = page.get_by_alt_text(f"QR code of {a_class.url}")
    code.wait_for()
    assert code.evaluate("image => image.naturalWidth") > 0
    assert page.get_by_text(a_class.url, exact=True).is_visible()
    screenshot(page, "class-join")


def test_the_copied_link_leads_others_here_and_becomes_a_code(a_class, new_page, visit):
    page = visit(new_page(url=a_class.url), "/live-run", lr_size="110k")
    page.context.grant_permissions(["clipboard-write"], origin=a_class.url)
    page.get_by_role("button", name="Copy link").click()
    page.get_by_text("Link copied").wait_for()
    page.get_by_test_id("stPopover").filter(has_text="Join").get_by_role("button").click()
    link = page.locator(".join-link")
    link.wait_for()
    assert link.inner_text().startswith(f"{a_class.url}/live-run?")
    assert "lr_size=110k" in link.inner_text()


@pytest.mark.parametrize("op", ["pause", "stop", "resume", "step"])
def test_a_hand_made_command_without_the_pin_is_refused(a_run, as_student, op):
    before = ops(a_run)

    async def act(session):
        command = {"op": op, "value": None, "run": a_run.name, "nonce": op}
        await session.trigger("live_chart", "command", command)
        return session.data_of("live_chart")["receipt"]

    receipt = as_student(act)
    assert receipt["number"] is None
    assert "You are watching" in receipt["error"]
    assert ops(a_run) == before


def test_a_hand_made_start_without_the_pin_is_refused(a_class, a_run, as_student):
    async def act(session):
        await session.press("lr_start")
        await session.run()

    as_student(act)
    assert [run.name for run in list_runs(a_class.runs)] == [a_run.name]


def test_a_run_name_that_leads_elsewhere_is_refused_for_the_teacher_too(a_class, a_run):
    async def scene():
        async with open_session(
            a_class.port, host=SERVER, source=TEACHER, page="live-run"
        ) as session:
            await session.run()
            errors = []
            for name in ("../../etc", "..", "/etc/passwd", f"{a_run.name}/../x", "a\0b", FORGED):
                command = {"op": "stop", "value": None, "run": name, "nonce": name}
                await session.trigger("live_chart", "command", command)
                errors.append(session.data_of("live_chart")["receipt"]["error"])
            return errors

    *others, unknown = in_a_thread(scene())
    assert all("is not the name of a run" in error for error in others), others
    assert "There is no run" in unknown


@pytest.mark.parametrize(
    "path",
    [
        "/live/stream?run=../../etc/passwd",
        "/live/stream?run=..%2f..%2fetc",
        "/live/metrics.csv?run=%2e%2e",
        "/live/metrics.csv?run=a%00b",
    ],
)
def test_addresses_that_lead_elsewhere_are_refused(a_class, path):
    assert ask(a_class, path)[0].status == 400


@pytest.mark.parametrize(
    "path", ["/../app.py", "/..%2fapp.py", "/static/..%2f..%2fconfig.toml", "//etc/passwd"]
)
def test_no_file_beside_the_pages_is_served(a_class, path):
    answer, body = ask(a_class, path)
    assert answer.status in {400, 403, 404} or b"<!DOCTYPE html>" in body
    assert b"import gc" not in body


@pytest.mark.parametrize(
    "path", ["/", "/live/stream", "/live/metrics.csv?run=x", "/_stcore/health"]
)
def test_a_forged_host_or_origin_is_refused(a_class, path):
    assert ask(a_class, path, host="evil.example")[0].status == 400
    for origin in ("http://evil.example", "http://localhost:3000"):
        assert ask(a_class, path, Origin=origin)[0].status == 403, origin


def test_the_pin_gives_a_student_s_browser_control_also_after_a_reload(
    student_url, a_run, new_page, visit, ready, screenshot
):
    page = visit(new_page(url=student_url), "/live-run")
    page.get_by_test_id("stPopover").filter(has_text="Watching").get_by_role("button").click()
    page.get_by_label("Teacher's PIN").fill(PIN)
    page.get_by_label("Teacher's PIN").press("Enter")
    page.get_by_text("this browser gave the PIN").wait_for()
    screenshot(page, "class-control")
    page.keyboard.press("Escape")
    pause = page.get_by_role("button", name="Pause")
    wait_until(pause.is_enabled)
    pause.click()
    wait_until(lambda: RunReader(a_run).read_state().state == "paused")
    assert any(f'"page {STUDENT}"' in command for command in ops(a_run))
    page.get_by_role("button", name="Resume").click()
    wait_until(lambda: RunReader(a_run).read_state().state == "running")

    page.reload()
    ready(page)
    wait_until(page.get_by_role("button", name="Pause").is_enabled)
    (cookie,) = [each for each in page.context.cookies() if each["name"] == COOKIE]
    assert (cookie["httpOnly"], cookie["sameSite"], cookie["expires"]) == (True, "Lax", -1)

    name, signature = cookie["value"].rsplit(".", 1)
    other = new_page(url=student_url)
    forged = f"{name}.{signature[::-1]}"
    other.context.add_cookies([{"name": COOKIE, "value": forged, "url": student_url}])
    visit(other, "/live-run")
    assert other.get_by_text("You are watching.").first.is_visible()
    assert other.context.cookies()[0]["value"] != forged


def test_a_waiting_student_reloads_and_three_who_leave_take_their_wishes_with_them(
    a_run, own_runs_allowed, line_up, ready
):
    stays = line_up()
    assert place_of(stays) == 1
    leave = [line_up() for _ in range(3)]
    assert [place_of(each) for each in leave] == [2, 3, 4]
    stays.reload()
    ready(stays)
    assert place_of(stays) == 1
    for each in leave:
        each.close()
    last = line_up()
    wait_until(lambda: place_of(last) == 2)
    assert place_of(stays) == 1
    for each in (stays, last):
        each.get_by_role("button", name="Leave the line").click()
        each.get_by_role("button", name="Train my own").wait_for()


def test_a_training_student_reloads_and_keeps_the_run_until_the_class_needs_the_machine(
    idle, new_page, visit, ready, screenshot
):
    a_class, student_url = idle
    allow_own_runs(a_class)
    page = visit(new_page(url=student_url), "/live-run")
    page.get_by_role("button", name="Train my own").click()
    page.get_by_text("This run is your own").wait_for()
    (own,) = [run.name for run in list_runs(a_class.runs)]
    page.get_by_role("button", name="Pause").click()
    wait_until(lambda: RunReader(a_class.runs / own).read_state().state == "paused")
    page.reload()
    ready(page)
    wait_until(page.get_by_role("button", name="Resume").is_enabled)
    assert page.get_by_text("This run is your own").is_visible()

    in_a_thread(start_quick_run(a_class))
    page.get_by_text("Your run was stopped: the class goes first.").wait_for()
    assert RunReader(a_class.runs / own).read_state().state == "stopped"
    screenshot(page, "class-stopped")
    page.get_by_role("button", name="To the class's run").click()
    page.get_by_text("Your run was stopped").wait_for(state="hidden")
    assert "run=" not in page.url
    page.locator(".st-key-headline").get_by_text(re.compile(r"step [1-9]\d* of 2,?000")).wait_for()
