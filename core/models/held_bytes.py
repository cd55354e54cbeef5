"""How much memory tensors keep alive."""

from collections.abc import Iterable

from torch import Tensor


def held_bytes(tensors: Iterable[Tensor]) -> int:
    """Return the bytes of the storages of tensors, each once: a view holds all of its storage.

    >>> import torch
    >>> whole = torch.zeros(1000)
    >>> held_bytes([whole[:1], whole[5:]])
    4000
    """
    storages = {each.untyped_storage().data_ptr(): each.untyped_storage() for each in tensors}
    return sum(each.nbytes() for each in storages.values())
