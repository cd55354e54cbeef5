"""Which element of a tensor is looked at first."""

from collections.abc import Sequence


def telling_index(shape: Sequence[int]) -> tuple[int, ...]:
    """Return an index whose places differ, so that the strides can be told apart."""
    if 0 in shape:
        return ()
    last = len(shape) - 1
    return tuple(min(2 if axis == last else 1, length - 1) for axis, length in enumerate(shape))
