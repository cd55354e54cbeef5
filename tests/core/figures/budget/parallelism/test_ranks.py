"""The rank grid by its data: one square a rank, one frame a node, no colour alone."""

from core.budget.parallel.ranks import rank_grid
from core.figures.budget.parallelism.ranks import GridView, ranks_picture
from core.figures.picture import Look
from core.figures.theme import COLORS, MODES
from tests.core.budget.test_share import cluster

GIB = 1 << 30


def view(spread, sizes, capacity=80):
    return GridView(
        grid=rank_grid(spread),
        num_bytes=[size * GIB for size in sizes],
        num_layers=[20] * len(sizes),
        capacity=capacity * GIB,
        ranks_of_a_replica=spread.tensor * spread.context,
    )


def drawn(shown, **look):
    return ranks_picture(shown, Look(**look)).figure


def boxes(figure):
    return sum(each is None for each in figure.data[1].x)


def test_every_rank_has_a_square_and_every_node_a_frame():
    shown = view(cluster(64, tensor=8, pipeline=4), (70, 60, 50, 40))
    squares, _frames = drawn(shown).data

    assert [list(row) for row in squares.text][3] == [str(rank) for rank in range(48, 64)]
    assert [row[0] for row in squares.z] == [70 / 80, 60 / 80, 50 / 80, 40 / 80]
    assert (
        "data-parallel rank 1, tensor-parallel rank 7, node 3; 60.0 GiB"
        in squares.customdata[1][15]
    )
    assert boxes(drawn(shown, mode="dark")) == 8


def test_a_node_of_several_stages_has_one_frame():
    assert boxes(drawn(view(cluster(8, pipeline=4), (1,) * 4))) == 1
    # five ranks a stage and eight a node: what does not fill a box is framed row by row
    odd = drawn(view(cluster(10, pipeline=2), (1, 1)))
    assert boxes(odd) == 3


def test_beyond_the_capacity_colour_and_sign_change():
    shown = view(cluster(2, pipeline=2), (90, 10))
    for mode in MODES:
        figure = drawn(shown, unit="GB", mode=mode, present=True)
        assert figure.layout.yaxis.ticktext[0].startswith("✗ stage 0: 20 layers")
        assert not figure.layout.yaxis.ticktext[1].startswith("✗")
        assert figure.data[0].z[0][0] > 1
        assert figure.data[0].colorscale[2] == (0.5001, COLORS[mode]["overflow"])


def test_many_ranks_are_not_numbered_and_replicas_are_thinned():
    shown = view(cluster(4096, pipeline=2), (1, 2))
    figure = drawn(shown)

    assert set(figure.data[0].text[0]) == {""}
    assert len(figure.layout.xaxis.tickvals) <= 16


def test_many_stages_have_names_that_do_not_run_together():
    figure = drawn(view(cluster(40, pipeline=40), (1,) * 40))

    assert list(figure.layout.yaxis.tickvals) == list(range(0, 32, 2))
    assert figure.layout.yaxis.ticktext[1].startswith("stage 2: 20 layers")
    assert {text for row in figure.data[0].text for text in row} == {""}


def test_one_column_has_frames_along_its_squares():
    frames = drawn(view(cluster(4, pipeline=4), (1,) * 4)).data[1]

    assert min(x for x in frames.x if x is not None) < -0.49


def test_the_sentence_and_the_table_say_the_same():
    shown = view(cluster(64, tensor=8, pipeline=4), (70, 60, 50, 40))
    picture = ranks_picture(shown, Look())

    for words in ("4 pipeline stages of 16 ranks", "stage 0 uses", "70.0", "3 the least, 40.0"):
        assert words in picture.alt
    assert picture.table["of the device"] == ["87.5 %", "75 %", "62.5 %", "50 %"]
