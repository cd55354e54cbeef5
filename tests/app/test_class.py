"""A class through the frame: viewer, teacher, PIN, sandbox. No message makes a teacher."""

import os

import pytest
from streamlit import config

from core.train.config import TrainConfig
from core.train.control.device import DeviceBusyError
from core.train.start.sandbox import SandboxQueue
from pages.server import control_right, sandbox_line
from pages.server.classroom import (
    Classroom,
    TeacherRole,
    announce,
    class_address,
    classroom,
    in_class,
)
from pages.server.control_right import ControlRefusedError, Peer
from pages.server.teacher_pin import TeacherPin, WrongPinError
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
        monkeypatch.setattr(sandbox_line, "peer", control_right.peer)

    return come


@pytest.fixture
def viewer(a_class, comes_from, open_page):
    """The live page as a student's laptop shows it."""
    comes_from("127.0.0.3")
    return open_page(PAGE)


@pytest.fixture
def nothing_starts(monkeypatch):
    monkeypatch.setattr(start_room, "_start", lambda _wish: pytest.fail("started"))


def texts(app):
    elements = (*app.caption, *app.markdown, *app.error, *app.main)
    return " ".join(str(getattr(each, "value", "")) for each in elements)


def give(app, pin):
    app.text_input(key="frame_pin").set_value(pin)
    return button(app, "Take control").click().run()


def button(app, label):
    return next(each for each in app.button if each.label == label)


def test_a_class_is_a_server_that_answers_others(a_class):
    assert in_class()
    assert class_address() == f"http://{ADDRESS}:{config.get_option('server.port')}"


def test_the_terminal_tells_address_code_and_pin_and_the_pin_leaves_the_environment(
    a_class, capsys, monkeypatch
):
    announce()
    told = capsys.readouterr().out
    assert f"Class: {class_address()}" in told
    assert f"Teacher's PIN: {PIN}" in told
    assert "█▀" in told
    assert "B2G_TEACHER_PIN" not in os.environ


def test_a_server_for_this_computer_tells_nothing(capsys):
    announce()
    assert capsys.readouterr().out == ""


def test_a_viewer_reads_who_controls_and_finds_every_control_greyed(viewer):
    assert not viewer.exception
    assert button(viewer, "Start").disabled
    assert f"The browser on the teacher's computer ({ADDRESS}:" in texts(viewer)
    assert browser_part(viewer, "live_chart")["controls"] == "disabled"


def test_the_teacher_s_own_computer_needs_no_pin(a_class, comes_from, open_page):
    comes_from("127.0.0.1")
    app = open_page(PAGE)
    assert not button(app, "Start").disabled
    assert browser_part(app, "live_chart")["controls"] == "enabled"
    assert "this browser is on the server's own computer" in texts(app)


def test_a_start_that_the_button_did_not_allow_is_refused(
    a_class, comes_from, open_page, nothing_starts
):
    comes_from("127.0.0.1")
    app = open_page(PAGE)
    start = button(app, "Start").click()
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
    assert button(app, "Start").disabled
    assert "Teacher's PIN: " in capsys.readouterr().out
    classroom.clear()


def test_the_pin_lets_through_and_can_be_given_back(viewer):
    app = give(viewer, PIN)
    assert not app.exception
    assert not button(app, "Start").disabled
    assert "this browser gave the PIN" in texts(app)
    app = button(app, "Give control back").click().run()
    assert button(app, "Start").disabled


def test_the_pin_is_neither_kept_nor_shown(viewer):
    app = give(viewer, PIN)
    assert app.text_input == [] or PIN not in str([each.value for each in app.text_input])
    assert PIN not in texts(app)


def test_five_wrong_pins_pause_everybody(viewer, open_page):
    app = viewer
    for left in (4, 3, 2, 1):
        app = give(app, "000000")
        assert f"Tries left: {left}." in texts(app)
    app = give(app, "000000")
    assert "Too many wrong PINs" in texts(app)
    other = give(open_page(PAGE), PIN)
    assert "Too many wrong PINs" in texts(other), "the counter is the server's, not the session's"
    assert button(other, "Start").disabled


def test_a_role_that_this_server_did_not_give_is_none(viewer):
    for forged in (True, "teacher", {"role": "teacher"}, TeacherRole()):
        viewer.session_state["frame_teacher_role"] = forged
        viewer.run()
        assert button(viewer, "Start").disabled, forged


def test_a_role_ends_with_its_session():
    room = Classroom(TeacherPin(PIN))
    role = room.admit(PIN)
    assert (room.num_admitted, room.is_teacher(role)) == (1, True)
    del role
    assert room.num_admitted == 0
    with pytest.raises(WrongPinError, match="Tries left"):
        room.admit("")


def test_without_the_teacher_s_leave_there_is_no_sandbox(viewer):
    assert all(each.label != "Train my own" for each in viewer.button)


def test_a_hand_made_wish_for_a_sandbox_run_is_refused(a_class, comes_from):
    comes_from("127.0.0.3")
    with pytest.raises(ControlRefusedError, match="You are watching"):
        sandbox_line.line_up(TrainConfig())


def test_a_student_sees_the_place_in_the_line_and_may_leave_it(viewer, monkeypatch):
    def start(_config):
        raise DeviceBusyError("the class trains")

    queue = SandboxQueue(start)
    with monkeypatch.context() as patch:
        patch.setattr(sandbox_line, "sandbox_queue", lambda: queue)
        wait_and_leave(viewer)


def wait_and_leave(viewer):
    classroom().sandbox_allowed = True
    app = button(viewer.run(), "Train my own").click().run()
    app.run()
    assert "Your run waits: number 1 in the line." in texts(app)

    app = button(app, "Leave the line").click().run()
    assert any(each.label == "Train my own" for each in app.button)


def test_the_toggle_of_the_sandbox_is_the_server_s(a_class, comes_from, open_page):
    comes_from("127.0.0.1")
    app = open_page(PAGE)
    app.toggle(key="frame_sandbox").set_value(True).run()
    assert classroom().sandbox_allowed
    assert open_page(PAGE).toggle(key="frame_sandbox").value is True


def test_the_invitation_shows_the_address_and_a_code(viewer):
    html = " ".join(each.proto.body for each in viewer.get("html"))
    assert class_address() in html
    assert 'src="data:image/svg+xml' in html
    assert f'alt="QR code of {class_address()}"' in html
