"""The edge by its data."""

from core.budget.fits.solve import Edge
from core.figures.budget.what_fits.frontier import frontier_alt, frontier_figure, frontier_table

EDGES = (
    Edge(num_devices=1, tokens=(128, 1024, 1500), sequences=(0, 0, 0)),
    Edge(num_devices=2, tokens=(128, 1024, 1500), sequences=(16, 2, 0)),
)


def test_only_what_fits_is_on_a_line():
    one, two, here = frontier_figure(EDGES, (256, 4), "light").data

    assert (list(one.x), list(one.y)) == ([], [])
    assert (list(two.x), list(two.y)) == ([128, 1024], [16, 2])
    assert (list(here.x), list(here.y)) == ([256], [4])
    assert [one.name, two.name] == ["1 device", "2 devices"]
    assert one.line.dash != two.line.dash


def test_the_lengths_are_on_the_axis_in_short():
    axis = frontier_figure(EDGES, (256, 4), "dark", present=True).layout.xaxis

    assert list(axis.ticktext) == ["128", "256", "1k", "1500"]


def test_words_and_table():
    assert frontier_alt(EDGES, (256, 4)) == (
        "1 device: nothing fits; 2 devices: 16 sequences of 128 tokens to 2 of 1,024. "
        "Chosen: 4 × 256 tokens."
    )
    assert frontier_table(EDGES)["2 devices"] == [16, 2, 0]
    assert frontier_table(()) == {"tokens of a sequence": []}
