"""How runs are called in lists."""

from datetime import timedelta, timezone
from pathlib import Path

import pytest

from core.train.run.shelf import RunSummary
from pages.train.live_run import shown_run as names

NAME = "20260102t203405z-one-minute-110k-00ff"


def run(**info):
    return RunSummary(
        name=NAME,
        directory=Path(NAME),
        title="one-minute-110k",
        created=1_767_386_045.0,  # 2026-01-02 20:34:05 UTC
        state="finished",
        step=1234,
        num_steps=2345,
        info=info,
    )


@pytest.fixture
def seen_by(monkeypatch):
    """Return seen_by(teacher, controls, in_class): who looks at the list, eight hours east."""

    def look(*, teacher=True, controls=False, in_class=True):
        monkeypatch.setattr(names, "is_teacher", lambda: teacher)
        monkeypatch.setattr(names, "may_control", lambda run: teacher or (controls and run == NAME))
        monkeypatch.setattr(names, "in_class", lambda: in_class)

    monkeypatch.setattr(names, "browser_zone", lambda: timezone(timedelta(hours=8)))
    return look


def test_a_run_is_called_what_it_is_and_when_it_was_made_by_the_readers_clock(seen_by):
    seen_by(in_class=False)
    label = names.run_label(run())
    assert label == "One minute, 110k · 2026-01-03 04:34:05 · finished · 1,234 / 2,345"


@pytest.mark.parametrize(
    ("viewer", "info", "whose"),
    [
        ({"teacher": False, "controls": True}, {"sandbox": True}, "your own"),
        ({"teacher": False}, {"sandbox": True}, "a student's"),
        ({}, {"sandbox": True}, "a student's"),
        ({}, {"sandbox": False}, "the class's"),
        ({"teacher": False}, {}, "the class's"),
        ({"in_class": False}, {}, ""),
    ],
)
def test_a_run_says_whose_it_is(seen_by, viewer, info, whose):
    seen_by(**viewer)
    assert names.whose(run(**info)) == whose
    assert whose in names.run_label(run(**info))
