r"""A formula with a node's own numbers put in: `\bar{w} = 14 \cdot 3 = 42`."""

import re
from collections.abc import Iterator, Sequence
from typing import Any, Final

import numpy as np

from core.autograd.formulas.as_written import as_written
from core.autograd.formulas.formula import BAR_Y, INCOMING, Array, Formula, Input, Values
from core.autograd.formulas.node_values import array_of, node_values
from core.autograd.formulas.operands import operands
from core.autograd.formulas.shapes import sum_to
from core.autograd.formulas.table import describe, formula_of
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


def substituted(node: Node, edges: Sequence[Edge] = ()) -> str:
    r"""Return the formula with this node's numbers: `\bar{w} = 14 \cdot 3 = 42`, a line an input.

    Tensors of up to 9 elements are written out; larger ones keep their letter. An input that can
    take no gradient has no line. Where the formula does not hold, lines have the gradient alone.

    Args:
        node: Of a capture whose backward ran.
        edges: Those of the capture; with them, inputs that are cut get no line, and gradients of
            inputs that were broadcast are summed to their shape, as the engine does.

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
    computed from its text is compared by its rule; what was not kept is not compared.
    """
    formula = formula_of(node.type)
    if formula is None:
        return False
    values, gradient = node_values(node), _gradient(node)
    return all(
        _gives(formula, one, gradient, values, edge.gradient)
        for one, _operand, edge in _asked(node, edges)
        if edge is not None and edge.gradient is not None
    )


def described(node: Node, edges: Sequence[Edge]) -> str:
    """Return in a sentence what a node does, and whether its formula is left out."""
    text = describe(node.type)
    if formula_of(node.type) is None or holds(node, edges):
        return text
    left_out = _("Its formula gives another number here and is left out: the gradient is torch's.")
    return f"{text} {left_out}"


def _gives(
    formula: Formula,
    one: Input,
    gradient: Any,  # noqa: ANN401
    values: Values,
    wanted: TensorInfo,
) -> bool:
    engine, made = array_of(wanted), _result(one, values, gradient)
    if engine is None or made is None:
        return True
    told = as_written(formula, one, gradient, values, wanted.shape)
    found = sum_to(made, wanted.shape) if told is None else told
    close, left = _CLOSE.get(wanted.dtype, (0.0, 0.0))
    came_in = gradient if isinstance(gradient, tuple) else (gradient,)
    rounding = max(left * _largest(each) for each in came_in if each is not None)
    off = close * _largest(engine) + rounding
    return np.allclose(found, engine, rtol=close, atol=off, equal_nan=True)


def _largest(x: Array) -> float:
    return float(np.max(np.abs(x), initial=0.0, where=np.isfinite(x)))


def _asked(node: Node, edges: Sequence[Edge]) -> Iterator[tuple[Input, str, Edge | None]]:
    """Yield the inputs that took a gradient, each with the reader's name and its edge."""
    formula = formula_of(node.type)
    if formula is None or not any(node.gradients_in):
        return
    mine = {each.input_index: each for each in edges if each.source == node.id}
    has = {each.name.partition("[")[0] for each in node.saved}
    has |= {name for name, text in node.attributes.items() if text != "None"}
    names = operands(node, len(formula.inputs))
    for index, (one, name) in enumerate(zip(formula.inputs, names, strict=True)):
        edge = mine.get(index)
        is_cut = edge is not None and edge.is_cut
        if name != "number" and not is_cut and (one.is_many or has.issuperset(one.needs)):
            yield one, name, edge


def _line(
    node: Node,
    formula: Formula,
    one: Input,
    operand: str,
    edge: Edge | None,
    *,
    is_shown: bool,
) -> str:
    values, gradient = node_values(node), _gradient(node)
    engine = edge.gradient if edge is not None else None
    middle = _with_numbers(formula, one, {**values, INCOMING: gradient})
    result = _result(one, values, gradient)
    if result is not None and engine is not None and engine.shape != result.shape:
        middle, result = rf"\sum ({middle})", sum_to(result, engine.shape)
    if engine is not None and engine.values is not None:
        result = array_of(engine)
    end = None if result is None else number_text(result)
    right = [middle, end] if is_shown and end != middle else [end]
    found = [text for text in right if text is not None]
    return " = ".join([rf"\bar{{{operand or one.symbol}}}", *found]) if found else ""


def _gradient(node: Node) -> Any:  # noqa: ANN401  an array, or a tuple of a node's outputs
    """Return the incoming gradient; None if it is too large to have been kept."""
    arrays = tuple(array_of(each) for each in node.gradients_in)
    are_kept = all(
        (a is None) == (b is None) for a, b in zip(arrays, node.gradients_in, strict=True)
    )
    return (arrays[0] if len(arrays) == 1 else arrays) if are_kept else None


def _result(one: Input, values: Values, gradient: Any) -> Array | None:  # noqa: ANN401
    is_known = all(values.get(name) is not None for name in one.needs)
    if one.is_many or not is_known or gradient is None:
        return None
    with np.errstate(all="ignore"):  # 0 / 0 is NaN here as in torch, which does not warn
        return np.asarray(one.rule(gradient, values))


def _with_numbers(formula: Formula, one: Input, values: Values) -> str:
    """Return the derivative with its numbers; what is too large to write keeps its letter."""
    is_known = all(values.get(name) is not None for name in one.needs)
    derived = {name: make(values) for name, make in formula.derived.items()} if is_known else {}
    text = one.derivative
    for name in ("alpha", "beta"):  # which nearly always are 1
        if values.get(name) == 1 and formula.type != "SoftplusBackward0":
            text = text.replace(rf" \cdot ${name}", "").replace(rf"${name} \cdot ", "")
    texts = {name: number_text(value) for name, value in {**values, **derived}.items()}
    letters = {INCOMING: BAR_Y, **formula.symbols}
    text = _PLACE.sub(lambda found: _fitted(texts.get(found[1]) or letters[found[1]], found), text)
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
