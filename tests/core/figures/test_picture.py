"""One record of how a reader wants to see; pieces become one figure, and nothing else is drawn."""

from core import units
from core.figures.picture import Drawing, Look
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


def test_all_pieces_are_in_the_figure_in_their_order():
    drawing = Drawing()
    drawing.scatter(x=[1], y=[2], name="a")
    drawing.note(x=0, y=0, text="words")
    drawing.note(x=1, y=1, text="arrow", showarrow=True)
    drawing.shape(type="line", x0=0, x1=1, y0=0, y1=1)
    figure = drawing.figure({"height": 100})
    assert [trace.name for trace in figure.data] == ["a"]
    assert [note.showarrow for note in figure.layout.annotations] == [False, True]
    assert figure.layout.shapes[0].type == "line"
    assert figure.layout.height == 100
