"""How a reader wants to see: one record for every picture."""

from core import units
from core.figures.picture import Look
from core.figures.theme import COLORS, plotly_layout


def test_a_look_knows_the_colours_and_the_layout_of_its_mode():
    dark = Look(mode="dark", present=True)
    assert dark.color("weights") == COLORS["dark"]["weights"] != COLORS["light"]["weights"]
    assert dark.layout() == plotly_layout("dark", present=True) != Look().layout()


def test_bytes_are_written_and_drawn_in_the_readers_unit():
    for unit, size in {"GiB": 2**30, "GB": 10**9}.items():
        look = Look(unit=unit)
        assert look.in_unit(3.5 * size) == 3.5
        assert look.format_bytes(3.5 * size) == units.format_bytes(3.5 * size, unit)
        assert unit in look.format_bytes(3.5 * size)
