"""The marks of a step by their data."""

from core.budget.simulation.timeline import Point
from core.figures.budget.training_memory.step_marks import draw_phases, op_name
from core.figures.drawing import Drawing
from core.figures.theme import COLORS


def _point(place: int, phase: str) -> Point:
    return Point(place, phase, "aten.mm", "", 0, 0, 0)


def test_a_rerun_is_a_part_of_the_backward_pass_and_a_narrow_phase_has_no_name():
    places = (0, 90, 100, 110, 200, 201)
    phases = ("forward", "forward", "backward", "recompute", "backward", "optimizer step")
    drawing = Drawing()
    points = [_point(*each) for each in zip(places, phases, strict=True)]
    draw_phases(drawing, points, COLORS["light"])
    assert [(note["text"], note["x"]) for note in drawing.annotations] == [
        ("forward", 45),
        ("backward", 150),
    ]
    assert [line["x0"] for line in drawing.shapes] == [0, 100, 201]


def test_an_operation_is_named_without_its_name_space():
    assert op_name("aten._foreach_sqrt") == "foreach_sqrt"
