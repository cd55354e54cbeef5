"""Is the gradient right? Change a leaf a little, and see how much the result really changes.

All is computed in float64: in float32 the difference of two results has few digits left.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import torch

from core.language import _
from core.models.chance import alone_with_chance

MOST_ELEMENTS: Final = 64
STEP: Final = 1e-5  # near the cube root of float64's 2e-16, where both kinds of error are small
_RELATIVE: Final = 1e-6
_ABSOLUTE: Final = 1e-9

Function = Callable[..., Any]
Leaves = Mapping[str, torch.Tensor]


@dataclass(frozen=True, kw_only=True, slots=True)
class Difference:
    """The gradient of a leaf beside what central differences say.

    Attributes:
        gradient: Of autograd, in row-major order; 0 where none arrived. Along a direction: one
            number, its product with that direction.
        estimate: (y(x + h) - y(x - h)) / 2h for each of them.
        relative_error: The largest difference of both, over the largest of their numbers.
        agrees: Whether the difference is no more than rounding and curvature explain.
        num_checked: How many elements were changed one by one; 1 along a direction.
        is_directional: Whether one fixed random direction stands for more than 64 elements.
        at_kink: Whether the slopes to the left and to the right differ: there is no derivative
            here, and autograd chose one.
    """

    gradient: tuple[float, ...]
    estimate: tuple[float, ...]
    relative_error: float
    agrees: bool
    num_checked: int
    is_directional: bool
    at_kink: bool


@dataclass(frozen=True, kw_only=True, slots=True)
class Nudge:
    """What a small change of a leaf does to the result, and what its gradient foretold.

    Attributes:
        before, after: The result.
        gradient: Of what was changed; of a whole tensor, the sum of its gradients.
        delta: The change of the leaf.
        change: after - before.
        predicted: gradient times delta.
        error: predicted - change; it shrinks with the square of delta.
    """

    before: float
    after: float
    gradient: float
    delta: float
    change: float
    predicted: float
    error: float


@dataclass(frozen=True, slots=True)
class _Slopes:
    central: float
    at_kink: bool


def finite_differences(
    function: Function, leaves: Leaves, *, most_elements: int = MOST_ELEMENTS
) -> Mapping[str, Difference]:
    """Compare the gradient of each leaf that requires one with central differences.

    Args:
        function: Called as function(**leaves) with float64 copies; returns a scalar. Its random
            numbers are the same at each call.
        leaves: By name; those that require no gradient are handed over and not checked.
        most_elements: A leaf of more is changed along one direction.

    Raises:
        ValueError: If the result is not a scalar, or a name is not a leaf.
    """
    point = {name: _copy(leaf) for name, leaf in leaves.items()}
    result, gradients = _gradients(function, point)
    directions = {
        name: [_random_direction(x)] if x.numel() > most_elements else _axes(x)
        for name, x in gradients.items()
    }
    return {
        name: _compare(function, point, name, x, result, directions[name])
        for name, x in gradients.items()
    }


def nudge(
    function: Function,
    leaves: Leaves,
    name: str,
    delta: float,
    place: tuple[int, ...] | None = None,
) -> Nudge:
    """Change a leaf by delta, and compare gradient times delta with the real change of the result.

    Args:
        function: As `finite_differences` takes it.
        leaves: By name.
        name: Which leaf is changed; it must be made of floating-point numbers.
        delta: Added to its elements.
        place: The index of the one element that is changed; all of them without it.

    Raises:
        ValueError: If no leaf has that name, it cannot take a gradient, or the result is no scalar.
    """
    point = {each: _copy(leaf) for each, leaf in leaves.items()}
    if name not in point or not point[name].is_floating_point():
        message = _("{name} cannot be changed: the leaves made of real numbers are {names}.")
        real = [each for each, leaf in point.items() if leaf.is_floating_point()]
        raise ValueError(message.format(name=name, names=", ".join(real) or "-"))
    point[name].requires_grad_()
    before, gradients = _gradients(function, point)
    direction = torch.zeros_like(point[name])
    direction[... if place is None else place] = 1
    gradient = float((gradients[name] * direction).sum())
    after = _value(function, _moved(point, name, direction, delta))
    return Nudge(
        before=before,
        after=after,
        gradient=gradient,
        delta=delta,
        change=after - before,
        predicted=gradient * delta,
        error=gradient * delta - (after - before),
    )


def _copy(leaf: torch.Tensor) -> torch.Tensor:
    if not leaf.is_floating_point():
        return leaf.detach().clone()
    return leaf.detach().to(torch.float64, copy=True).requires_grad_(leaf.requires_grad)


def _result(function: Function, leaves: Leaves) -> torch.Tensor:
    """Return the scalar; each call draws the same random numbers and leaves the reader's alone."""
    with alone_with_chance(), torch.enable_grad():
        result = function(**leaves)
    if not isinstance(result, torch.Tensor) or result.numel() != 1:
        shape = tuple(result.shape) if isinstance(result, torch.Tensor) else type(result).__name__
        message = _("A gradient is checked against one number; the function returned {shape}.")
        raise ValueError(message.format(shape=shape))
    return result


