"""Which item goes into which batch of which rank, in the order of torch's own loaders."""

from collections.abc import Sequence
from dataclasses import dataclass

Batch = tuple[int, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class BatchPlan:
    """One epoch: of each rank its batches, in order."""

    ranks: tuple[tuple[Batch, ...], ...]
    num_items: int

    @property
    def num_steps(self) -> int:
        """Batches of a rank."""
        return len(self.ranks[0])

    @property
    def order(self) -> tuple[tuple[int, ...], ...]:
        """Of each rank its items, batch after batch."""
        return tuple(tuple(item for batch in rank for item in batch) for rank in self.ranks)

    @property
    def num_repeated(self) -> int:
        """How often an item is read again, so that all ranks have the same number."""
        every = [item for rank in self.order for item in rank]
        return len(every) - len(set(every))

    @property
    def num_unread(self) -> int:
        """Items that nobody reads in this epoch."""
        return self.num_items - len({item for rank in self.order for item in rank})

    @property
    def last_batch_size(self) -> int:
        """Items of a rank's last batch; 0 if there is no batch."""
        return len(self.ranks[0][-1]) if self.ranks[0] else 0


def plan_batches(  # noqa: PLR0913  all that torch's two loaders are given
    num_items: int,
    batch_size: int,
    *,
    drop_last: bool = False,
    shuffle: bool = True,
    seed: int = 0,
    num_ranks: int = 1,
    epoch: int = 0,
) -> BatchPlan:
    """Return the batches of one epoch.

    One rank: those of DataLoader(shuffle=..., generator=torch.Generator().manual_seed(seed)) in its
    epoch of that number. Several: those of DataLoader(sampler=DistributedSampler(seed=seed)) after
    set_epoch(epoch); `drop_last` is given to both.
    """
    if num_ranks == 1:
        shares = [_order_of_a_loader(num_items, seed, epoch) if shuffle else [*range(num_items)]]
    else:
        order = _order_of_a_seed(num_items, seed + epoch) if shuffle else list(range(num_items))
        shares = _shares(order, num_ranks, drop_last=drop_last)
    return BatchPlan(
        ranks=tuple(_cut(share, batch_size, drop_last=drop_last) for share in shares),
        num_items=num_items,
    )


def _order_of_a_loader(num_items: int, seed: int, epoch: int) -> list[int]:
    """Return the order of an epoch of one DataLoader whose generator goes on and on."""
    import torch

    generator = torch.Generator().manual_seed(seed)
    order: list[int] = []
    for _earlier in range(epoch + 1):
        # An epoch draws a seed for its workers first, and ends with a permutation nobody reads.
        torch.empty((), dtype=torch.int64).random_(generator=generator)
        order = torch.randperm(num_items, generator=generator).tolist()
        torch.randperm(num_items, generator=generator)
    return order


def _order_of_a_seed(num_items: int, seed: int) -> list[int]:
    import torch

    order: list[int] = torch.randperm(
        num_items, generator=torch.Generator().manual_seed(seed)
    ).tolist()
    return order


def _shares(order: list[int], num_ranks: int, *, drop_last: bool) -> list[list[int]]:
    """Return every rank's items: each n-th, after padding or cutting to the same number."""
    rest = len(order) % num_ranks
    if rest and drop_last:
        order = order[: len(order) - rest]
    elif rest:
        missing = num_ranks - rest
        order = order + (order * (missing // len(order) + 1))[:missing]
    return [order[rank::num_ranks] for rank in range(num_ranks)]


def _cut(items: Sequence[int], batch_size: int, *, drop_last: bool) -> tuple[Batch, ...]:
    batches = tuple(
        tuple(items[start : start + batch_size]) for start in range(0, len(items), batch_size)
    )
    has_rest = bool(batches) and len(batches[-1]) < batch_size
    return batches[:-1] if has_rest and drop_last else batches
