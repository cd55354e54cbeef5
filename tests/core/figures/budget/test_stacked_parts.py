"""Stacked parts: a look of its own for each, in one order, bytes as they are."""

from core.budget.budget import at_peak
from core.budget.recipe import TrainingRecipe
from core.budget.training.memory import training_budget
from core.figures.budget.stacked_parts import (
    LOOKS,
    capacity_line,
    part_bytes,
    part_names,
    parts_table,
    small_together,
    stack,
    write_beside,
)
from core.figures.picture import Drawing, Look
from tests.core.budget.test_share import cluster, model

RECIPE = TrainingRecipe(accumulation=2)
BUDGET = training_budget(model(), RECIPE, cluster(16, pipeline=2, zero_stage=3))
BARS = [(f"stage {n}", at_peak(stage)) for n, stage in enumerate(BUDGET.stages)]


def test_no_two_parts_look_alike_and_every_part_has_a_look():
    looks = list(LOOKS.values())

    assert len(set(looks)) == len(looks)
    names = part_names(BARS)
    assert names == [name for name in LOOKS if name in names]
    assert {"weights", "gradients", "optimizer"} <= set(names)


def test_bars_lie_or_stand():
    for flat in (True, False):
        drawing = Drawing()
        stack(drawing, BARS, Look(), flat=flat)
        capacity_line(drawing, 5.0, "full", Look(), flat=flat)
        for trace, name in zip(drawing.traces, part_names(BARS), strict=True):
            sizes = [part_bytes(parts, name) for _label, parts in BARS]
            assert trace["x" if flat else "y"] == sizes
        (line,) = drawing.shapes
        assert (line["x0"] if flat else line["y0"]) == 5.0


def test_the_name_of_a_line_near_zero_stands_to_its_right():
    """Written over its middle it would leave the picture."""
    for capacity, side in ((5.0, "left"), (50.0, "center")):
        drawing = Drawing()
        capacity_line(drawing, capacity, "full", Look(), flat=True, longest=100.0)
        (name,) = drawing.annotations
        assert (name["x"], name["xanchor"]) == (capacity, side)


def test_words_beside_a_bar_stand_at_its_end_and_the_line_of_the_capacity_does_not_cross_them():
    """Beyond the line they would be read as the line's own, a picture's width from their bar."""
    for look in (Look(), Look(mode="dark")):
        drawing = Drawing()
        for amount in (10, 78, 120):
            write_beside(drawing, amount, "stage", "words", look)
        assert [note["x"] for note in drawing.annotations] == [10, 78, 120]
        assert {note["bgcolor"] for note in drawing.annotations} == {look.color("background")}


def test_what_is_neither_state_nor_activation_is_one_part():
    parts = BARS[0][1]
    together = small_together(parts)
    assert "allocator reserve" in part_names([("", parts)])
    assert "allocator reserve" not in part_names([("", together)])
    assert sum(part.num_bytes for part in together) == sum(part.num_bytes for part in parts)


def test_the_table_adds_up():
    table = parts_table(BARS, Look(unit="GB"), "stage")

    assert table["stage"] == ["stage 0", "stage 1"]
    assert list(table)[-1] == "total"