def _value(function: Function, leaves: Leaves) -> float:
    return float(_result(function, leaves).detach())


def _gradients(function: Function, point: Leaves) -> tuple[float, dict[str, torch.Tensor]]:
    result = _result(function, point)
    names = [name for name, leaf in point.items() if leaf.requires_grad]
    if not names or not result.requires_grad:
        return float(result.detach()), {name: torch.zeros_like(point[name]) for name in names}
    wanted = [point[name] for name in names]
    found: Sequence[Any] = torch.autograd.grad(result.reshape(()), wanted, allow_unused=True)
    zeros = (
        torch.zeros_like(leaf) if each is None else each
        for each, leaf in zip(found, wanted, strict=True)
    )
    return float(result.detach()), dict(zip(names, (each.detach() for each in zeros), strict=True))


def _moved(point: Leaves, name: str, direction: torch.Tensor, length: float) -> Leaves:
    """Return fresh leaves, one of them moved: the function may write into what it is given."""
    leaves = {each: _copy(leaf) for each, leaf in point.items()}
    moved = leaves[name].detach() + length * direction
    return leaves | {name: moved.requires_grad_(point[name].requires_grad)}


def _compare(
    function: Function,
    point: Leaves,
    name: str,
    gradient: torch.Tensor,
    result: float,
    directions: list[torch.Tensor],
) -> Difference:
    slopes = [_slopes(function, point, name, each, result) for each in directions]
    numbers = [float((gradient * each).sum()) for each in directions]
    estimates = [each.central for each in slopes]
    apart = [abs(a - b) for a, b in zip(numbers, estimates, strict=True)]
    largest = max(map(abs, [*numbers, *estimates]), default=0.0)
    error = math.nan if any(map(math.isnan, apart)) else max(apart, default=0.0)
    return Difference(
        gradient=tuple(numbers),
        estimate=tuple(estimates),
        relative_error=error / largest if error else 0.0,
        agrees=error <= _RELATIVE * largest + _ABSOLUTE * (1 + abs(result)),
        num_checked=len(directions),
        is_directional=gradient.numel() > 1 and len(directions) < gradient.numel(),
        at_kink=any(each.at_kink for each in slopes),
    )


def _axes(like: torch.Tensor) -> list[torch.Tensor]:
    return [row.reshape(like.shape) for row in torch.eye(like.numel()).to(like)]


def _random_direction(like: torch.Tensor) -> torch.Tensor:
    generator = torch.Generator()
    generator.manual_seed(0)
    drawn = torch.randn(like.shape, generator=generator, dtype=torch.float64).to(like)
    return torch.div(drawn, drawn.norm())


def _slopes(
    function: Function, point: Leaves, name: str, direction: torch.Tensor, here: float
) -> _Slopes:
    """Return the central slope along a direction, and whether its two sides differ.

    A gap between both sides that comes from curvature shrinks with the step; that of a kink stays.
    """
    at = float((point[name].detach().abs() * direction.abs()).max())
    step = STEP * max(1.0, at)
    gaps = []
    for length in (step, step / 10):
        right = _value(function, _moved(point, name, direction, length)) - here
        left = here - _value(function, _moved(point, name, direction, -length))
        gaps.append(abs(right - left) / length)
        if length == step:
            central = (right + left) / (2 * length)
    noise = 1e-14 * (1 + abs(here)) / step
    return _Slopes(central, gaps[1] > max(gaps[0] / 2, 100 * noise))
