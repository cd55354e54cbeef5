"""A checked program as plain Python, which runs wherever torch and einops are."""

import ast
from typing import Final

from core.expressions.grammar import Program

RESULT: Final = "result"
_IMPORTS: Final = {
    "F": "from torch.nn import functional as F",
    "einops": "import einops",
    **{name: f"from einops import {name}" for name in ("einsum", "rearrange", "reduce", "repeat")},
}


def script(program: Program, num_statements: int | None = None) -> str:
    """Return imports and the first statements; an expression at their end is named `result`.

    A program about gradients is left as it is: its last line need not give anything.

    Written from the tree that was checked, not from the reader's text.

    Args:
        program: What `parse` returned.
        num_statements: How many of its statements; None for all.
    """
    statements = program.statements[:num_statements]
    names = {
        node.id for each in statements for node in ast.walk(each) if isinstance(node, ast.Name)
    }
    imports = ["import torch", *(line for name, line in _IMPORTS.items() if name in names)]
    lines = [ast.unparse(each) for each in statements]
    last = statements[-1] if statements and not program.syntax.blocks else None
    if isinstance(last, ast.Expr):
        lines[-1] = f"{RESULT} = {lines[-1]}"
    elif isinstance(last, ast.Assign):
        lines.append(f"{RESULT} = {_target(last.targets[0])}")
    elif isinstance(last, ast.AugAssign):
        lines.append(f"{RESULT} = {_target(last.target)}")
    return "\n".join([*imports, "", *lines]).rstrip()


def _target(target: ast.expr) -> str:
    """Return the name that an assignment gave, the last of several."""
    if isinstance(target, (ast.Tuple, ast.List)):
        target = target.elts[-1]
    return ast.unparse(target.value if isinstance(target, ast.Subscript) else target)
