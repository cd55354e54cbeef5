"""The names that the reader gave to a node's inputs, found in its label."""

import ast
from collections.abc import Sequence
from typing import Final

from core.autograd.graph import Node

_OPERATORS: Final[dict[type[ast.operator], tuple[str, ...]]] = {
    ast.Add: ("Add",),
    ast.Sub: ("Sub",),
    ast.Mult: ("Mul",),
    ast.Div: ("Div",),
    ast.Pow: ("Pow",),
    ast.MatMult: ("Mm", "Mv", "Dot"),
}
_COMMUTE: Final = ("Add", "Mul")


def operands(node: Node, num_inputs: int) -> Sequence[str]:
    r"""Return for each input its name as LaTeX; "number" of a constant, "" where it is not known.

    >>> operands(Node(id="n0", type="MulBackward0", label="w1 * 2"), 2)
    ('w_{1}', 'number')
    """
    found = [_written(each) for each in _parts(node)] if not node.leaf else [latex_name(node.leaf)]
    return tuple((found + [""] * num_inputs)[:num_inputs])


def _parts(node: Node) -> list[ast.expr]:
    operation = node.type.partition("Backward")[0]
    try:
        tree = ast.parse(node.label, mode="eval").body
    except SyntaxError:
        return []
    if isinstance(tree, ast.BinOp) and operation in _OPERATORS.get(type(tree.op), ()):
        pair = [tree.left, tree.right]
        # torch hands a constant over last: 2 * x is x.mul(2)
        is_turned = operation in _COMMUTE and _written(tree.left) == "number"
        return pair[::-1] if is_turned else pair
    if isinstance(tree, ast.Call):
        return _subject(tree, operation)
    return [tree.operand] if isinstance(tree, ast.UnaryOp) and operation == "Neg" else []


def _subject(call: ast.Call, operation: str) -> list[ast.expr]:
    """Return the tensor of `x.exp()`, `exp(x)` or `torch.exp(x)`, if the node is this very call."""
    function = call.func
    name = function.attr if isinstance(function, ast.Attribute) else ast.unparse(function)
    if name.replace("_", "").lower() != operation.lower():
        return []
    if isinstance(function, ast.Attribute) and ast.unparse(function.value) not in {
        "torch",
        "F",
        "torch.nn.functional",
    }:
        return [function.value]
    return call.args[:1] if len(call.args) == 1 else []


def _written(part: ast.expr) -> str:
    if isinstance(part, ast.Name):
        return latex_name(part.id)
    if isinstance(part, ast.UnaryOp):
        part = part.operand
    return "number" if isinstance(part, ast.Constant) else ""


def latex_name(name: str) -> str:
    r"""Return a variable's name as LaTeX.

    >>> latex_name("w1"), latex_name("loss"), latex_name("blocks.0.weight")
    ('w_{1}', '\\text{loss}', '\\text{blocks.0.weight}')
    """
    letter, digits = name[:1], name[1:]
    if letter.isalpha() and (not digits or digits.isdigit()):
        return rf"{letter}_{{{digits}}}" if digits else letter
    return r"\text{{{}}}".format(name.replace("_", r"\_"))
