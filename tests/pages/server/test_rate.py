"""How often one session may do what costs something."""

import pytest
import streamlit as st

from pages.server import rate
from pages.server.rate import LIMITS, TooOftenError, take_turn


@pytest.fixture
def clock(monkeypatch):
    """A session with a clock of its own; the clock is a list with one number."""
    now = [1000.0]
    monkeypatch.setattr(rate.time, "monotonic", lambda: now[0])
    monkeypatch.setattr(st, "session_state", {})
    return now


def test_the_sixth_start_in_a_minute_is_refused_and_says_when_the_next_is_free(clock):
    for _ in range(LIMITS["start"]):
        take_turn("start")
        clock[0] += 4
    with pytest.raises(TooOftenError, match=r"At most 5 times in 1 min 00 s.*wait 40\.0 s"):
        take_turn("start")
    take_turn("command")
    clock[0] += 40
    take_turn("start")


def test_another_session_has_turns_of_its_own(clock, monkeypatch):
    for _ in range(LIMITS["start"]):
        take_turn("start")
    monkeypatch.setattr(st, "session_state", {})
    take_turn("start")


def test_refused_turns_do_not_lengthen_the_wait(clock):
    for _ in range(LIMITS["measure"]):
        take_turn("measure")
    for _ in range(100):
        with pytest.raises(TooOftenError, match="from one browser"):
            take_turn("measure")
    clock[0] += 61
    take_turn("measure")
