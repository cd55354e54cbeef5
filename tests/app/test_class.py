"""A class through the frame: viewer, teacher, PIN, sandbox. No message makes a teacher."""

import os

import pytest
from streamlit import config

from core.train.config import TrainConfig
from core.train.run.directory import runs_directory
from core.train.start.sandbox import SandboxQueue
from pages.server import classroom as class_room
from pages.server import control_right, rate, run_slots, sandbox_line
from pages.server.classroom import (
    Classroom,
    announce,
    class_address,
    classroom,
)
from pages.server.control_right import ControlRefusedError, Peer
from pages.server.run_slots import Line
from pages.server.teacher_pin import TeacherPin, WrongPinError
from pages.train.live_run import runs as runs_room
from pages.train.live_run import start as start_room
from pages.train.live_run.runs import send_command
from tests.app.shown import browser_part

PAGE = "train/live_run"
PIN = "246810"
ADDRESS = "127.0.0.2"


@pytest.fixture
def a_class(monkeypatch):
    """A server that listens on 127.0.0.2 for a class whose PIN we know."""
    before = config.get_option("server.address")
    config.set_option("server.address", ADDRESS)
    monkeypatch.setenv("B2G_TEACHER_PIN", PIN)
    classroom.clear()
    sandbox_line.sandbox_queue.clear()
    yield classroom()
    config.set_option("server.address", before)
    classroom.clear()
    sandbox_line.sandbox_queue.clear()


@pytest.fixture
def comes_from(monkeypatch):
    """Return comes_from(address): the address that every browser has from now on."""

    def come(address, *, proxied=False):
        monkeypatch.setattr(control_right, "peer", lambda: Peer(address=address, proxied=proxied))

    return come


@pytest.fixture
def as_browser(monkeypatch):
    """Return as_browser(name): the browser in which every page opens from now on."""

    def become(name):
        for room in (control_right, rate, sandbox_line):
            monkeypatch.setattr(room, "browser", lambda: name)

    become("ann")
    return become


@pytest.fixture
def viewer(a_class, comes_from, open_page):
    """The live page as a student's laptop shows it."""
    comes_from("127.0.0.3")
    return open_page(PAGE)


@pytest.fixture
def nothing_starts(monkeypatch):
    monkeypatch.setattr(start_room, "start_run", lambda _prepared: pytest.fail("started"))


def texts(app):
    elements = (*app.caption, *app.markdown, *app.error, *app.main)
    return " ".join(str(getattr(each, "value", "")) for each in elements)


def give(app, pin):
    app.text_input(key="frame_pin").set_value(pin)
    return button(app, "Take control").click().run()


def button(app, label):
    return next(each for each in app.button if each.label == label)


def test_the_terminal_tells_address_code_and_pin_and_the_pin_leaves_the_environment(
    a_class, capsys, monkeypatch
):
    announce()
    told = capsys.readouterr().out
    assert f"Class: {class_address()}" in told
    assert f"Teacher's PIN: {PIN}" in told
    assert "█▀" in told
    assert "B2G_TEACHER_PIN" not in os.environ


def test_a_viewer_reads_who_controls_and_finds_every_control_greyed(viewer):
    assert not viewer.exception
    assert button(viewer, "Train").disabled
    assert f"The browser on the teacher's computer ({ADDRESS}:" in texts(viewer)
    assert browser_part(viewer, "live_chart")["controls"] == "disabled"


def test_the_teacher_s_own_computer_needs_no_pin(a_class, comes_from, open_page):
    comes_from("127.0.0.1")
    app = open_page(PAGE)
    assert not button(app, "Train").disabled
    assert browser_part(app, "live_chart")["controls"] == "enabled"
    assert "this browser is on the server's own computer" in texts(app)


def test_a_start_that_the_button_did_not_allow_is_refused(
    a_class, comes_from, open_page, nothing_starts
):
    comes_from("127.0.0.1")
    app = open_page(PAGE)
    start = button(app, "Train").click()
    comes_from("127.0.0.3")  # a hand-made message does not care whether the button is greyed
    app = start.run()
    assert "You are watching" in texts(app)


