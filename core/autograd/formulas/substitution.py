r"""A formula with a node's own numbers put in: `\bar{w} = 14 \cdot 3 = 42`."""

import re
from collections.abc import Iterator, Sequence
from typing import Any, Final

import numpy as np

from core.autograd.formulas.as_written import Array, as_written, derived
from core.autograd.formulas.node_values import Values, array_of, node_values
from core.autograd.formulas.operands import operands
from core.autograd.formulas.table import INCOMING, Formula, describe, formula_of
from core.autograd.graph import Edge, Node, TensorInfo
from core.language import _

MOST_ELEMENTS: Final = 9
_PLACE: Final = re.compile(r"\$([a-z_][a-z0-9_]*)")
_TENSOR: Final = r"\begin{bmatrix}"
# How far a formula may be from the engine: a share of its number, and of the gradient that comes
# in, of which a few digits are left where terms cancel.
_CLOSE: Final = {
    "float64": (1e-6, 1e-14), "float32": (1e-4, 1e-6), "float16": (1e-2, 1e-2),
    "bfloat16": (5e-2, 5e-2),
}  # fmt: skip
_BETWEEN: Final = re.compile(r"\\cdot(?= [^ ]*\\begin\{bmatrix\})")


def substituted(node: Node, edges: Sequence[Edge]) -> str:
    r"""Return the formula with this node's numbers: `\bar{w} = 14 \cdot 3 = 42`, a line an input.

    Tensors of up to 9 elements are written out; larger ones keep their letter. The number at the
    end is the engine's; an input that took no gradient has no line. Where the formula does not
    hold, lines have the gradient alone.

    Args:
        node: Of a capture whose backward ran.
        edges: Those of the capture.

    Returns:
        "" if the node did not run, or its type has no formula.
    """
    formula, is_shown = formula_of(node.type), holds(node, edges)
    if formula is None:
        return ""
    written = (_line(node, formula, *each, is_shown=is_shown) for each in _asked(node, edges))
    lines = list(filter(None, written))
    if len(lines) < 2:
        return "".join(lines)
    return r"\begin{{gathered}} {} \end{{gathered}}".format(r" \\ ".join(lines))


def holds(node: Node, edges: Sequence[Edge]) -> bool:
    """Return whether a node's formula, as it is written, gives the gradients of the engine.

    It may not: at ties, for another reduction, with weights that it does not name. What cannot be
    computed from its text, and what was not kept, is not compared.
    """
    formula = formula_of(node.type)
    if formula is None:
        return False
    values, gradient = node_values(node), _gradient(node)
    return all(
        _gives(as_written(formula, derivative, gradient, values, wanted.shape), gradient, wanted)
        for _symbol, derivative, wanted in _asked(node, edges)
    )


def described(node: Node, edges: Sequence[Edge]) -> str:
    """Return in a sentence what a node does, and whether its formula is left out."""
    text = describe(node.type)
    if formula_of(node.type) is None or holds(node, edges):
        return text
    left_out = _("Its formula gives another number here and is left out: the gradient is torch's.")
    return f"{text} {left_out}"


def _gives(found: Array | None, gradient: Any, wanted: TensorInfo) -> bool:  # noqa: ANN401
    engine = array_of(wanted)
    if engine is None or found is None:
        return True
    close, left = _CLOSE.get(wanted.dtype, (0.0, 0.0))
    came_in = gradient if isinstance(gradient, tuple) else (gradient,)
    rounding = max(left * _largest(each) for each in came_in if each is not None)
    off = close * _largest(engine) + rounding
    summed = _sum_to(found, wanted.shape)
    return np.allclose(summed, engine, rtol=close, atol=off, equal_nan=True)


def _sum_to(gradient: Array, shape: tuple[int, ...]) -> Array:
    """Return a gradient summed over the axes along which a tensor of this shape was repeated.

    The engine does this after each node; it is broadcasting backwards.
    """
    gradient = gradient.sum(axis=tuple(range(gradient.ndim - len(shape))))
    stretched = tuple(axis for axis, n in enumerate(shape) if n == 1 and gradient.shape[axis] != 1)
    return np.asarray(gradient.sum(axis=stretched, keepdims=True))


def _largest(x: Array) -> float:
    return float(np.max(np.abs(x), initial=0.0, where=np.isfinite(x)))


