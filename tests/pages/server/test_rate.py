"""How often one browser may do what costs something."""

import pytest

from pages.server import rate
from pages.server.rate import LIMITS, TooOftenError, Turns, take_turn


class Clock:
    now = 1000.0

    def __call__(self):
        return self.now


@pytest.fixture
def clock(monkeypatch):
    """A server with a clock of its own; the browser "ann" looks."""
    clock = Clock()
    taken = Turns(clock)
    monkeypatch.setattr(rate, "turns", lambda: taken)
    monkeypatch.setattr(rate, "browser", lambda: "ann")
    return clock


def test_the_sixth_start_in_a_minute_is_refused_and_says_when_the_next_is_free(clock):
    for _ in range(LIMITS["start"]):
        take_turn("start")
        clock.now += 4
    with pytest.raises(TooOftenError, match=r"At most 5 times in 1 min 00 s.*wait 40\.0 s"):
        take_turn("start")
    take_turn("command")
    clock.now += 40
    take_turn("start")


def test_another_browser_has_turns_of_its_own_but_another_session_has_not(clock, monkeypatch):
    for _ in range(LIMITS["start"]):
        take_turn("start")
    with pytest.raises(TooOftenError, match="from one browser"):
        take_turn("start")
    monkeypatch.setattr(rate, "browser", lambda: "ben")
    take_turn("start")


def test_refused_turns_do_not_lengthen_the_wait(clock):
    for _ in range(LIMITS["measure"]):
        take_turn("measure")
    for _ in range(100):
        with pytest.raises(TooOftenError, match="from one browser"):
            take_turn("measure")
    clock.now += 61
    take_turn("measure")


def test_nothing_is_kept_of_who_did_nothing_for_a_minute():
    clock = Clock()
    taken = Turns(clock)
    for number in range(200):
        taken.take(f"browser {number}", "edit")
    clock.now += 61
    taken.take("ann", "edit")
    assert set(taken._taken) == {("ann", "edit")}


def test_fresh_cookies_of_one_address_share_its_turns_and_a_teacher_s_are_not_counted(
    clock, monkeypatch
):
    def turn_of(number, address):
        monkeypatch.setattr(rate, "browser", lambda: f"cookie {number}")
        monkeypatch.setattr(rate, "counted_as", lambda: address)
        take_turn("measure")

    of_address = 10 * LIMITS["measure"]
    for number in range(of_address):
        turn_of(number, "192.0.2.1")
    with pytest.raises(TooOftenError, match=r"At most 50 times .* from one address"):
        turn_of("a fresh one", "192.0.2.1")
    turn_of("a fresh one", "192.0.2.2")
    turn_of("the teacher's", "")
