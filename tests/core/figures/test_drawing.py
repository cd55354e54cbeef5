"""Pieces of a picture become one figure; nothing is drawn that was not asked for."""

from core.figures.drawing import Drawing


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


def test_two_drawings_share_nothing():
    Drawing().note(text="one")
    assert Drawing().annotations == []