def _asked(node: Node, edges: Sequence[Edge]) -> Iterator[tuple[str, str, TensorInfo]]:
    """Yield for each input that took a gradient its name, its derivative, and that gradient."""
    formula = formula_of(node.type)
    if formula is None or not any(node.gradients_in):
        return
    took = {each.input_index: each.gradient for each in edges if each.source == node.id}
    if node.type == "AccumulateGrad":  # the end of the way: no edge leaves it
        took = {0: node.gradients_in[0]}
    names = operands(node, max(took, default=0) + 1)
    inputs = list(formula.inputs.items())
    for index, wanted in sorted(took.items()):
        symbol, derivative = inputs[min(index, len(inputs) - 1)]
        if symbol == "x_i":  # any input of a list
            symbol, derivative = f"x_{{{index}}}", derivative.replace("i]", f"{index}]")
        if wanted is not None and names[index] != "number":
            yield names[index] or symbol, derivative, wanted


def _line(
    node: Node,
    formula: Formula,
    name: str,
    derivative: str,
    wanted: TensorInfo,
    *,
    is_shown: bool,
) -> str:
    values, gradient = node_values(node), _gradient(node)
    middle = _with_numbers(formula, derivative, {**values, INCOMING: gradient})
    found = as_written(formula, derivative, gradient, values, wanted.shape)
    if found is not None and found.shape != wanted.shape:
        middle = rf"\sum ({middle})"
    end = number_text(array_of(wanted))
    right = [middle, end] if is_shown and end != middle else [end]
    known = [text for text in right if text is not None]
    return " = ".join([rf"\bar{{{name}}}", *known]) if known else ""


def _gradient(node: Node) -> Any:  # noqa: ANN401  an array, or a tuple of a node's outputs
    """Return the incoming gradient; None if it is too large to have been kept."""
    arrays = tuple(array_of(each) for each in node.gradients_in)
    are_kept = all(
        (a is None) == (b is None) for a, b in zip(arrays, node.gradients_in, strict=True)
    )
    return (arrays[0] if len(arrays) == 1 else arrays) if are_kept else None


def _with_numbers(formula: Formula, derivative: str, values: Values) -> str:
    """Return the derivative with its numbers; what is too large to write keeps its letter."""
    known, text = {**values, **derived(derivative, values)}, derivative
    for name in ("alpha", "beta"):  # which nearly always are 1
        if values.get(name) == 1 and formula.type != "SoftplusBackward0":
            text = text.replace(rf" \cdot ${name}", "").replace(rf"${name} \cdot ", "")

    def written(place: re.Match[str]) -> str:
        number = number_text(known.get(place[1]))
        return _fitted(number or formula.letters[place[1]], place)

    text = _PLACE.sub(written, text)
    return text if r"\top" in text else _BETWEEN.sub(_times, text)


def _times(found: re.Match[str]) -> str:
    """Return the sign of a product: of tensors, element by element."""
    return r"\odot" if _TENSOR in found.string[: found.start()] else r"\cdot"


def _fitted(number: str, found: re.Match[str]) -> str:
    """Return a number, in parentheses where its sign would meet another operator or a power."""
    before, after = found.string[: found.start()].rstrip(), found.string[found.end() :]
    is_alone = before.endswith(("{", "(", "[", ",")) or not before
    is_raised = after.startswith("^")
    if number.startswith("-") and (not is_alone or is_raised):
        return f"({number})"
    if r"\times" in number and is_raised:
        return f"({number})"
    return number


def number_text(value: Any) -> str | None:  # noqa: ANN401  what `node_values` holds
    r"""Return a number, a sequence of lengths or a small tensor as LaTeX; None of all else.

    >>> number_text(0.00001234), number_text((2, 3))
    ('1.234 \\times 10^{-5}', '(2, 3)')
    """
    if value is None or isinstance(value, str):
        return None
    if isinstance(value, tuple):
        are_lengths = all(isinstance(each, int) for each in value)
        return "({})".format(", ".join(map(str, value))) if are_lengths else None
    array = np.asarray(value, dtype=np.float64)
    if array.ndim == 0:
        return _scalar(float(array))
    if array.ndim > 2 or array.size > MOST_ELEMENTS:
        return None
    rows = (" & ".join(map(_scalar, row)) for row in np.atleast_2d(array).tolist())
    return r"\begin{{bmatrix}} {} \end{{bmatrix}}".format(r" \\ ".join(rows))


def _scalar(value: float) -> str:
    if not np.isfinite(value):
        return r"\text{NaN}" if np.isnan(value) else r"\infty" if value > 0 else r"-\infty"
    mantissa, _e, exponent = f"{value + 0.0:.4g}".partition("e")
    return rf"{mantissa} \times 10^{{{int(exponent)}}}" if exponent else mantissa
