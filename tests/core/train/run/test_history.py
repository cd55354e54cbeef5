import tracemalloc

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.train.run import history
from core.train.run.history import TRACES, EventHistory, RecordHistory
from core.train.run.records import NON_FINITE, RECORD_DTYPE, superseded

MAX_STRETCHES = 4


def rows_of(losses, first_step=1):
    rows = np.zeros(len(losses), RECORD_DTYPE)
    rows["step"] = np.arange(first_step, first_step + len(losses))
    rows["loss"] = losses
    rows["grad_norm"] = np.sin(rows["step"].astype(float) * 0.7)
    rows["flags"] = np.where(np.isfinite(losses), 0, NON_FINITE)
    return rows


def history_of(rows, cuts, num_whole=20, max_stretches=MAX_STRETCHES):
    kept = RecordHistory(num_whole, max_records=100, max_stretches=max_stretches)
    for part in np.split(rows, sorted(cut for cut in cuts if cut < len(rows))):
        kept.append(part)
    return kept


any_loss = st.floats(width=32, allow_nan=True, allow_infinity=True)
any_run = st.lists(any_loss, min_size=1, max_size=600)
any_cuts = st.lists(st.integers(0, 599), max_size=30)


@given(any_run, any_cuts)
def test_first_last_lowest_highest_and_every_flagged_record_stay(losses, cuts):
    rows = rows_of(np.array(losses))
    trace = history_of(rows, cuts).trace()
    steps = set(trace["step"].tolist())
    assert {1, len(rows)} <= steps
    assert set(rows["step"][rows["flags"] != 0].tolist()) <= steps
    for name in TRACES:
        finite = rows[name][np.isfinite(rows[name])]
        if len(finite):
            assert {finite.min(), finite.max()} <= set(trace[name].tolist()), name


@given(any_run, any_cuts)
def test_what_stays_is_unchanged_and_in_order(losses, cuts):
    rows = rows_of(np.array(losses))
    trace = history_of(rows, cuts).trace()
    places = trace["step"].astype(int) - 1
    assert (np.diff(places) > 0).all()
    assert trace.tobytes() == rows[places].tobytes()


@pytest.mark.slow
@given(st.lists(st.floats(0, 9, width=16), min_size=101, max_size=600), any_cuts)
def test_every_stretch_of_a_long_run_keeps_its_extremes_however_it_arrived(losses, cuts):
    """Old parts of the run must not become coarser than new ones."""
    rows = rows_of(np.array(losses))
    width = 1
    while width * MAX_STRETCHES < len(rows):
        width *= 2
    trace = history_of(rows, cuts).trace()
    stretch_of_kept = (trace["step"].astype(int) - 1) // width
    for number, stretch in enumerate(np.split(rows, range(width, len(rows), width))):
        kept = trace["loss"][stretch_of_kept == number]
        assert {stretch["loss"].min(), stretch["loss"].max()} <= set(kept.tolist())


