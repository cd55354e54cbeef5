"""The local Jacobian of a node: what each element of its output does to each of its inputs.

The real node is called with one-hot gradients, so each call gives a row. Calling a node frees
nothing that it saved and runs no hook.
"""

from collections.abc import Sequence
from typing import Any, Final, TypeAlias

import torch

from core.language import _

Matrix: TypeAlias = tuple[tuple[float, ...], ...]
Shape: TypeAlias = tuple[int, ...]

MOST_OUTPUTS: Final = 16
MOST_INPUTS: Final = 256
_LEAF: Final = "AccumulateGrad"


def jacobian_of(
    torch_node: Any,  # noqa: ANN401  torch's nodes have no common public type
    outputs: Shape | Sequence[Shape | None],
    output_number: int = 0,
    *,
    inputs: Sequence[Shape | None] = (),
    like: torch.Tensor | None = None,
) -> tuple[Matrix | None, ...]:
    """Return a Jacobian for each input of a node: a row an output element, a column an input's.

    Elements are counted in row-major order. Call it before a backward frees what the node saved;
    a node under a checkpoint would compute its forward again.

    Args:
        torch_node: A `grad_fn`; never a leaf's, which would add to its `.grad`.
        outputs: The shape of its output; of a node with several, a shape for each, or None.
        output_number: Which of them is meant.
        inputs: The shape of each input, if known: the gradient of one that was broadcast is summed
            to its shape, as the engine does. Leaves' shapes are known without it.
        like: A tensor of the output's dtype and device; torch's default without it.

    Returns:
        None for an input that takes no gradient, or has more than 256 elements.

    Raises:
        ValueError: If the node is a leaf's, or the output has more than 16 elements.
    """
    shapes = _shapes_of(outputs)
    shape = shapes[output_number]
    num_rows = torch.Size(shape or ()).numel()
    _check(torch_node, num_rows, is_known=shape is not None)
    like = torch.empty(0) if like is None else like
    wanted = _input_shapes(torch_node, inputs)
    rows: list[tuple[tuple[float, ...] | None, ...]] = []
    for number in range(num_rows):
        one_hot = torch.zeros(num_rows, dtype=like.dtype, device=like.device)
        one_hot[number] = 1
        arguments: list[torch.Tensor | None] = [None] * len(shapes)
        arguments[output_number] = one_hot.reshape(shape or ())
        rows.append(_row(_called(torch_node, arguments), wanted))
    columns = [
        (column, [row for row in column if row is not None]) for column in zip(*rows, strict=True)
    ]
    return tuple(tuple(known) if len(known) == len(column) else None for column, known in columns)


def _check(torch_node: Any, num_outputs: int, *, is_known: bool) -> None:  # noqa: ANN401
    if type(torch_node).__name__ == _LEAF:
        raise ValueError(_("A leaf has no Jacobian: calling its node would add to its .grad."))
    if not is_known or num_outputs > MOST_OUTPUTS:
        message = _("A local Jacobian is computed for up to {most} outputs; this node has {found}.")
        raise ValueError(message.format(most=MOST_OUTPUTS, found=num_outputs if is_known else "?"))


def _shapes_of(outputs: Shape | Sequence[Shape | None]) -> list[Shape | None]:
    if all(isinstance(each, int) for each in outputs):
        return [tuple(each for each in outputs if isinstance(each, int))]
    return [None if each is None or isinstance(each, int) else tuple(each) for each in outputs]


def _input_shapes(torch_node: Any, inputs: Sequence[Shape | None]) -> list[Shape | None]:  # noqa: ANN401
    shapes: list[Shape | None] = []
    for number, (below, _number) in enumerate(torch_node.next_functions):
        given = inputs[number] if number < len(inputs) else None
        is_leaf = type(below).__name__ == _LEAF
        shapes.append(tuple(below.variable.shape) if is_leaf and given is None else given)
    return shapes


def _called(torch_node: Any, arguments: Sequence[torch.Tensor | None]) -> tuple[Any, ...]:  # noqa: ANN401
    """Return what the node answers, without a graph of its own."""
    # The node of a torch.autograd.Function is no callable; its `apply` is the same.
    call = torch_node if callable(torch_node) else torch_node.apply
    with torch.no_grad():
        answer = call(*arguments)
    return tuple(answer) if isinstance(answer, tuple | list) else (answer,)


def _row(
    gradients: Sequence[torch.Tensor | None], shapes: Sequence[Shape | None]
) -> tuple[tuple[float, ...] | None, ...]:
    row: list[tuple[float, ...] | None] = []
    for gradient, shape in zip(gradients, shapes, strict=True):
        summed = gradient if gradient is None or shape is None else gradient.sum_to_size(shape)
        is_small = summed is not None and summed.numel() <= MOST_INPUTS
        row.append(tuple(summed.reshape(-1).tolist()) if summed is not None and is_small else None)
    return tuple(row)
