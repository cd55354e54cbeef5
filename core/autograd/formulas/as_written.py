"""The number that a formula gives as it is written: its LaTeX read as arithmetic."""

import math
import re
from functools import cache
from string import Template
from types import CodeType
from typing import Any, Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from core.autograd.formulas.node_values import Values
from core.autograd.formulas.table import DERIVED, INCOMING, Formula

Array: TypeAlias = NDArray[np.float64]

_MEAN: Final = 1  # torch's number of reduction="mean": 0 none, 1 mean, 2 sum
_erf = np.vectorize(math.erf, otypes=[np.float64])


def _sigmoid(x: Array) -> Array:
    small = np.exp(-np.abs(x))  # which does not overflow
    return np.where(x >= 0, 1 / (1 + small), small / (1 + small))


_READ: Final = tuple(
    (re.compile(pattern), by)
    for pattern, by in (
        (r"\\mathbf\{1\}_\{(\$\w+)\}", r"ones(\1)"),
        (r"(\$\w+)\^\{\\top\}", r"swapaxes(\1, -1, -2)"),
        (r"\|(\$\w+)\|", r"abs(\1)"),
        (r"\[(\S+) (\S+) (\S+) (\S+) (\S+)\]", r"((\1 \2 \3) * (\3 \4 \5))"),
        (r"\\operatorname\{(\w+)\}", r"\1"),
        (r"\\ln 2", "ln(2)"),
        (r"\\cdot|\\odot", "*"),
        (r"\\, ", "@ "),
        (r"\\le\b", "<="),
        (r"\\ge\b", ">="),
        (r" = ", " == "),
        (r"\^\{", "**{"),
        (r"\}\{", ", "),
        (r"\\(frac|sqrt|sigma|Phi|varphi|pi|ln|cos|sin|min|max)\b", r"\1_"),
        (r"[{\[]", "("),
        (r"[}\]]", ")"),
        (r"\$", ""),
    )
)
_NAMES: Final = {
    "frac_": np.divide, "sqrt_": np.sqrt, "ln_": np.log, "ln": np.log, "cos_": np.cos,
    "sin_": np.sin, "min_": np.minimum, "max_": np.maximum, "pi_": math.pi, "e": math.e,
    "sigma_": _sigmoid, "Phi_": lambda x: (1 + _erf(x / math.sqrt(2))) / 2,
    "varphi_": lambda x: np.exp(-x * x / 2) / math.sqrt(2 * math.pi),
    "sign": np.sign, "abs": np.abs, "ones": np.ones, "swapaxes": np.swapaxes,
}  # fmt: skip


def as_written(
    formula: Formula,
    derivative: str,
    gradient: Any,  # noqa: ANN401  an array, or a tuple of a node's outputs
    values: Values,
    shape: tuple[int, ...],
) -> Array | None:
    """Return the gradient of an input as its formula says it; None if that is no plain arithmetic.

    It has the input's shape, or, as torch's own node gives it, that to which it was broadcast.

    Args:
        formula: Of the node.
        derivative: Of one of its inputs.
        gradient: What comes in; None if it was not kept.
        values: What the node saved, as `node_values` gives it.
        shape: Of the input.
    """
    code = _code(derivative)
    if code is None or gradient is None:
        return None
    names = {**values, **derived(derivative, values), INCOMING: gradient}
    try:
        if formula.is_reduction:  # what was reduced stands for each of its elements
            for name in (INCOMING, "result"):
                if name in names and np.shape(names[name]) != shape:
                    names[name] = _spread(names[name], values)
        names["onehot"] = lambda index: np.arange(shape[-1]) == np.asarray(index)[..., None]
        with np.errstate(all="ignore"):
            number = eval(code, {"__builtins__": {}} | _NAMES | names)  # noqa: S307  our own tables
        found = np.asarray(number, dtype=np.float64)
        is_repeated = found.ndim > len(shape) or found.size > math.prod(shape)
        return found if is_repeated else np.broadcast_to(found, shape)
    except (NameError, KeyError, TypeError, ValueError):
        return None  # notation: a scatter, a transpose; or what was not kept or not given


def derived(derivative: str, values: Values) -> dict[str, Any]:
    """Return the numbers of a derivative that are made of what was saved, if that was kept."""
    names = [name for name in Template(derivative).get_identifiers() if name in DERIVED]
    if not names or ("self" not in values and "self_sym_sizes" not in values):
        return {}
    shape = _shape(values)
    if "reduction" in values:  # of a loss
        return {"n": math.prod(shape) if values["reduction"] == _MEAN else 1}
    axes = _axes(values, shape)
    count, correction = math.prod(shape[axis] for axis in axes), values.get("correction")
    made: dict[str, Any] = {"n": count, "free": count - (1 if correction is None else correction)}
    if "mean" in names:
        made["mean"] = values["self"].mean(axis=axes, keepdims=True)
    return made


def _shape(values: Values) -> tuple[int, ...]:
    sizes = values.get("self_sym_sizes")
    return np.shape(values["self"]) if sizes is None else tuple(sizes)


def _axes(values: Values, shape: tuple[int, ...]) -> tuple[int, ...]:
    """Return the axes that are reduced: all of them for None and ()."""
    dim = values.get("dim")
    dims = () if dim is None else np.atleast_1d(dim).tolist()
    asked = {int(each) % max(len(shape), 1) for each in dims} or set(range(len(shape)))
    return tuple(sorted(axis for axis in asked if axis < len(shape)))


def _spread(reduced: Array, values: Values) -> Array:
    """Return what was reduced, with its axes back and as often as the input has elements there."""
    shape = _shape(values)
    if not values.get("keepdim", False):
        reduced = np.expand_dims(reduced, _axes(values, shape))
    return np.broadcast_to(reduced, shape)


@cache
def _code(derivative: str) -> CodeType | None:
    """Return a derivative as Python; None if it says more than arithmetic."""
    text = derivative
    for pattern, by in _READ:
        text = pattern.sub(by, text)
    try:
        return compile(text, derivative, "eval")
    except SyntaxError:
        return None
