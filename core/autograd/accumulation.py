"""What backward adds to `.grad`, what resets it, and a batch cut into micro-batches."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, cast

from core.autograd.layer_stack import Stack
from core.autograd.lifetimes import Lifetimes, Moment

if TYPE_CHECKING:
    from torch import Tensor

Reset = Literal["never", "zero", "none"]
Loss = Literal["square", "multiples"]


@dataclass(frozen=True, kw_only=True, slots=True)
class Call:
    """One call of backward on a leaf."""

    number: int  # of the call, from 1
    before: float | None  # `.grad` before it; None where there is none
    added: float  # the gradient of this call's loss alone
    after: float  # `.grad` after it
    is_reset_before: bool  # whether the gradient was reset since the last call
    is_same_tensor: bool  # whether `.grad` is still the tensor that it was before the call


def count_calls(
    num_calls: int, *, loss: Loss = "square", reset: Reset = "never", every: int = 1
) -> tuple[Call, ...]:
    """Call backward again and again on the number 2 and read its `.grad`.

    Args:
        num_calls: At least 1.
        loss: "square" is x**2 at every call, "multiples" is 2x, 3x, 4x, ... one after the other.
        reset: What is done to the gradient: nothing, `grad.zero_()` or `grad = None`.
        every: It is done after so many calls.
    """
    import torch

    leaf = torch.tensor(2.0, requires_grad=True)
    calls: list[Call] = []
    for number in range(1, num_calls + 1):
        is_reset = reset != "never" and number > 1 and (number - 1) % every == 0
        if is_reset:
            _reset([leaf], reset)
        calls.append(_call(leaf, number, loss, is_reset=is_reset))
    return tuple(calls)


def _call(leaf: "Tensor", number: int, loss: Loss, *, is_reset: bool) -> Call:
    import torch

    def value() -> "Tensor":
        return leaf**2 if loss == "square" else (number + 1) * leaf

    held = leaf.grad
    before = None if held is None else held.item()
    (alone,) = torch.autograd.grad(value(), leaf)
    value().backward()
    return Call(
        number=number, before=before, added=alone.item(), after=_gradient(leaf).item(),
        is_reset_before=is_reset, is_same_tensor=leaf.grad is held,
    )  # fmt: skip


def _gradient(leaf: "Tensor") -> "Tensor":
    return cast("Tensor", leaf.grad)


def _reset(leaves: Sequence["Tensor"], reset: Reset) -> None:
    for leaf in leaves:
        if reset == "none":
            leaf.grad = None
        elif leaf.grad is not None:
            leaf.grad.zero_()


def bytes_after_reset(num_params: int, reset: Reset) -> tuple[int, int]:
    """Return the bytes of gradients that are alive before and after an optimizer resets them.

    Args:
        num_params: Of one tensor of float32.
        reset: "zero" and "none" are what `zero_grad` does with `set_to_none` False and True.
    """
    import torch
    from torch.multiprocessing.reductions import StorageWeakRef

    leaf = torch.ones(num_params, requires_grad=True)
    optimizer = torch.optim.SGD([leaf])
    leaf.sum().backward()
    storage = StorageWeakRef(_gradient(leaf).untyped_storage())
    before = _gradient(leaf).untyped_storage().nbytes()
    if reset != "never":
        optimizer.zero_grad(set_to_none=reset == "none")
    is_freed = storage.expired()
    return before, 0 if is_freed else before


@dataclass(frozen=True, kw_only=True, slots=True)
class MicroBatches:
    """A batch that ran whole, and again in pieces, with what was alive after each operation."""

    num_pieces: int  # into how many pieces it was cut
    whole: tuple[Moment, ...] = field(repr=False)
    pieces: tuple[Moment, ...] = field(repr=False)
    largest_gradient: float  # the largest magnitude in the gradients of the whole batch
    largest_difference: float  # between any of them and that of the pieces
    ratio: float  # length of the gradient of the pieces in lengths of that of the whole batch

    @property
    def peaks(self) -> tuple[int, int]:
        """Most bytes of activations kept at once: of the whole batch, and of the pieces."""
        whole, pieces = (max(each.num_bytes for each in side) for side in (self.whole, self.pieces))
        return whole, pieces


def micro_batches(stack: Stack, num_pieces: int, *, is_divided: bool = True) -> MicroBatches:
    """Run a batch whole and in pieces, and compare the gradients that they leave in the weights.

    Args:
        stack: What is run.
        num_pieces: A divisor of the batch size.
        is_divided: Whether the loss of each piece is divided by their number.

    Raises:
        ValueError: If the batch cannot be cut into so many equal pieces.
    """
    if num_pieces < 1 or stack.batch_size % num_pieces:
        raise ValueError(
            f"a batch of {stack.batch_size} cannot be cut into {num_pieces} equal pieces: "
            "choose a divisor of it"
        )
    weights = stack.weights()
    whole, wanted = _run(stack, weights, 1, is_divided=True)
    pieces, found = _run(stack, weights, num_pieces, is_divided=is_divided)
    differences = [
        float((one - other).abs().max()) for one, other in zip(wanted, found, strict=True)
    ]
    return MicroBatches(
        num_pieces=num_pieces,
        whole=whole,
        pieces=pieces,
        largest_gradient=max(float(each.abs().max()) for each in wanted),
        largest_difference=max(differences),
        ratio=_length(found) / _length(wanted),
    )


def _run(
    stack: Stack, weights: Sequence["Tensor"], num_pieces: int, *, is_divided: bool
) -> tuple[tuple[Moment, ...], list["Tensor"]]:
    """Return what was alive, and the gradients as float64; the weights are left without any."""
    # Leaves of their own, as a loader hands them over.
    rows = [piece.detach().requires_grad_() for piece in stack.rows().chunk(num_pieces)]
    lives = Lifetimes([*rows, *weights])
    with lives.watch():
        for piece in rows:
            with lives.passing("forward"):
                loss = stack.run(piece, weights).square().mean()
                loss = loss / num_pieces if is_divided else loss
            lives.leave_out(loss)
            loss.backward()
    gradients = [_gradient(weight).double() for weight in weights]
    _reset(weights, "none")
    return lives.moments(), gradients


def _length(tensors: Sequence["Tensor"]) -> float:
    return math.hypot(*(float(each.norm()) for each in tensors))
