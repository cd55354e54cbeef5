"""The number that a formula gives as it is written: its LaTeX read as arithmetic."""

import math
import re
from functools import cache
from types import CodeType
from typing import Any, Final

import numpy as np

from core.autograd.formulas.activations import erf, sigmoid
from core.autograd.formulas.formula import INCOMING, Array, Formula, Input, Values
from core.autograd.formulas.reductions import REDUCTIONS, spread
from core.autograd.formulas.shapes import sum_to

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
    "sigma_": sigmoid, "Phi_": lambda x: (1 + erf(x / math.sqrt(2))) / 2,
    "varphi_": lambda x: np.exp(-x * x / 2) / math.sqrt(2 * math.pi),
    "sign": np.sign, "abs": np.abs, "ones": np.ones, "swapaxes": np.swapaxes,
}  # fmt: skip


def as_written(
    formula: Formula,
    one: Input,
    gradient: Any,  # noqa: ANN401  an array, or a tuple of a node's outputs
    values: Values,
    shape: tuple[int, ...],
) -> Array | None:
    """Return the gradient of an input as its formula says it; None if that is no plain arithmetic.

    Args:
        formula: Of the node.
        one: One of its inputs.
        gradient: What comes in.
        values: What the node saved, as `node_values` gives it.
        shape: Of the input: what was broadcast is summed to it.
    """
    code = _code(one.derivative)
    if code is None or any(values.get(name) is None for name in one.needs):
        return None
    names = {**values, **{name: make(values) for name, make in formula.derived.items()}}
    names[INCOMING] = gradient
    if formula in REDUCTIONS:  # what was reduced stands for each of its elements
        for name in (INCOMING, "result"):
            if name in names and np.shape(names[name]) != shape:
                names[name] = spread(names[name], values)
    names["onehot"] = lambda index: np.arange(shape[-1]) == np.asarray(index)[..., None]
    try:
        with np.errstate(all="ignore"):
            number = eval(code, {"__builtins__": {}} | _NAMES | names)  # noqa: S307  our own tables
        found = np.asarray(number, dtype=np.float64)
        is_repeated = found.size > math.prod(shape)
        return sum_to(found, shape) if is_repeated else np.broadcast_to(found, shape)
    except (NameError, TypeError, ValueError):
        return None  # notation: a scatter, a transpose, a limit that was not given


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
