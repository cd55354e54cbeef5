r"""How a node turns the gradient that comes in into those of its inputs: formulas, rows of text.

A bar means a gradient of the loss: `\bar{y}` comes into the node, `\bar{x}` leaves it. The numbers
of a captured node are the engine's; put into its formula they are text, nothing is computed here.
"""

import ast
import math
import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from string import Template
from types import MappingProxyType
from typing import Final

from core.autograd.graph import Edge, Node, TensorInfo
from core.language import N_, _

INCOMING: Final = "g"
# Letters of a formula that stand for no saved tensor or attribute.
_UNSAVED: Final = (INCOMING, "n", "free", "mean")
MOST_ELEMENTS: Final = 9
_LETTERS: Final = {
    INCOMING: r"\bar{y}", "alpha": r"\alpha", "batch1": "A", "batch2": "B", "beta": r"\beta",
    "condition": "c", "dim": "d", "dim0": "d_0", "dim1": "d_1", "dims": "p", "end": "b",
    "exponent": "n", "free": "n - c", "index": "i", "indices": "i", "key": "K", "mask": "m",
    "mat": "A", "mat1": "A", "mat2": "B", "max": "u", "max_val": "u", "mean": r"\mu", "min": "l",
    "min_val": "l", "n": "n", "negative_slope": "s", "ord": "p", "other": "b", "query": "Q",
    "result": "y", "result2": "r", "self_sym_numel": "n", "self_sym_sizes": r"\text{shape}(x)",
    "shifts": "s", "start": "a", "target": "b", "tensor": "b", "tensor1": "a", "tensor2": "b",
    "total_weight": "W", "value": "k", "vec": "b", "weight": "w",
}  # fmt: skip
_REMARKS: Final = {
    "": "",
    "at zero": N_("At 0 the derivative does not exist: torch takes 0."),
    "attention": N_(
        "P is computed again from Q and K; the gradient of the scores is that of the softmax."
    ),
    "choice": N_(
        "The condition only chooses: where it does not choose an input, its gradient is 0."
    ),
    "evenly": N_("Equal largest (or smallest) elements share the gradient evenly."),
    "first": N_("Of equal elements, only the one whose index was saved gets the gradient."),
    "leaf": N_("A leaf computes no derivative: what arrives is added to its .grad."),
    "left out": N_("Elements that were left out get 0."),
    "norm": N_(
        "A line over a term is its mean over the normalized axes; μ and r = 1/σ were saved."
    ),
    "origin": N_("At the origin the derivative does not exist: torch takes 0."),
    "share": N_('With reduction="mean" each element counts 1/n; with "sum" and "none", n is 1.'),
    "threshold": N_("Above the threshold of 20, torch takes y = x and passes the gradient on."),
    "tie": N_("Where both are equal, torch gives half of the gradient to each."),
    "twice": N_("An element that was used several times gets the sum of all its gradients."),
}
_PLACE: Final = re.compile(r"\$([a-z_][a-z0-9_]*)")
_TENSOR: Final = r"\begin{bmatrix}"
_BETWEEN: Final = re.compile(r"\\cdot(?= [^ ]*\\begin\{bmatrix\})")
_OPERATORS: Final[dict[type[ast.operator], tuple[str, ...]]] = {
    ast.Add: ("Add",),
    ast.Sub: ("Sub",),
    ast.Mult: ("Mul",),
    ast.Div: ("Div",),
    ast.Pow: ("Pow",),
    ast.MatMult: ("Mm", "Mv", "Dot"),
}


@dataclass(frozen=True, kw_only=True, slots=True)
class Formula:
    r"""A row of `formulas.toml`.

    Attributes:
        inputs: For each input, in the order of the node's `next_functions`, the LaTeX of its
            gradient: {"a": `$g \cdot $other`, "b": `$g \cdot $self`}; "x_i" is any of a list.
        letters: For each name that feeds the derivatives its LaTeX: {"self": "a", "other": "b"}.
        is_elementwise: Whether an input that was broadcast gets the sum of what the formula says.
    """

    type: str  # as torch names it: "MulBackward0"
    forward: str  # LaTeX of what the operation computes: `y = a \cdot b`
    inputs: Mapping[str, str]
    letters: Mapping[str, str]
    remark: str = ""  # what is chosen where the derivative does not exist; a message id, or ""
    only: Mapping[str, str] = field(default_factory=dict)
    departs: bool = False  # whether torch gives another number at some points: then none are put in
    is_elementwise: bool = False

    @property
    def latex(self) -> str:
        r"""Return a line with the gradients of all inputs: `\bar{a} = \bar{y} \cdot b`."""
        return r" \qquad ".join(
            rf"\bar{{{symbol}}} = {Template(derivative).substitute(self.letters)}"
            for symbol, derivative in self.inputs.items()
        )

    @property
    def saved(self) -> tuple[str, ...]:
        """Return the names of the saved tensors and attributes that feed the derivatives."""
        names = (name for each in self.inputs.values() for name in Template(each).get_identifiers())
        return tuple(name for name in dict.fromkeys(names) if name not in _UNSAVED)


