from core.figures.budget.flops_frame import framed, rows_of_bars
from core.figures.picture import Drawing, Look


def test_axes_keep_the_theme_and_add_their_own():
    drawing = Drawing()
    drawing.bar(x=[1, 2], y=["a", "b"], orientation="h")
    figure = framed(
        drawing, Look(mode="dark", present=True), x={"title": "FLOPs", "type": "log"}, y={}
    )
    assert figure.layout.xaxis.title.text == "FLOPs"
    assert figure.layout.xaxis.type == "log"
    assert figure.layout.font.size == 22


def test_more_rows_are_higher_and_the_first_row_is_at_the_top():
    few, many = (rows_of_bars(Drawing(), Look(), num_rows=count, x={}) for count in (2, 9))
    assert many.layout.height > few.layout.height
    assert few.layout.yaxis.autorange == "reversed"
