"""Measuring for the button: what is probed and timed, and what is left alone."""

from dataclasses import replace

import pytest

from pages.start.home import train_now


@pytest.fixture
def calls(monkeypatch):
    made = []
    monkeypatch.setattr(train_now, "probe_machine", lambda: made.append("probe"))
    monkeypatch.setattr(train_now, "measure_timing", lambda *_: made.append("timing"))
    return made


def test_an_unknown_machine_is_probed_and_two_sizes_are_timed(calls):
    train_now.measure()

    assert calls == ["probe", "timing", "timing"]


def test_a_machine_that_was_timed_is_not_timed_again(calls, monkeypatch, made_timing):
    plan = replace(train_now.plan_run(train_now.WISH), timing=made_timing)
    monkeypatch.setattr(train_now, "plan_run", lambda _wish: plan)

    train_now.measure()

    assert calls == ["probe"]


def test_seconds_count_only_when_torch_has_been_asked_too(made_timing):
    plan = replace(train_now.plan_run(train_now.WISH), timing=made_timing)

    assert not train_now.is_measured(plan)