def test_a_hand_made_command_is_refused_before_the_run_is_even_looked_for(a_class, comes_from):
    comes_from("127.0.0.3")
    with pytest.raises(ControlRefusedError, match="You are watching"):
        send_command("20260102t030405z-one-minute-00ff", "stop", None)


def test_behind_a_proxy_nobody_controls_also_without_a_class(comes_from, open_page, capsys):
    comes_from("127.0.0.1", proxied=True)
    app = open_page(PAGE)
    assert button(app, "Train").disabled
    assert "Teacher's PIN: " in capsys.readouterr().out
    classroom.clear()


def test_the_pin_lets_through_and_can_be_given_back(viewer):
    app = give(viewer, PIN)
    assert not app.exception
    assert not button(app, "Train").disabled
    assert "this browser gave the PIN" in texts(app)
    app = button(app, "Give control back").click().run()
    assert button(app, "Train").disabled


def test_the_pin_is_neither_kept_nor_shown(viewer):
    app = give(viewer, PIN)
    assert app.text_input == [] or PIN not in str([each.value for each in app.text_input])
    assert PIN not in texts(app)


def test_five_wrong_pins_pause_every_browser_of_that_address_and_no_other(
    viewer, as_browser, comes_from, open_page
):
    app = viewer
    for left in (4, 3, 2, 1):
        app = give(app, "000000")
        assert f"Tries left: {left}." in texts(app)
    app = give(app, "000000")
    assert "Too many wrong PINs" in texts(app)
    as_browser("ben")
    other = give(open_page(PAGE), PIN)
    assert "Too many wrong PINs" in texts(other), "a new cookie is no new address"
    assert button(other, "Train").disabled
    comes_from("127.0.0.4")
    assert not button(give(open_page(PAGE), PIN), "Train").disabled


def test_a_browser_that_gave_the_pin_is_not_paused_by_others_of_its_address(
    viewer, as_browser, open_page
):
    app = button(give(viewer, PIN), "Give control back").click().run()
    as_browser("ben")
    other = open_page(PAGE)
    for _ in range(5):
        other = give(other, "000000")
    assert "Too many wrong PINs" in texts(other)
    as_browser("ann")
    assert not button(give(app, PIN), "Train").disabled


def test_the_right_is_kept_by_a_reload_and_is_no_other_browser_s(viewer, as_browser, open_page):
    give(viewer, PIN)
    assert not button(open_page(PAGE), "Train").disabled
    as_browser("ben")
    assert button(open_page(PAGE), "Train").disabled


def test_a_role_in_the_session_is_none(viewer):
    for forged in (True, "teacher", {"role": "teacher"}):
        viewer.session_state["frame_teacher_role"] = forged
        viewer.run()
        assert button(viewer, "Train").disabled, forged


def test_teachers_who_have_gone_are_not_counted(monkeypatch):
    here = {"ann", "ben"}
    monkeypatch.setattr(class_room, "is_here", here.__contains__)
    room = Classroom(TeacherPin(PIN))
    for browser in ("ann", "ben"):
        room.admit(PIN, browser=browser, address="127.0.0.3")
    here.discard("ben")
    assert (room.num_admitted, room.is_teacher("ben")) == (1, True)
    room.dismiss("ann")
    assert (room.num_admitted, room.is_teacher("ann")) == (0, False)
    with pytest.raises(WrongPinError, match="Tries left"):
        room.admit("", browser="cid", address="127.0.0.4")


def test_a_browser_s_own_mistakes_still_pause_it():
    room = Classroom(TeacherPin(PIN))
    room.admit(PIN, browser="ann", address="127.0.0.3")
    for left in (4, 3, 2, 1):
        with pytest.raises(WrongPinError, match=f"Tries left: {left}"):
            room.admit("000000", browser="ann", address="127.0.0.3")
    with pytest.raises(WrongPinError, match="Too many wrong PINs"):
        room.admit("000000", browser="ann", address="127.0.0.3")
    room.admit(PIN, browser="ben", address="127.0.0.3")


