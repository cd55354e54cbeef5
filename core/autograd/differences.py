"""Is the gradient right? Change a leaf a little, and see how much the result really changes.

All is computed in float64: in float32 the difference of two results has few digits left.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

import torch
from torch import Tensor, nn
from torch.func import functional_call
from torch.overrides import TorchFunctionMode

from core.autograd.built_graphs import Made
from core.expressions.dispatch import Watching, storage_id
from core.language import _
from core.models.chance import alone_with_chance

MOST_ELEMENTS: Final = 64
STEP: Final = 1e-5  # near the cube root of float64's 2e-16, where both kinds of error are small
_RELATIVE: Final = 1e-6
_ABSOLUTE: Final = 1e-9

Function = Callable[..., Any]
Leaves = Mapping[str, Tensor]
Names = frozenset[str]
Reason = Literal["", "cut", "hook", "edge", "kink"]


@dataclass(frozen=True, kw_only=True, slots=True)
class Difference:
    """The gradient of a leaf beside what central differences say.

    Attributes:
        gradient: Of autograd, in row-major order; 0 where none arrived. Along a direction: one
            number, its product with that direction.
        estimate: (y(x + h) - y(x - h)) / 2h for each of them. Of two steps h, the one that comes
            closer: the larger may cross a kink, the smaller rounds more.
        relative_error: The largest difference of both where the slope is finite, over the largest
            of their numbers there; NaN if the gradient is NaN there, or the slope nowhere finite.
        reason: Why a backward pass that is right may differ. "cut": the result moves with the leaf
            on a way that autograd does not follow. "hook": a hook changes gradients. "edge": there
            is no finite slope here. "kink": the slopes to both sides differ, and autograd chose
            one. "" if it must agree.
    """

    gradient: tuple[float, ...]
    estimate: tuple[float, ...]
    relative_error: float
    agrees: bool  # whether the difference is no more than rounding and curvature explain
    num_checked: int  # how many elements were changed one by one; 1 along a direction
    is_directional: bool  # whether one fixed random direction stands for more than 64 elements
    reason: Reason

    @property
    def is_wrong(self) -> bool:
        """Whether the backward pass is wrong: nothing else explains the difference."""
        return not self.agrees and not self.reason


@dataclass(frozen=True, kw_only=True, slots=True)
class Nudge:
    """What a small change of a leaf does to the result, and what its gradient foretold."""

    gradient: float  # of what was changed
    delta: float  # the change of the leaf
    change: float  # of the result
    predicted: float  # gradient times delta


@dataclass(frozen=True, kw_only=True, slots=True)
class _Slope:
    """Autograd's slope along one direction beside the measured one, and why they may differ."""

    gradient: float
    estimate: float
    doubt: float  # what the step may add to the difference
    reason: Reason


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
    flow = _flow(function, point)
    return {
        name: _compare(
            [_slope(function, point, name, x, each, result) for each in directions[name]],
            "cut" if name in flow.cut else "hook" if flow.is_hooked else "",
            result,
            is_directional=len(directions[name]) < x.numel(),
        )
        for name, x in gradients.items()
    }


def nudge(
    function: Function, leaves: Leaves, name: str, delta: float, place: tuple[int, ...]
) -> Nudge:
    """Change an element of a leaf, and compare gradient times delta with the change of the result.

    Args:
        function: As `finite_differences` takes it.
        leaves: By name.
        name: Which leaf is changed; one of real numbers.
        delta: Added to the element.
        place: Its index.

    Raises:
        ValueError: If the result is no scalar.
    """
    point = {each: _copy(leaf) for each, leaf in leaves.items()}
    point[name].requires_grad_()
    before, gradients = _gradients(function, point)
    direction = torch.zeros_like(point[name])
    direction[place] = 1
    gradient = _along(gradients[name], direction)
    change = _value(function, _moved(point, name, direction, delta)) - before
    return Nudge(gradient=gradient, delta=delta, change=change, predicted=gradient * delta)


