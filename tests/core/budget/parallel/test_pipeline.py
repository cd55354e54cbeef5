"""The 1F1B schedule against its closed forms: the bubble, and the micro-batches held at once."""

import itertools

import pytest

from core.budget.parallel.pipeline import bubble, bubble_seconds, most_held, schedule, waiting_share
from core.budget.share import shares
from tests.core.budget.refusals import refused
from tests.core.budget.test_share import cluster, model

SIZES = [(stages, batches) for stages in (1, 2, 3, 4, 7, 8) for batches in (1, 2, 3, 5, 8, 16)]


def test_the_schedule_takes_as_long_as_the_bubble_formula_says():
    for stages, batches in SIZES:
        for backward in (1.0, 2.0, 3.0):
            end = max(slots[-1].end for slots in schedule(stages, batches, backward))
            busy = batches * (1 + backward)
            spread = cluster(stages, pipeline=stages)
            case = (stages, batches, backward)
            assert end == pytest.approx(busy * (1 + bubble(spread, batches))), case
            assert waiting_share(stages, batches) == pytest.approx(1 - busy / end), case
            assert bubble_seconds(spread, batches, busy).amount == pytest.approx(end - busy), case


def test_a_stage_holds_as_many_micro_batches_as_its_share_says():
    for stages, batches in SIZES:
        held = [most_held(slots) for slots in schedule(stages, batches)]
        parts = shares(model(), cluster(stages, pipeline=stages), batches)
        assert held == [part.in_flight for part in parts], (stages, batches)


def test_every_pass_is_there_once_and_waits_for_its_neighbours():
    slots = schedule(4, 6)
    ends = {(s.stage, s.microbatch, s.direction): s.end for row in slots for s in row}

    assert len(ends) == sum(map(len, slots)) == 2 * 4 * 6
    for row in slots:
        assert all(one.end <= two.start for one, two in itertools.pairwise(row))
        for slot in row:
            back = slot.direction == "backward"
            before = ends.get((slot.stage + (1 if back else -1), slot.microbatch, slot.direction))
            assert before is None or before <= slot.start, slot


def test_figure_4_of_the_paper_has_three_eighths_of_a_bubble():
    """Narayanan et al. 2021: 4 stages and 8 micro-batches wait (4 - 1) / 8 of the ideal time."""
    found = bubble_seconds(cluster(4, pipeline=4), 8, 24.0)
    assert bubble(cluster(4, pipeline=4), 8) == 3 / 8
    assert (found.amount, found.substituted) == (9, "24 * (4 - 1) / 8")


def test_no_micro_batches_and_too_many_passes_are_sentences():
    refused("num_microbatches is 0; it must lie between 1 and", bubble, cluster(2, pipeline=2), 0)
    refused("num_stages \\* num_microbatches is 40000", schedule, 200, 200)
