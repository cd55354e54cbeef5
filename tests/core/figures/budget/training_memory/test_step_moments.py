"""The moments of a step by their data."""

from core.budget.comparison.one_device import on_one_device
from core.budget.training.scenario import named_scenario
from core.figures.budget.training_memory.step_moments import (
    moments_alt,
    moments_figure,
    moments_table,
)
from core.figures.theme import MODES
from core.units import format_bytes

FOUND = on_one_device(named_scenario("llama-2-7b", "h100-sxm"))


def test_every_moment_is_a_bar_and_the_longest_is_the_peak():
    for mode, present in zip(MODES, (False, True), strict=True):
        figure = moments_figure(FOUND.moments, FOUND.capacity, "GiB", mode, present=present)
        sums = [sum(values) for values in zip(*(trace.x for trace in figure.data), strict=True)]
        assert max(sums) == FOUND.peak.amount
        texts = [note.text.strip() for note in figure.layout.annotations]
        assert format_bytes(FOUND.peak.amount) in texts
        assert any(text.startswith("capacity") for text in texts)


def test_the_legend_stands_above_the_name_of_the_capacity():
    for present in (False, True):
        layout = moments_figure(
            FOUND.moments, FOUND.capacity, "GiB", "light", present=present
        ).layout
        drawn = layout.height - layout.margin.t - layout.margin.b
        assert (layout.legend.y - 1) * drawn >= 1.5 * layout.font.size
        assert layout.legend.traceorder == "normal"


def test_a_capacity_far_away_is_left_out():
    figure = moments_figure(FOUND.moments, 1e15, "GiB", "light")
    assert not any("capacity" in note.text for note in figure.layout.annotations)


def test_the_sentence_and_the_table_say_the_same():
    peak = format_bytes(FOUND.peak.amount)
    assert f"optimizer step {peak}" in moments_alt(FOUND.moments, "GiB")
    assert peak in moments_table(FOUND.moments, "GiB")["total"]
