"""Which rank reads which item."""

from core.figures.picture import Look
from core.train.text.batch_plan import plan_batches
from pages.train.data_and_batches.ranks import ranks_picture


def plans(items, batch, ranks):
    return {epoch: plan_batches(items, batch, num_ranks=ranks, epoch=epoch) for epoch in (0, 1)}


def test_every_line_holds_the_items_of_a_rank_in_order():
    both = plans(20, 4, 2)
    figure = ranks_picture(both, Look()).figure
    assert tuple(map(tuple, figure.data[0].z)) == both[0].order + both[1].order
    assert figure.data[0].y == (
        "epoch 0, rank 0", "epoch 0, rank 1", "epoch 1, rank 0", "epoch 1, rank 1",
    )  # fmt: skip
    assert figure.data[1].text == tuple(map(str, both[0].order[0]))
    assert [shape.x0 for shape in figure.layout.shapes] == [4, 8, 10]


def test_many_items_are_not_numbered_and_the_table_has_them_all():
    both = plans(1000, 64, 1)
    picture = ranks_picture(both, Look())
    assert len(picture.figure.data) == 1
    assert len(picture.table["step"]) == 32
    assert "16 batches an epoch, the last of 40" in picture.alt
