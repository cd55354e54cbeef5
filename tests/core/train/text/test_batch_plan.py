import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Generator
from torch.utils.data import DataLoader, DistributedSampler

from core.train.text.batch_plan import plan_batches

SETTINGS = {
    "num_items": st.integers(1, 90),
    "batch_size": st.integers(1, 40),
    "drop_last": st.booleans(),
    "shuffle": st.booleans(),
    "seed": st.integers(0, 2**31),
    "epoch": st.integers(0, 3),
}


def told(loader):
    return tuple(tuple(batch.tolist()) for batch in loader)


@settings(max_examples=60, deadline=None)
@given(**SETTINGS)
def test_one_rank_reads_the_batches_of_torchs_loader(
    num_items, batch_size, drop_last, shuffle, seed, epoch
):
    loader = DataLoader(
        range(num_items), batch_size, shuffle=shuffle, drop_last=drop_last,
        generator=Generator().manual_seed(seed),
    )  # fmt: skip
    epochs = [told(loader) for _each in range(epoch + 1)]
    plan = plan_batches(
        num_items, batch_size, drop_last=drop_last, shuffle=shuffle, seed=seed, epoch=epoch
    )
    assert plan.ranks == (epochs[-1],)
    assert plan.num_steps == len(loader)


@settings(max_examples=60, deadline=None)
@given(num_ranks=st.integers(2, 7), **SETTINGS)
def test_several_ranks_read_the_batches_of_torchs_distributed_sampler(
    num_items, batch_size, drop_last, shuffle, seed, epoch, num_ranks
):
    wanted = []
    for rank in range(num_ranks):
        sampler = DistributedSampler(
            range(num_items), num_ranks, rank, shuffle=shuffle, seed=seed, drop_last=drop_last
        )
        sampler.set_epoch(epoch)
        wanted.append(
            told(DataLoader(range(num_items), batch_size, sampler=sampler, drop_last=drop_last))
        )
    plan = plan_batches(
        num_items, batch_size, drop_last=drop_last, shuffle=shuffle, seed=seed, epoch=epoch,
        num_ranks=num_ranks,
    )  # fmt: skip
    assert plan.ranks == tuple(wanted)


@pytest.mark.parametrize(
    ("num_items", "batch_size", "drop_last", "steps", "last"),
    [(1000, 64, True, 15, 64), (1000, 64, False, 16, 40), (1000, 32, False, 32, 8),
     (60_000, 64, False, 938, 32)],
)  # fmt: skip
def test_the_number_of_batches_is_that_of_the_division(
    num_items, batch_size, drop_last, steps, last
):
    plan = plan_batches(num_items, batch_size, drop_last=drop_last)
    assert (plan.num_steps, plan.last_batch_size) == (steps, last)
    assert plan.num_unread == (num_items % batch_size if drop_last else 0)


def test_padding_repeats_items_so_that_all_ranks_have_as_many():
    plan = plan_batches(10, 4, num_ranks=4)
    assert {len(rank) for rank in plan.order} == {3}
    assert (plan.num_repeated, plan.num_unread) == (2, 0)
    cut = plan_batches(10, 1, num_ranks=4, drop_last=True)
    assert (cut.num_repeated, cut.num_unread) == (0, 2)