@pytest.mark.slow
@given(st.lists(st.floats(0, 9, width=16), min_size=33, max_size=600), any_cuts)
def test_curves_are_as_fine_in_the_old_part_of_a_run_as_in_the_new(losses, cuts):
    rows = rows_of(np.array(losses))
    num_stretches = 3  # 32 points: two for each of five traces in each, the first and the last
    curves = history_of(rows, cuts, max_stretches=16).curves(32)
    assert len(curves) <= 32
    base = 1
    while base * 16 < len(rows):
        base *= 2
    width = base * -(-len(rows) // (base * num_stretches))
    stretch_of_kept = (curves["step"].astype(int) - 1) // width
    stretches = np.split(rows, range(width, len(rows), width))
    assert len(stretches) <= num_stretches
    for number, stretch in enumerate(stretches):
        kept = curves["loss"][stretch_of_kept == number]
        assert {stretch["loss"].min(), stretch["loss"].max()} <= set(kept.tolist())


def test_the_curves_of_a_short_run_are_whole():
    rows = rows_of(np.arange(30.0))
    assert history_of(rows, [7]).curves(30).tobytes() == rows.tobytes()


@given(st.lists(st.integers(1, 90), min_size=2, max_size=8), any_cuts)
def test_a_late_reader_tells_the_same_steps_for_done_again(lengths, cuts):
    """Each attempt begins again a little before the end of the last one."""
    parts, first = [], 1
    for number, length in enumerate(lengths, start=1):
        parts.append(rows_of(np.sin(np.arange(length)), first))
        parts[-1]["attempt"] = number
        first = max(1, first + length - 5)
    rows = np.concatenate(parts)
    kept = history_of(rows, cuts, max_stretches=2)
    for shown in (kept.trace(), kept.curves(12)):
        redone = {(row["step"], row["attempt"]) for row in rows[superseded(rows)]}
        assert {(row["step"], row["attempt"]) for row in shown[superseded(shown)]} == redone & {
            (row["step"], row["attempt"]) for row in shown
        }


@given(any_run, any_cuts, st.integers(-5, 605))
def test_the_newest_are_whole_or_refused(losses, cuts, num_records):
    rows = rows_of(np.array(losses))
    kept = history_of(rows, cuts)
    part = kept.since(num_records)
    assert kept.num_records == len(rows)
    if part is not None:
        assert part.tobytes() == rows[num_records:].tobytes()
    if len(rows) - 20 <= num_records <= len(rows) and num_records >= 0:
        assert part is not None
    if not 0 <= num_records <= len(rows):
        assert part is None


@pytest.mark.slow
def test_memory_does_not_grow_with_the_run():
    def grow(kept, events, first, num_parts):
        for number in range(first, first + num_parts):
            losses = 2 + np.cos(np.arange(50) * number)
            kept.append(rows_of(losses, 1 + 50 * number))
            kinds = ("eval", "memory", "sample", "checkpoint")
            events.append([{"seq": number, "kind": kinds[number % 4]}])

    kept, events = RecordHistory(5000), EventHistory(5000)
    grow(kept, events, 0, 3000)  # 150,000 steps
    tracemalloc.start()
    before = tracemalloc.take_snapshot()
    grow(kept, events, 3000, 3000)
    after = tracemalloc.take_snapshot()
    tracemalloc.stop()
    grown = sum(each.size_diff for each in after.compare_to(before, "filename"))
    assert kept.num_records == 300_000
    assert len(kept.trace()) <= history.MAX_RECORDS + 5000
    # What came in was 12 MB; what is held, at most 1.8 MB, may all be new.
    assert grown < 3_000_000
    assert len(events.needed()) <= sum(history.MAX_OF_KIND.values()) + len(history.MAX_OF_KIND)


def events_of(num, kinds=("eval", "memory", "sample", "checkpoint", "ack")):
    return [{"seq": seq, "kind": kinds[seq % len(kinds)]} for seq in range(num)]


def kept_of(events, num_whole=50):
    kept = EventHistory(num_whole)
    kept.append(events)
    return kept


def test_a_late_reader_gets_what_matters_whole_and_the_rest_evenly_spread_from_the_first():
    needed = kept_of(events_of(15_000)).needed()
    seqs = [event["seq"] for event in needed]
    assert seqs == sorted(set(seqs))
    of_kind = {
        kind: [event["seq"] for event in needed if event["kind"] == kind]
        for kind in (*history.MAX_OF_KIND, "ack")
    }
    assert of_kind["ack"] == list(range(4, 15_000, 5))
    for kind, most in history.MAX_OF_KIND.items():
        evenly, last = of_kind[kind][:-1], of_kind[kind][-1]
        assert most / 2 <= len(evenly) <= most
        assert len(set(np.diff(evenly))) == 1
        assert (evenly[0], last) == (
            events_of(5).index({"seq": evenly[0], "kind": kind}),
            14_995 + evenly[0],
        )


def test_the_lowest_and_the_highest_evaluation_stay():
    events = [
        {"seq": seq, "kind": "eval", "validation_loss": 3 + np.cos(seq).item()}
        for seq in range(9000)
    ]
    events[4567]["validation_loss"], events[7001]["validation_loss"] = -1.0, 99.0
    events[7003]["validation_loss"] = None  # JSON has no NaN
    losses = [event["validation_loss"] for event in kept_of(events).needed()]
    assert {-1.0, 99.0} <= set(losses)


def test_few_events_are_all_kept():
    events = events_of(40)
    assert kept_of(events).needed() == tuple(events)


@pytest.mark.parametrize(
    ("num_events", "whole"), [(150, True), (200, True), (149, False), (201, False), (-1, False)]
)
def test_the_newest_events_are_whole_or_refused(num_events, whole):
    events = events_of(200)
    assert kept_of(events).since(num_events) == (tuple(events[num_events:]) if whole else None)
