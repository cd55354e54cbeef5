"""The 1F1B schedule against its closed forms: the bubble, and the micro-batches held at once."""

import pytest

from core.budget.parallel.pipeline import (
    bubble,
    bubble_seconds,
    most_held,
    part_to_draw,
    schedule,
    waiting_share,
)
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


INTERLEAVED = [
    (stages, batches * stages, virtual)
    for stages in (2, 3, 4, 8)
    for batches in (1, 2, 4)
    for virtual in (2, 3, 5)
]


def test_an_interleaved_schedule_waits_a_virtual_stage_s_share_as_long():
    """Narayanan et al. 2021, section 2.2.2: (p - 1) (t_f + t_b) / v, by laying every pass out."""
    for stages, batches, virtual in INTERLEAVED:
        for backward in (1.0, 2.0):
            case = (stages, batches, virtual, backward)
            slots = schedule(stages, batches, backward, num_virtual=virtual)
            end, busy = max(row[-1].end for row in slots), batches * (1 + backward)
            spread = cluster(stages, pipeline=stages, virtual_stages=virtual)
            assert end == pytest.approx(busy * (1 + (stages - 1) / (virtual * batches))), case
            assert bubble(spread, batches) == (stages - 1) / (virtual * batches), case
            assert waiting_share(stages, batches, virtual) == pytest.approx(1 - busy / end), case


def test_figure_4_interleaved_has_half_the_bubble_and_says_so():
    found = bubble_seconds(cluster(4, pipeline=4, virtual_stages=2), 8, 24.0)
    assert (found.amount, found.substituted) == (4.5, "24 * (4 - 1) / (2 * 8)")


def test_an_interleaved_stage_holds_as_many_passes_as_its_share_says():
    for stages, batches, virtual in INTERLEAVED:
        slots = schedule(stages, batches, num_virtual=virtual)
        held = [most_held(row) for row in slots]
        spread = cluster(stages, pipeline=stages, virtual_stages=virtual)
        layers = model(num_layers=stages * virtual * 2)
        parts = shares(layers, spread, batches)
        assert held == [part.in_flight for part in parts], (stages, batches, virtual)


def test_in_flight_counts_are_those_of_megatron():
    """Korthikanti et al. 2022, section 4.2.3: the first stage holds L (1 + (p - 1)/(p v)) layers.

    The counts of the other ranks: Megatron-LM, schedules.py, get_pp_rank_microbatches.
    """
    for stages, virtual, counts, factor in (
        (4, 1, (4, 3, 2, 1), 1.0),
        (4, 2, (5.5, 4.5, 3.5, 2.5), 1.375),
        (8, 3, (31 / 3, 29 / 3, 9, 25 / 3), 1.291667),
        (8, 4, (9.75, 9.25, 8.75, 8.25), 1.21875),
        (16, 8, (17.875, 17.625), 1.1171875),
        (35, 3, (139 / 3, 137 / 3), 1.32381),
    ):
        spread = cluster(stages, pipeline=stages, virtual_stages=virtual)
        layers = model(num_layers=stages * virtual)
        parts = shares(layers, spread)
        held = [part.in_flight / virtual for part in parts]
        case = (stages, virtual)
        assert held[: len(counts)] == pytest.approx(counts), case
        assert held[0] / stages == pytest.approx(factor, rel=1e-5), case


def test_every_interleaved_pass_is_there_once_and_waits_for_the_run_before():
    stages, batches, virtual = 4, 8, 2
    slots = schedule(stages, batches, num_virtual=virtual)
    ends = {(s.run * stages + s.stage, s.microbatch, s.direction): s for row in slots for s in row}
    assert len(ends) == sum(map(len, slots)) == 2 * stages * batches * virtual
    for (place, batch, direction), slot in ends.items():
        before = ends.get((place + (1 if direction == "backward" else -1), batch, direction))
        assert before is None or before.end <= slot.start + 1e-9, slot


def test_what_is_drawn_of_an_interleaved_schedule_comes_in_whole_groups():
    spread = cluster(12, pipeline=12, virtual_stages=2)
    assert part_to_draw(spread, 48, 16, 32) == (12, 24)
    assert part_to_draw(spread, 12, 16, 8) == (12, 12)
    assert part_to_draw(cluster(12, pipeline=12), 48, 16, 32) == (12, 32)


def test_groups_that_are_not_whole_are_a_sentence():
    sentence = "6 micro-batches cannot be interleaved over 4 pipeline stages; take a multiple of 4"
    refused(sentence, schedule, 4, 6, num_virtual=2)
    refused(sentence, shares, model(), cluster(4, pipeline=4, virtual_stages=2), 6)


def test_no_micro_batches_and_too_many_passes_are_sentences():
    refused("num_microbatches is 0; it must lie between 1 and", bubble, cluster(2, pipeline=2), 0)
    refused("num_stages \\* num_microbatches is 40000", schedule, 200, 200)
