"""The local Jacobian of a node: what each element of its output does to each of its inputs.

The real node is called with one-hot gradients, so each call gives a row. Calling a node frees
nothing that it saved and runs no hook.
"""

from collections.abc import Sequence
from typing import Any, Final, TypeAlias

import torch

Matrix: TypeAlias = tuple[tuple[float, ...], ...]

MOST_OUTPUTS: Final = 16
MOST_INPUTS: Final = 256


def jacobian_of(
    torch_node: Any,  # noqa: ANN401  torch's nodes have no common public type
    shapes: Sequence[tuple[int, ...]],
    like: torch.Tensor,
) -> tuple[Matrix | None, ...]:
    """Return a Jacobian for each input of a node: a row an output element, a column an input's.

    Elements are counted in row-major order. Call it before a backward frees what the node saved;
    a node under a checkpoint would compute its forward again.

    Args:
        torch_node: A `grad_fn`; never a leaf's, which would add to its `.grad`.
        shapes: Of its outputs; the first one is meant.
        like: A tensor of the output's dtype and device.

    Returns:
        None for an input that takes no gradient, or has more than 256 elements; () if the output
        has more than 16.
    """
    num_rows = torch.Size(shapes[0]).numel()
    if num_rows > MOST_OUTPUTS:
        return ()
    # The node of a torch.autograd.Function is no callable; its `apply` is the same.
    call = torch_node if callable(torch_node) else torch_node.apply
    rows = []
    for one_hot in torch.eye(num_rows, dtype=like.dtype, device=like.device):
        with torch.no_grad():
            answer = call(one_hot.reshape(shapes[0]), *[None] * (len(shapes) - 1))
        rows.append(_row(torch_node, answer if isinstance(answer, tuple | list) else (answer,)))
    return tuple(None if None in column else column for column in zip(*rows, strict=True))


def _row(torch_node: Any, gradients: Sequence[Any]) -> list[tuple[float, ...] | None]:  # noqa: ANN401
    """Return what goes to each input; to a leaf that was broadcast the sum, as in the engine."""
    row: list[tuple[float, ...] | None] = []
    for gradient, (below, _number) in zip(gradients, torch_node.next_functions, strict=True):
        leaf = getattr(below, "variable", None)
        x = gradient if gradient is None or leaf is None else gradient.sum_to_size(leaf.shape)
        is_small = x is not None and x.numel() <= MOST_INPUTS
        row.append(tuple(x.reshape(-1).tolist()) if is_small else None)
    return row
