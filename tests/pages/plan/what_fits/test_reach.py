"""The edge by its data."""

from core.budget.fits.solve import Edge
from core.figures.picture import Look
from pages.plan.what_fits.reach import reach_picture

MANY = "Concurrent sequences"
EDGES = (
    Edge(num_devices=1, tokens=(128, 1024, 1500), sequences=(0, 0, 0)),
    Edge(num_devices=2, tokens=(128, 1024, 1500), sequences=(16, 2, 0)),
)


def test_only_what_fits_is_on_a_line():
    one, two, here = reach_picture(EDGES, (256, 4), MANY, Look()).figure.data

    assert (list(one.x), list(one.y)) == ([], [])
    assert (list(two.x), list(two.y)) == ([128, 1024], [16, 2])
    assert (list(here.x), list(here.y)) == ([256], [4])
    assert [one.name, two.name] == ["1 device", "2 devices"]
    assert one.line.dash != two.line.dash


def test_the_lengths_are_on_the_axis_in_short():
    look = Look(mode="dark", present=True)
    layout = reach_picture(EDGES, (256, 4), MANY, look).figure.layout
    axis = layout.xaxis

    assert layout.yaxis.title.text == MANY
    assert list(axis.ticktext) == ["128", "256", "1k", "1500"]


def test_words_and_table():
    picture = reach_picture(EDGES, (256, 4), MANY, Look())

    assert "1 device: nothing fits; 2 devices: 16 sequences of 128 tokens to 2 of" in picture.alt
    assert picture.alt.endswith("Chosen: 4 × 256 tokens.")
    assert picture.table["2 devices"] == [16, 2, 0]
    assert reach_picture((), (256, 4), MANY, Look()).table == {"Sequence length": []}