def _rows() -> Iterator[Formula]:
    text = Path(__file__).with_suffix(".toml").read_text(encoding="utf-8")
    for section, rows in tomllib.loads(text).items():
        for node_type, row in rows.items():
            own = {"self": "x" if len(row["inputs"]) == 1 else "a", **row.get("letters", {})}
            changed = {"letters": _LETTERS | own, "remark": _REMARKS[row.get("remark", "")]}
            is_elementwise = section not in {"reductions", "shapes"}
            yield Formula(type=node_type, is_elementwise=is_elementwise, **row | changed)


FORMULAS: Final[Mapping[str, Formula]] = MappingProxyType({row.type: row for row in _rows()})


def formula_of(node: Node) -> Formula | None:
    """Return a node's formula; None if its type has none here, or not for what the node keeps."""
    formula = FORMULAS.get(node.type)
    if formula is None:
        return None
    kept = {**{each.name: "a tensor" for each in node.saved}, **node.attributes}
    holds = (re.fullmatch(wanted, kept.get(name, "")) for name, wanted in formula.only.items())
    return formula if all(holds) else None


def described(node: Node) -> str:
    """Return in a sentence what a node does with its gradient."""
    formula = FORMULAS.get(node.type)
    if formula is None:
        text = _(
            "{type} multiplies the incoming gradient by the Jacobian of its operation. This app has"
            " no formula for it; torch computes it."
        )
        return text.format(type=node.type)
    names = [name for name in formula.saved if "_sym_" not in name]
    if names:
        text = _(
            "{type} computes the gradients of its inputs from the incoming gradient and {names}."
        )
    else:
        text = _("{type} needs no saved values, only the incoming gradient and the shapes.")
    sentences = [text.format(type=node.type, names=_(", ").join(names))]
    if formula.remark:
        sentences.append(_(formula.remark))
    if formula_of(node) is None:
        sentences.append(
            _("Its formula gives another number here and is left out: the gradient is torch's.")
        )
    return " ".join(sentences)


def substituted(node: Node, edges: Sequence[Edge]) -> str:
    r"""Return the formula with this node's numbers: `\bar{w} = 14 \cdot 3 = 42`, a line an input.

    Tensors of up to 9 elements are written out; larger ones keep their letter. An input that took
    no gradient has no line. Where the formula does not hold, or need not, lines have the gradient
    alone.

    Args:
        node: Of a capture whose backward ran.
        edges: Those of the capture.

    Returns:
        "" if the node did not run, or its type has no formula.
    """
    row, formula = FORMULAS.get(node.type), formula_of(node)
    if row is None or not any(node.gradients_in):
        return ""
    lines = []
    for name, derivative, gradient in _asked(row, node, edges):
        middle = _with_numbers(formula, derivative, node, gradient) if formula else ""
        known = dict.fromkeys(filter(None, [middle, number_text(gradient)]))
        if known:
            lines.append(" = ".join([rf"\bar{{{name}}}", *known]))
    if len(lines) < 2:
        return "".join(lines)
    return r"\begin{{gathered}} {} \end{{gathered}}".format(r" \\ ".join(lines))


def _asked(
    formula: Formula, node: Node, edges: Sequence[Edge]
) -> Iterator[tuple[str, str, TensorInfo]]:
    """Yield for each input that took a gradient its name, its derivative, and that gradient."""
    took = {each.input_index: each.gradient for each in edges if each.source == node.id}
    if node.leaf:  # the end of the way: no edge leaves it
        took = {0: node.gradients_in[0]}
    names = dict(enumerate(operands(node)))
    inputs = list(formula.inputs.items())
    for index, gradient in sorted(took.items()):
        symbol, derivative = inputs[min(index, len(inputs) - 1)]
        if symbol == "x_i":  # any input of a list
            symbol, derivative = f"x_{{{index}}}", derivative.replace("i]", f"{index}]")
        if gradient is not None:
            yield names.get(index) or symbol, derivative, gradient


def _with_numbers(formula: Formula, derivative: str, node: Node, gradient: TensorInfo) -> str:
    """Return the derivative with its numbers; what is too large to write keeps its letter."""
    if formula.departs:
        return ""
    known, text = _numbers(node), derivative
    for name in ("alpha", "beta"):  # which nearly always are 1
        if known.get(name) == "1" and formula.type != "SoftplusBackward0":
            text = text.replace(rf" \cdot ${name}", "").replace(rf"${name} \cdot ", "")

    def written(place: re.Match[str]) -> str:
        return _fitted(known.get(place[1]) or formula.letters[place[1]], place)

    text = _PLACE.sub(written, text)
    text = text if r"\top" in text else _BETWEEN.sub(_times, text)
    is_broadcast = formula.is_elementwise and not re.search(r"\\,|\\sum", derivative)
    (came_in, *others) = node.gradients_in
    is_summed = came_in is not None and not others and _size(came_in) > _size(gradient)
    return rf"\sum ({text})" if is_broadcast and is_summed else text


