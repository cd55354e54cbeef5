"""What is told of aten underneath."""

import torch

from core.expressions.dispatch import Watching, storage_id


def rows_of(run):
    rows = []
    with Watching(lambda *told: rows.append(told)):
        run()
    return [(str(func), len(inputs), len(outputs), flops) for func, inputs, outputs, flops in rows]


def test_a_reshape_that_copies_is_a_clone_and_a_view():
    x = torch.zeros(2, 3)
    names = [name for name, *_ in rows_of(lambda: x.t().reshape(6))]
    assert names == ["aten.t.default", "aten.clone.default", "aten._unsafe_view.default"]


def test_flops_are_two_for_each_multiplication_of_a_product():
    x, y = torch.zeros(2, 3), torch.zeros(3, 5)
    assert rows_of(lambda: x @ y) == [("aten.mm.default", 2, 1, 2 * 2 * 3 * 5)]
    assert rows_of(lambda: x + x)[0][-1] == 0


def test_the_scores_of_split_heads_clone_both_sides_and_those_of_one_batch_none():
    for num_batches, num_clones in ((2, 2), (1, 0)):
        q = torch.zeros(num_batches, 4, 6).view(num_batches, 4, 2, 3).transpose(1, 2)
        names = [name for name, *_ in rows_of(lambda q=q: q @ q.transpose(-2, -1))]
        assert names.count("aten.clone.default") == num_clones


def test_storages_are_told_apart_also_where_there_is_no_data():
    empty = [torch.zeros(0) for _ in range(5)]
    meta = [torch.empty(3, device="meta") for _ in range(5)]
    assert len({storage_id(x) for x in empty + meta}) == 10
    x = torch.zeros(2, 3)
    for y in (x.t(), x[0], x.detach(), x.data, x.view(torch.int32), x.view(-1)[3:3]):
        assert storage_id(y) == storage_id(x)
    assert storage_id(x.clone()) != storage_id(x)
