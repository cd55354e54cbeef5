"""The ladder: rungs in the published order, each explained by what changed from the one above."""

import pytest

from core.budget.comparison.ladder import NUMBER, ladder, step_down
from core.budget.comparison.published import published


def test_the_rungs_stand_in_the_published_order_and_only_the_first_has_no_figure_of_ours():
    rungs = ladder()
    assert [rung.published.slug for rung in rungs] == [
        slug for slug, row in published().items() if row.number == NUMBER
    ]
    assert [rung.slug for rung in rungs][:3] == ["baseline", "packed", "compiled"]
    assert [rung.ours is None for rung in rungs] == [True] + [False] * (len(rungs) - 1)


def test_every_rung_below_the_second_spares_memory_in_ours_as_in_the_published_figures():
    rungs = ladder()
    assert step_down(rungs, 0) is None
    assert step_down(rungs, 1) is None
    for place in range(2, len(rungs)):
        change = step_down(rungs, place)
        assert change.change < 0, rungs[place].slug
        assert rungs[place].published.value < rungs[place - 1].published.value
        assert sum(step.change for step in change.steps) == pytest.approx(change.change)


def test_each_technique_takes_away_what_its_name_says():
    def largest_step(slug):
        place = [rung.slug for rung in ladder()].index(slug)
        return min(step_down(ladder(), place).changed, key=lambda step: step.change).path

    assert largest_step("compiled") == ("activations",)
    assert largest_step("chunked-loss") == ("logits and loss",)
    assert largest_step("recomputed") == ("activations",)
    assert largest_step("step-in-backward") == ("gradients",)
    assert largest_step("offloaded") == ("activations",)
    assert largest_step("8-bit-states") == ("optimizer",)
    assert largest_step("qlora") == ("weights",)