def _numbers(node: Node) -> dict[str, str]:
    """Return by name what a node was handed, keeps and has as attributes, as LaTeX."""
    kept = {each.name: each.tensor for each in node.saved}
    attributes = {name: _attribute(text) for name, text in node.attributes.items()}
    known = attributes | {name: number_text(each) for name, each in kept.items()}
    came_in = node.gradients_in[0]
    if came_in is None or len(node.gradients_in) > 1:
        return known
    known[INCOMING] = number_text(came_in)
    sizes = ast.literal_eval(node.attributes.get("self_sym_sizes", "()"))
    count = _size(kept["self"]) if "self" in kept else math.prod(sizes)
    count //= max(_size(came_in), 1)
    is_mean = node.attributes.get("reduction", "1") == "1"  # torch's number of "mean"
    correction = float(node.attributes.get("correction", "1"))
    return known | {"n": str(count if is_mean else 1), "free": _scalar(count - correction)}


def _size(tensor: TensorInfo) -> int:
    return math.prod(tensor.shape)


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
    return f"({number})" if r"\times" in number and is_raised else number


def number_text(tensor: TensorInfo) -> str:
    """Return a number or a small tensor as LaTeX; "" of a larger one."""
    if tensor.values is None or len(tensor.shape) > 2 or len(tensor.values) > MOST_ELEMENTS:
        return ""
    if not tensor.shape:
        return _scalar(tensor.values[0])
    rows = tensor.nested if len(tensor.shape) == 2 else [tensor.nested]
    lines = (" & ".join(map(_scalar, row)) for row in rows)
    return r"\begin{{bmatrix}} {} \end{{bmatrix}}".format(r" \\ ".join(lines))


def _scalar(value: float) -> str:
    if not math.isfinite(value):
        return r"\text{NaN}" if math.isnan(value) else r"\infty" if value > 0 else r"-\infty"
    mantissa, _e, exponent = f"{value + 0.0:.4g}".partition("e")
    return rf"{mantissa} \times 10^{{{int(exponent)}}}" if exponent else mantissa


def _attribute(text: str) -> str:
    """Return an attribute's number or lengths as LaTeX; "" of a word."""
    if text.startswith("("):
        return text
    try:
        return _scalar(float(text))
    except ValueError:
        return ""


def operands(node: Node) -> list[str]:
    r"""Return the names that the reader gave to a node's inputs, as LaTeX; "" of what has none.

    >>> operands(Node(id="n0", type="MulBackward0", label="w1 * 2"))
    ['w_{1}', '']
    """
    if node.leaf:
        return [latex_name(node.leaf)]
    return [latex_name(x.id) if isinstance(x, ast.Name) else "" for x in _parts(node)]


def _parts(node: Node) -> list[ast.expr]:
    operation = node.type.partition("Backward")[0]
    try:
        tree = ast.parse(node.label, mode="eval").body
    except SyntaxError:
        return []
    match tree:
        case ast.BinOp(left=left, right=right) if operation in _OPERATORS.get(type(tree.op), ()):
            # torch hands a constant over last: 2 * x is x.mul(2)
            is_constant = isinstance(getattr(left, "operand", left), ast.Constant)
            is_turned = is_constant and operation in {"Add", "Mul"}
            return [right, left] if is_turned else [left, right]
        case ast.Call():
            return _subject(tree, operation)
        case ast.UnaryOp(operand=operand) if operation == "Neg":
            return [operand]
    return []


def _subject(call: ast.Call, operation: str) -> list[ast.expr]:
    """Return the tensor of `x.exp()`, `exp(x)` or `torch.exp(x)`, if the node is this very call."""
    function = call.func
    name = function.attr if isinstance(function, ast.Attribute) else ast.unparse(function)
    if name.replace("_", "").lower() != operation.lower():
        return []
    modules = {"torch", "F", "torch.nn.functional"}
    if isinstance(function, ast.Attribute) and ast.unparse(function.value) not in modules:
        return [function.value]
    return call.args[:1] if len(call.args) == 1 else []


def latex_name(name: str) -> str:
    r"""Return a variable's name as LaTeX.

    >>> latex_name("w1"), latex_name("loss"), latex_name("blocks.0.weight")
    ('w_{1}', '\\text{loss}', '\\text{blocks.0.weight}')
    """
    letter, digits = name[:1], name[1:]
    if letter.isalpha() and (not digits or digits.isdigit()):
        return rf"{letter}_{{{digits}}}" if digits else letter
    return r"\text{{{}}}".format(name.replace("_", r"\_"))
