"""The number that a formula gives as it is written: its LaTeX read as arithmetic, with numpy."""

import math
import re

import numpy as np
import torch

_MEAN = 1  # torch's number of reduction="mean": 0 none, 1 mean, 2 sum
_HALF = 2**63  # torch writes a negative axis as an unsigned number: -1 is 2**64 - 1
_erf = np.vectorize(math.erf, otypes=[np.float64])
_READ = (
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
_NAMES = {
    "frac_": np.divide, "sqrt_": np.sqrt, "ln_": np.log, "ln": np.log, "cos_": np.cos,
    "sin_": np.sin, "min_": np.minimum, "max_": np.maximum, "pi_": math.pi, "e": math.e,
    "sigma_": lambda x: 1 / (1 + np.exp(-x)), "Phi_": lambda x: (1 + _erf(x / math.sqrt(2))) / 2,
    "varphi_": lambda x: np.exp(-x * x / 2) / math.sqrt(2 * math.pi),
    "sign": np.sign, "abs": np.abs, "ones": np.ones, "swapaxes": np.swapaxes,
}  # fmt: skip


def saved_by(torch_node):
    """What a node saved, as arrays and Python's values."""
    names = [key for key in dir(torch_node) if key.startswith("_saved_")]
    found = {key.removeprefix("_saved_"): _plain(getattr(torch_node, key)) for key in names}
    return {name: value for name, value in found.items() if value is not None}


def _plain(value):
    if isinstance(value, torch.Tensor):
        return value.detach().numpy()
    if isinstance(value, tuple | list):
        return tuple(map(_plain, value))
    return value - 2 * _HALF if type(value) is int and value >= _HALF else value


def as_written(formula, derivative, gradient, values, shape):
    """The gradient of an input of this shape; None if the formula is no plain arithmetic."""
    code = derivative
    for pattern, by in _READ:
        code = re.sub(pattern, by, code)
    names = {**values, "g": gradient}
    try:
        if "self" in values or "self_sym_sizes" in values:
            own = np.shape(values["self"]) if "self" in values else values["self_sym_sizes"]
            axes = _axes(values.get("dim"), own)
            names |= _counts(values, own, axes)
            for name in ("g", "result"):
                small = names.get(name) if formula.type.startswith(_REDUCTIONS) else None
                if small is not None and np.shape(small) != shape:  # it stands for each element
                    kept = small if values.get("keepdim") else np.expand_dims(small, axes)
                    names[name] = np.broadcast_to(kept, own)
        with np.errstate(all="ignore"):
            found = np.asarray(eval(code, _NAMES | names), dtype=np.float64)  # noqa: S307
    except (SyntaxError, NameError, KeyError, TypeError, ValueError):
        return None  # notation: a scatter, a transpose
    return found if found.size > math.prod(shape) else np.broadcast_to(found, shape)


_REDUCTIONS = ("Sum", "Mean", "Logsumexp", "Max", "Min", "Amax", "Amin", "Var", "Std", "LinalgV")


def _axes(dim, shape):
    """The axes that are reduced: all of them for None and ()."""
    dims = () if dim is None else np.atleast_1d(dim).tolist()
    asked = {int(each) % max(len(shape), 1) for each in dims} or set(range(len(shape)))
    return tuple(sorted(axis for axis in asked if axis < len(shape)))


def _counts(values, shape, axes):
    if "reduction" in values:  # of a loss
        return {"n": math.prod(shape) if values["reduction"] == _MEAN else 1}
    count, correction = math.prod(shape[axis] for axis in axes), values.get("correction")
    counts = {"n": count, "free": count - (1 if correction is None else correction)}
    if "self" in values:
        counts["mean"] = np.mean(values["self"], axis=axes, keepdims=True)
    return counts
