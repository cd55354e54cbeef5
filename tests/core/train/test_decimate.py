import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.train.decimate import TRACES, decimate
from core.train.records import NON_FINITE, RECORD_DTYPE


def rows_of(losses, seed=0):
    rows = np.zeros(len(losses), RECORD_DTYPE)
    rows["step"] = np.arange(1, len(losses) + 1)
    rows["loss"] = losses
    rows["grad_norm"] = np.random.default_rng(seed).random(len(losses))
    rows["flags"] = np.where(np.isfinite(losses), 0, NON_FINITE)
    return rows


any_loss = st.floats(width=32, allow_nan=True, allow_infinity=True)


@given(st.lists(any_loss, min_size=1, max_size=400), st.integers(12, 60))
def test_first_last_lowest_highest_and_every_flagged_record_stay(losses, max_points):
    rows = rows_of(np.array(losses))
    kept = decimate(rows, max_points)
    steps = set(kept["step"].tolist())
    assert {1, len(rows)} <= steps
    assert set(rows["step"][rows["flags"] != 0].tolist()) <= steps
    for trace in TRACES:
        finite = rows[trace][np.isfinite(rows[trace])]
        if len(finite):
            assert finite.min() in kept[trace], trace
            assert finite.max() in kept[trace], trace


@given(st.lists(any_loss, max_size=400), st.integers(12, 60))
def test_the_rest_is_few_in_order_and_unchanged(losses, max_points):
    rows = rows_of(np.array(losses))
    kept = decimate(rows, max_points)
    assert len(kept) <= max_points + int((rows["flags"] != 0).sum())
    assert (np.diff(kept["step"].astype(int)) > 0).all()
    assert kept.tobytes() == rows[kept["step"].astype(int) - 1].tobytes()


def test_a_spike_of_one_step_among_a_hundred_thousand_is_still_there():
    losses = np.full(100_000, 2.0)
    losses[77_777] = 9.0
    losses[33_333] = -1.0
    kept = decimate(rows_of(losses), 1500)
    assert len(kept) <= 1500
    assert {9.0, -1.0} <= set(kept["loss"].tolist())


def test_a_short_run_is_kept_whole():
    rows = rows_of(np.arange(1500.0))
    assert decimate(rows, 1500) is rows


def test_a_limit_too_small_for_the_traces_is_refused():
    with pytest.raises(ValueError, match="max_points is 11; 5 traces need 12"):
        decimate(rows_of(np.arange(99.0)), 11)