class _Flow:
    """Follows real numbers from leaves to a result, operation by operation, also past autograd."""

    def __init__(self, leaves: Mapping[str, Tensor]) -> None:
        self.cut: Names = frozenset()  # leaves that the result depends on in a way that was cut
        self.is_hooked = False  # whether a hook of a tensor can change a gradient on its way
        # Storage -> which leaves moved it, and which of them past autograd.
        self._moved = {storage_id(x): (frozenset({name}), Names()) for name, x in leaves.items()}
        self._held = list(leaves.values())  # a freed storage's number would be used again

    def tell(self, func: Any, inputs: Sequence[Tensor], outputs: Sequence[Tensor], _: int) -> None:  # noqa: ANN401
        """Note what an operation hands on, as `Watching` tells it."""
        leaves, cut = Names(), Names()
        for x in filter(torch.is_floating_point, inputs):
            moved, past = self._of(x)
            leaves, cut = leaves | moved, cut | past
            self.is_hooked |= bool(x._backward_hooks)
        if func._schema.name == "aten::_local_scalar_dense":  # item(): a number of Python
            self.cut |= leaves
        for x in filter(torch.is_floating_point, outputs):
            before = self._moved.get(storage_id(x), (Names(), Names()))
            self._moved[storage_id(x)] = (leaves | before[0], cut | before[1])
            self._held.append(x)

    def end(self, result: Tensor) -> None:
        """Note what the result depends on."""
        self.cut |= self._of(result)[1]

    def _of(self, x: Tensor) -> tuple[Names, Names]:
        """Return what moved a tensor; where gradients are not recorded, nothing is cut yet.

        Within a custom function they never are, and its author's backward stands for all of it.
        """
        leaves, cut = self._moved.get(storage_id(x), (Names(), Names()))
        return leaves, cut if x.requires_grad or not torch.is_grad_enabled() else cut | leaves


def _copy(leaf: Tensor) -> Tensor:
    if not leaf.is_floating_point():
        return leaf.detach().clone()
    return leaf.detach().to(torch.float64, copy=True).requires_grad_(leaf.requires_grad)


def _result(function: Function, leaves: Leaves) -> Tensor:
    """Return the scalar; each call draws the same random numbers and leaves the reader's alone."""
    with alone_with_chance(), torch.enable_grad():
        result = function(**leaves)
    if not isinstance(result, Tensor) or result.numel() != 1:
        shape = tuple(result.shape) if isinstance(result, Tensor) else type(result).__name__
        message = _("A gradient is checked against one number; the function returned {shape}.")
        raise ValueError(message.format(shape=shape))
    return result


def _value(function: Function, leaves: Leaves) -> float:
    return float(_result(function, leaves).detach())


def _gradients(function: Function, point: Leaves) -> tuple[float, dict[str, Tensor]]:
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


def _moved(point: Leaves, name: str, direction: Tensor, length: float) -> Leaves:
    """Return fresh leaves, one of them moved: the function may write into what it is given."""
    leaves = {each: _copy(leaf) for each, leaf in point.items()}
    moved = leaves[name].detach() + length * direction
    return leaves | {name: moved.requires_grad_(point[name].requires_grad)}


def _flow(function: Function, point: Leaves) -> _Flow:
    leaves = {name: _copy(leaf) for name, leaf in point.items()}
    flow = _Flow({name: leaf for name, leaf in leaves.items() if leaf.requires_grad})
    with Watching(flow.tell, count_flops=False):
        result = _result(function, leaves)
    flow.end(result)
    return flow


def _compare(
    slopes: list[_Slope], past: Reason, result: float, *, is_directional: bool
) -> Difference:
    finite = [each for each in slopes if each.reason != "edge"]
    numbers = (number for each in finite for number in (each.gradient, each.estimate))
    largest = max((abs(number) for number in numbers if math.isfinite(number)), default=0.0)
    limit = _RELATIVE * largest + _ABSOLUTE * (1 + abs(result))
    apart = [abs(each.gradient - each.estimate) for each in finite]
    error = math.nan if any(map(math.isnan, apart)) or not apart else max(apart)
    differing = [x for x in slopes if not abs(x.gradient - x.estimate) <= limit + x.doubt]
    found = {each.reason for each in slopes} - {""}
    return Difference(
        gradient=tuple(each.gradient for each in slopes),
        estimate=tuple(each.estimate for each in slopes),
        relative_error=error / largest if largest else error,
        agrees=not differing,
        num_checked=len(slopes),
        is_directional=is_directional,
        reason=past if any(not each.reason for each in differing) else min(found, default=""),
    )


