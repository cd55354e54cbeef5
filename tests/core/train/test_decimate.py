import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from core.train.decimate import TRACES, landmarks
from core.train.records import NON_FINITE, RECORD_DTYPE


def rows_of(losses, seed=0):
    rows = np.zeros(len(losses), RECORD_DTYPE)
    rows["step"] = np.arange(1, len(losses) + 1)
    rows["loss"] = losses
    rows["grad_norm"] = np.random.default_rng(seed).random(len(losses))
    rows["flags"] = np.where(np.isfinite(losses), 0, NON_FINITE)
    return rows


any_loss = st.floats(width=32, allow_nan=True, allow_infinity=True)


@st.composite
def cut_runs(draw):
    """Return a run and where its stretches start."""
    rows = rows_of(np.array(draw(st.lists(any_loss, min_size=1, max_size=400))))
    cuts = draw(st.sets(st.integers(1, len(rows)), max_size=40)) - {len(rows)}
    return rows, np.array(sorted({0} | cuts))


@given(cut_runs())
def test_first_last_lowest_highest_of_every_stretch_and_every_flagged_record_stay(run):
    rows, starts = run
    kept = rows[landmarks(rows, starts, TRACES)]
    steps = set(kept["step"].tolist())
    assert {1, len(rows)} <= steps
    assert set(rows["step"][rows["flags"] != 0].tolist()) <= steps
    for stretch in np.split(rows, starts[1:]):
        mine = kept[np.isin(kept["step"], stretch["step"])]
        for trace in TRACES:
            values = stretch[trace][~np.isnan(stretch[trace])]
            if len(values):
                assert {values.min(), values.max()} <= set(mine[trace].tolist()), trace


@given(cut_runs())
def test_the_rest_is_few_and_in_order(run):
    rows, starts = run
    kept = landmarks(rows, starts, TRACES)
    num_flagged = int((rows["flags"] != 0).sum())
    assert len(kept) <= 2 + 2 * len(TRACES) * len(starts) + num_flagged
    assert (np.diff(kept) > 0).all()


def test_of_equal_values_the_first_stays():
    rows = rows_of(np.array([2.0, 1.0, 3.0, 1.0, 3.0, 2.0]))
    assert landmarks(rows, np.array([0]), ("loss",)).tolist() == [0, 1, 2, 5]


def test_the_ends_of_an_attempt_stay():
    rows = rows_of(np.full(9, 2.0))
    rows["attempt"][4:] = 1
    assert {3, 4} <= set(landmarks(rows, np.array([0]), ("loss",)).tolist())
