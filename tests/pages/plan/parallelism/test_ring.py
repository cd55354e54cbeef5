"""The ring by its data: what moved has a frame and an arrow from the rank that sent it."""

from core.budget.parallel.ring import ring_all_reduce
from core.figures.picture import Look
from core.figures.theme import MODES
from pages.plan.parallelism.collectives import ring_picture, step_title

STEPS = ring_all_reduce([[float((c + 1) * 10**rank) for c in range(4)] for rank in range(4)])


def test_what_moved_has_a_frame_where_it_arrived():
    for number, step in enumerate(STEPS):
        look = Look(mode=MODES[number % 2], present=number == 1)
        figure = ring_picture(STEPS, number, look).figure
        frames = {((s.x0 + s.x1) / 2, (s.y0 + s.y1) / 2) for s in figure.layout.shapes}
        assert frames == {(send.chunk, send.target) for send in step.sends}, number
        assert len(figure.layout.annotations) == len(step.sends)


def test_a_square_is_as_dark_as_its_sum_is_whole():
    squares, done = (ring_picture(STEPS, number, Look()).figure.data[0] for number in (2, 6))

    assert squares.text[2][0] == "111"
    assert squares.z[2][0] == 3 / 4
    assert squares.customdata[2][0] == "0, 1, 2"
    assert {share for row in done.z for share in row} == {1}


def test_the_sentences_count():
    alt = ring_picture(STEPS, 3, Look()).alt
    assert alt.startswith("A ring of 4 ranks after step 3 of 6, reduce-scatter")
    assert alt.endswith("4 of 16 squares hold the whole sum; each rank has sent 12 bytes.")
    titles = [step_title(step).partition(":")[0] for step in (STEPS[0], STEPS[6])]
    assert titles == ["start", "all-gather"]
    assert ring_picture(STEPS, 6, Look()).table["chunk 3"] == ["4444"] * 4