def test_without_the_teacher_s_leave_there_is_no_sandbox(viewer):
    assert all(each.label != "Train my own" for each in viewer.button)


def test_a_hand_made_wish_for_a_sandbox_run_is_refused(a_class, comes_from):
    comes_from("127.0.0.3")
    with pytest.raises(ControlRefusedError, match="You are watching"):
        sandbox_line.line_up(TrainConfig())


@pytest.fixture
def line(viewer, as_browser):
    """The server's line; nobody's turn comes until `started` is called."""
    classroom().sandbox_allowed = True
    queue = SandboxQueue()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(SandboxQueue, "_work", lambda _line: None)
        patch.setattr(sandbox_line, "sandbox_queue", lambda: queue)
        yield queue


def started(queue, monkeypatch, run):
    """Let the line come to its first wish: the run of that name trains."""
    (held,) = queue._waiting
    held.run = run
    control_right.run_owners()[run] = held.owner
    queue._waiting.clear()
    monkeypatch.setattr(queue, "_running", runs_directory() / run)
    return held


def test_a_student_sees_the_place_in_the_line_and_may_leave_it(viewer, line):
    app = button(viewer.run(), "Train my own").click().run()
    app.run()
    assert "Your run waits: number 1 in the line." in texts(app)
    app = button(app, "Leave the line").click().run()
    assert any(each.label == "Train my own" for each in app.button)


def test_who_waits_can_leave_also_when_the_teacher_allows_no_more_or_gives_the_pin(viewer, line):
    app = button(viewer.run(), "Train my own").click().run()
    classroom().sandbox_allowed = False
    assert button(app.run(), "Leave the line")
    app = give(app, PIN)
    app = button(app, "Leave the line").click().run()
    assert not [each for each in app.button if each.label in {"Leave the line", "Train my own"}]


def test_a_reload_stays_with_the_run_that_the_student_looks_at(
    viewer, line, open_page, a_run, monkeypatch
):
    button(viewer.run(), "Train my own").click().run()
    started(line, monkeypatch, "20260102t030405z-own-0001")
    assert open_page(PAGE, run=a_run.name).query_params["run"] == a_run.name
    monkeypatch.setattr(line, "_running", None)  # it ended long ago
    assert "run" not in open_page(PAGE).query_params


def test_a_teacher_who_stops_a_student_s_run_has_it_told_and_a_student_who_does_not(
    viewer, line, as_browser, comes_from, a_run, monkeypatch
):
    button(viewer.run(), "Train my own").click().run()
    held = started(line, monkeypatch, a_run.name)
    monkeypatch.setattr(runs_room, "send", lambda *_, **__: 1)
    assert send_command(a_run.name, "stop", None) == 1
    assert not held.stopped
    as_browser("the teacher's")
    comes_from("127.0.0.1")
    send_command(a_run.name, "stop", None)
    assert held.stopped


def test_the_toggle_of_the_sandbox_is_the_server_s(a_class, comes_from, open_page):
    comes_from("127.0.0.1")
    app = open_page(PAGE)
    app.toggle(key="frame_sandbox").set_value(True).run()
    assert classroom().sandbox_allowed
    assert open_page(PAGE).toggle(key="frame_sandbox").value is True


def test_a_page_asks_for_its_slot_when_its_frame_has_given_its_own_back(open_page, monkeypatch):
    # Two that open a page at once would hold a slot each and wait for the other's.
    monkeypatch.setattr(run_slots, "run_slot", Line(1, patience=60).slot)
    assert not open_page(PAGE).exception


def test_the_teacher_of_a_class_does_not_stand_in_the_line_of_pages(
    a_class, comes_from, open_page, monkeypatch
):
    no_slots = Line(0, patience=3600)
    monkeypatch.setattr(run_slots, "run_slot", no_slots.slot)
    comes_from("127.0.0.1")
    assert not open_page(PAGE).exception