def _axes(like: Tensor) -> list[Tensor]:
    return [row.reshape(like.shape) for row in torch.eye(like.numel()).to(like)]


def _random_direction(like: Tensor) -> Tensor:
    generator = torch.Generator()
    generator.manual_seed(0)
    drawn = torch.randn(like.shape, generator=generator, dtype=torch.float64).to(like)
    return torch.div(drawn, drawn.norm())


def _along(gradient: Tensor, direction: Tensor) -> float:
    """Return the slope along a direction; what does not move counts 0, also times infinity."""
    moves = direction != 0
    return float((gradient[moves] * direction[moves]).sum())


def _slope(
    function: Function, point: Leaves, name: str, gradient: Tensor, direction: Tensor, here: float
) -> _Slope:
    """Measure the central slope along a direction with two steps."""
    at = float((point[name].detach().abs() * direction.abs()).nan_to_num().max())
    step = STEP * max(1.0, at)
    steps, slope = (step, step / 10), _along(gradient, direction)
    right, left = (
        [_value(function, _moved(point, name, direction, sign * each)) for each in steps]
        for sign in (1, -1)
    )
    centrals = [(a - b) / (2 * each) for a, b, each in zip(right, left, steps, strict=True)]
    gaps = [abs(a - 2 * here + b) / each for a, b, each in zip(right, left, steps, strict=True)]
    noise = 1e-12 * (1 + abs(here)) / step
    return _Slope(
        gradient=slope,
        estimate=min(centrals, key=lambda each: abs(each - slope)),
        doubt=abs(centrals[0] - centrals[1]) / 50,  # curvature's part is a hundredth of it
        reason=_reason(slope, centrals, gaps, noise),
    )


def _reason(slope: float, centrals: list[float], gaps: list[float], noise: float) -> Reason:
    """Return why a derivative may be missing here.

    A gap between the slopes to both sides that comes from curvature shrinks with the step; that of
    a kink stays; at a jump, or beside an infinite slope, it grows.
    """
    if not all(map(math.isfinite, (*centrals, *gaps))):
        return "edge"
    grows = abs(centrals[1]) > 2 * abs(centrals[0]) + 10 * noise
    if grows and not abs(centrals[1] - slope) <= 1e-3 * abs(centrals[1]):
        return "edge"
    if gaps[1] > max(2 * gaps[0], noise):
        return "edge"
    return "kink" if gaps[1] > max(gaps[0] / 2, noise) else ""


def module_differences(made: Made) -> Mapping[str, Difference]:
    """Compare the gradient of each input and each parameter with differences along one direction.

    Args:
        made: A function and its module; under autocast the forward pass itself is rounded, and no
            difference would be small.
    """
    module = made.module if made.module is not None else nn.Module()
    parameters = dict(module.named_parameters())
    whole = _Whole(made, module)

    def function(**leaves: Tensor) -> Any:  # noqa: ANN401  what the graph's function gives
        weights = {f"module.{name}": leaves[name] for name in parameters}
        inputs = {name: leaves[name] for name in made.leaves}
        with _KeepsFloat64():
            return functional_call(whole, weights, (), inputs)

    return finite_differences(function, {**made.leaves, **parameters}, most_elements=1)


class _Whole(nn.Module):
    """The function as a module, so that other weights can be put into it."""

    def __init__(self, made: Made, module: nn.Module) -> None:
        super().__init__()
        self.made, self.module = made, module  # the function may be the module: it is named once

    def forward(self, **leaves: Tensor) -> Tensor:
        """Call the function."""
        return self.made.function(**leaves)


class _KeepsFloat64(TorchFunctionMode):
    """Leave float64 what models cast to float32, to have more digits than bfloat16: it has more."""

    def __torch_function__(
        self,
        func: Any,  # noqa: ANN401
        types: Sequence[type],
        args: Sequence[Any] = (),
        kwargs: Mapping[str, Any] | None = None,
    ) -> Any:  # noqa: ANN401
        if func is Tensor.float and args[0].dtype == torch.float64:
            return args[0]
        return func(*args, **(kwargs or {}))
