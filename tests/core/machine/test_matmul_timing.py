"""A product timed in a child process; the wait for an accelerator, against a pretended one."""

import json

import pytest
import torch

from core.machine import matmul_timing
from core.machine.matmul_timing import CALLS, MatmulTiming, num_runs, time_matmul, trial


def line(kind, seconds):
    return json.dumps({"kind": kind, "seconds": seconds, "device": "cpu"})


def test_calls_are_told_as_they_come_and_the_median_counts(monkeypatch):
    lines = [line("first", 9.0), line("not waiting", 0.5)]
    lines += [line("waiting", seconds) for seconds in (2.0, 1.0, 4.0)]
    monkeypatch.setattr(matmul_timing, "lines_of", lambda *_args, **_options: iter(lines))
    told = []
    timing = time_matmul(1000, "float32", told.append)
    assert [call.kind for call in told] == ["first", "not waiting", *["waiting"] * 3]
    assert timing.seconds("waiting") == 2.0
    assert timing.spread("waiting") == (1.0, 4.0)
    assert timing.flops_per_second("waiting") == 1e9
    assert timing.flops_per_second("not waiting") == 4e9
    assert timing.device == "cpu"


@pytest.mark.slow
def test_a_real_child_times_every_kind_of_call():
    timing = time_matmul(64, "float32")
    assert {call.kind for call in timing.calls} == set(CALLS)
    assert sum(call.kind == "waiting" for call in timing.calls) == num_runs(64) == 9
    assert all(call.seconds > 0 for call in timing.calls)


def test_a_clock_that_does_not_wait_shows_only_how_long_an_accelerator_took_the_call(monkeypatch):
    # A pretended accelerator: its work ends a second after the call, and only a wait sees that.
    now = [0.0]

    class Clock:
        @staticmethod
        def perf_counter():
            return now[0]

    class Accelerator:
        type = "cpu:0"

    def take(self, _other):
        now[0] += 1e-5
        return self

    def wait():
        now[0] += 1.0

    monkeypatch.setattr("core.machine.matmul_timing.time", Clock)
    monkeypatch.setattr(torch.accelerator, "current_accelerator", lambda: Accelerator)
    monkeypatch.setattr(torch.accelerator, "is_available", lambda: True)
    monkeypatch.setattr(torch.accelerator, "synchronize", wait)
    monkeypatch.setattr(torch.Tensor, "__matmul__", take)
    calls = tuple(trial(1000, "float32", 3))
    timing = MatmulTiming(size=1000, dtype="float32", calls=calls)
    assert timing.flops_per_second("waiting") == pytest.approx(2e9, rel=1e-4)
    assert timing.flops_per_second("not waiting") == pytest.approx(2e14)


@pytest.mark.slow
def test_sizes_and_dtypes_that_are_not_timed_are_refused():
    with pytest.raises(ValueError, match="size is 8193; it must lie between 16 and 8,192"):
        time_matmul(8193, "float32")
    with pytest.raises(ValueError, match="dtype 'int8' is not timed; use one of: float32"):
        next(trial(16, "int8", 1))
    with pytest.raises(ValueError, match=r"matmul_timing failed: .*'int8' is not timed"):
        time_matmul(16, "int8")
