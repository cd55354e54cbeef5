"""Measuring for the button: what is probed and timed, and what is left alone."""

from dataclasses import replace

import pytest

from core.train.timing import Timing
from pages.shared import train_now


@pytest.fixture
def calls(monkeypatch):
    made = []
    monkeypatch.setattr(train_now, "probe_machine", lambda: made.append("probe"))
    monkeypatch.setattr(train_now, "measure_timing", lambda *_: made.append("timing"))
    return made


def timed(plan):
    timing = Timing(
        seconds_per_step=0.02,
        fastest_seconds=0.01,
        slowest_seconds=0.03,
        num_steps_timed=20,
        precision="fp32",
        device="cpu",
        device_name="A CPU",
        device_bytes=None,
        threads=1,
        flops=1e9,
        measured_at=0.0,
        tried={},
    )
    return replace(plan, timing=timing)


def test_an_unknown_machine_is_probed_and_then_timed(calls):
    train_now.measure()

    assert calls == ["probe", "timing"]


def test_a_machine_that_was_timed_is_not_timed_again(calls, monkeypatch):
    plan = timed(train_now.plan_run(train_now.WISH))
    monkeypatch.setattr(train_now, "plan_run", lambda _wish: plan)

    train_now.measure()

    assert calls == ["probe"]


def test_seconds_count_only_when_torch_has_been_asked_too():
    plan = timed(train_now.plan_run(train_now.WISH))

    assert not train_now.is_measured(plan)
