"""From text to a checked tree: which characters, which nodes, how many and how deep.

Whatever passes is made of the nodes below alone, small enough for recursion. What names and calls
mean is the interpreter's matter.
"""

import ast
import tomllib
import unicodedata
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from core.expressions.error import ExpressionError, Span
from core.expressions.limits import (
    INT64,
    MAX_CHARACTERS,
    MAX_DEPTH,
    MAX_ITEMS,
    MAX_NAME,
    MAX_NODES,
    MAX_STRING,
)
from core.language import N_, _

Statement = ast.Expr | ast.Assign | ast.AugAssign | ast.With
STATEMENTS: Final[tuple[type[Statement], ...]] = (ast.Expr, ast.Assign)
EXPRESSIONS: Final = (
    *(ast.Constant, ast.Name, ast.Tuple, ast.List, ast.UnaryOp, ast.BinOp, ast.Compare),
    *(ast.Subscript, ast.Slice, ast.Call, ast.Attribute, ast.Starred),
    *(ast.JoinedStr, ast.FormattedValue),
)
OPERATORS: Final = (
    *(ast.Add, ast.Sub, ast.Mult, ast.Div, ast.FloorDiv, ast.Mod, ast.Pow, ast.MatMult),
    *(ast.BitAnd, ast.BitOr, ast.USub, ast.Invert),
    *(ast.Eq, ast.NotEq, ast.Lt, ast.LtE, ast.Gt, ast.GtE),
)
SMALL_PARTS: Final = (ast.expr_context, ast.keyword, ast.withitem)
WRITES_ELSEWHERE: Final = N_(
    "{name} changes a tensor in place, and here it is only drawn where elements lie; run it on "
    "Indexing and sharing, or on Computation graph."
)
_NODES: Final = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
NAMES_OF_NODES: Final[Mapping[type[ast.AST], str]] = {
    getattr(ast, node): row.get("name") or row["word"] for node, row in _NODES["nodes"].items()
}


@dataclass(frozen=True, kw_only=True, slots=True)
class Syntax:
    """What a text may be made of; the numbers are limits."""

    statements: tuple[type[Statement], ...] = STATEMENTS  # kinds of statements
    blocks: tuple[str, ...] = ()  # what may stand behind `with`, called without arguments
    num_characters: int = MAX_CHARACTERS
    num_nodes: int = MAX_NODES


RESULT: Final = "result"
_IMPORTS: Final = {
    "F": "from torch.nn import functional as F",
    "nn": "from torch import nn",
    "math": "import math",
    "einops": "import einops",
    **{name: f"from einops import {name}" for name in ("einsum", "rearrange", "reduce", "repeat")},
}
# What a paste may begin with: it names what is there anyway, and is passed over.
_PASSED_OVER: Final = {
    *("import torch", "import torch.nn.functional as F", "import torch.nn as nn"),
    *_IMPORTS.values(),
}
PLAIN: Final = Syntax()
WITH_WRITES: Final = Syntax(statements=(*STATEMENTS, ast.AugAssign))
WITH_GRADIENTS: Final = Syntax(
    statements=(*STATEMENTS, ast.AugAssign, ast.With),
    blocks=("torch.no_grad", "torch.enable_grad", "torch.inference_mode"),
    num_characters=2_000,
    num_nodes=400,
)


@dataclass(frozen=True, kw_only=True, slots=True)
class Program:
    """A text whose every node is allowed."""

    source: str  # what the reader wrote
    statements: tuple[Statement, ...]  # its lines, in order; those of a block stand within it
    syntax: Syntax = PLAIN  # what it was checked against

    def text(self, node: ast.AST) -> str:
        """Return the piece of the source that a node stands for."""
        return ast.get_source_segment(self.source, node) or ""


def parse(source: str, syntax: Syntax = PLAIN) -> Program:
    """Return the checked tree of a text.

    Args:
        source: What the reader wrote.
        syntax: Of the profile that it shall be evaluated with.

    Raises:
        ExpressionError: If it is too long, no Python, or uses what is not allowed here.
    """
    source = _trimmed(source)
    _check_characters(source, syntax)
    try:
        tree = ast.parse(source)
    except SyntaxError as error:
        raise _as_ours(error, source) from None
    except (ValueError, MemoryError, RecursionError):
        raise ExpressionError(_("This is not valid Python."), _everything(source)) from None
    _check_size(tree, source, syntax)
    tree.body = [each for each in tree.body if not _is_passed_over(each)]
    if not tree.body:
        message = _("There is nothing to evaluate yet; write an expression, such as x.t().")
        raise ExpressionError(message, _everything(source))
    for node, parent in _with_parents(tree):
        _check_node(node, parent, syntax)
    statements = tuple(each for each in tree.body if isinstance(each, Statement))
    return Program(source=source, statements=statements, syntax=syntax)


def _is_passed_over(node: ast.stmt) -> bool:
    """Whether it imports what is there anyway, one name or several."""
    match node:
        case ast.Import(names=names):
            lines = [ast.unparse(ast.Import(names=[each])) for each in names]
        case ast.ImportFrom(names=names):
            lines = [
                ast.unparse(ast.ImportFrom(module=node.module, names=[each], level=node.level))
                for each in names
            ]
        case _:
            return False
    return set(lines) <= _PASSED_OVER


def names_given(program: Program) -> dict[tuple[int, str], str]:
    """Return line and text of a value -> the name that it is given there."""
    nodes = (each for statement in program.statements for each in ast.walk(statement))
    return {
        (node.lineno, program.text(node.value)): node.targets[0].id
        for node in nodes
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name)
    }


def _trimmed(source: str) -> str:
    """Drop the space around a text, but keep empty lines before it: they count as lines."""
    source = source.replace("\r\n", "\n").rstrip()
    text = source.lstrip()
    return "\n" * source[: len(source) - len(text)].count("\n") + text


def _everything(source: str) -> Span:
    return Span(line=1, column=0, end_column=len(source.split("\n", 1)[0]))


def _check_characters(source: str, syntax: Syntax) -> None:
    if len(source) > syntax.num_characters:
        message = _("The program has {count} characters; the limit is {limit}.")
        counts = {"count": f"{len(source):,}", "limit": syntax.num_characters}
        raise ExpressionError(message.format(**counts), _everything(source))
    for number, line in enumerate(source.split("\n"), start=1):
        for column, character in enumerate(line):
            if not " " <= character <= "~" or character == "\\":
                raise ExpressionError(
                    _about_character(character),
                    Span(line=number, column=column, end_column=column + 1),
                )


def _about_character(character: str) -> str:
    name = unicodedata.name(character, _("a control character")).lower()
    plain = unicodedata.normalize("NFKC", character)
    if plain != character and plain.isascii() and plain.isprintable() and plain.strip():
        message = _("{character} is {name}, not the ASCII {plain}; write {plain}.")
        return message.format(character=character, plain=plain, name=name)
    shown = character if character.isprintable() else f"U+{ord(character):04X}"
    message = _("{character} ({name}) is not allowed; write expressions in ASCII.")
    return message.format(character=shown, name=name)


def _as_ours(error: SyntaxError, source: str) -> ExpressionError:
    lines = source.split("\n")
    line = min(max(error.lineno or 1, 1), len(lines))
    column = min(max((error.offset or 1) - 1, 0), max(len(lines[line - 1]) - 1, 0))
    end = error.end_offset or 0
    stop = end - 1 if error.end_lineno == error.lineno and end - 1 > column else column + 1
    message = _("Python syntax error: {reason}.").format(reason=error.msg)
    return ExpressionError(message, Span(line=line, column=column, end_column=stop))


def _check_size(tree: ast.Module, source: str, syntax: Syntax) -> None:
    """Count nodes and depth with a stack of our own: a deep tree would end Python's."""
    waiting: list[tuple[ast.AST, int]] = [(tree, 0)]
    count = 0
    while waiting:
        node, depth = waiting.pop()
        count += not isinstance(node, (*SMALL_PARTS, *OPERATORS))
        if count > syntax.num_nodes or depth > MAX_DEPTH:
            message = _("This is nested too deeply or has too many parts; split or shorten it.")
            raise ExpressionError(message, _everything(source))
        waiting.extend((child, depth + 1) for child in ast.iter_child_nodes(node))


def _with_parents(tree: ast.Module) -> Iterator[tuple[ast.AST, ast.AST]]:
    """Yield every node below the module, each after the one that it stands in."""
    for parent in ast.walk(tree):
        for node in ast.iter_child_nodes(parent):
            yield node, parent


def _check_node(node: ast.AST, parent: ast.AST, syntax: Syntax) -> None:
    with_place = (ast.expr, ast.stmt, ast.keyword)
    place = node if isinstance(node, with_place) else parent  # an operator stands in its expression
    if not isinstance(place, with_place):
        raise TypeError(type(place))  # no such tree exists
    span = Span.of(place)
    if not isinstance(node, (*syntax.statements, *EXPRESSIONS, *OPERATORS, *SMALL_PARTS)):
        raise ExpressionError(_about_kind(node, place), span)
    problem = _problem_of(node, parent) or _problem_of_statement(node, syntax)
    problem = problem or _problem_of_string(node, parent)
    if problem:
        raise ExpressionError(problem, span)


def _about_kind(node: ast.AST, place: ast.AST) -> str:
    if isinstance(node, ast.AugAssign) or isinstance(place, ast.AugAssign):
        return _(WRITES_ELSEWHERE).format(name=ast.unparse(place))
    what = _(NAMES_OF_NODES.get(type(node), type(node).__name__))
    return _("{what} is not allowed here.").format(what=what)


def _problem_of(node: ast.AST, parent: ast.AST) -> str:
    """Return what is wrong with an allowed kind of node; empty if nothing is."""
    problem = ""
    match node:
        case ast.Constant(value=value):
            problem = _problem_of_constant(value)
        case ast.Name(id=name) | ast.keyword(arg=str(name)):
            problem = _problem_of_name(name)
        case ast.Starred() if not (isinstance(parent, ast.Call) and node in parent.args):
            problem = _("Only what a call is given can be unpacked with *: x.view(*x.shape).")
        case ast.Attribute(attr=name) if name.startswith("_"):
            problem = _("Names that begin with an underscore are not allowed here.")
        case ast.keyword(arg=None):
            problem = _("Unpacking with ** is not allowed here.")
        case ast.Tuple(elts=items) | ast.List(elts=items) if len(items) > MAX_ITEMS:
            problem = _("A list may have at most {limit} items.").format(limit=MAX_ITEMS)
        case ast.Compare(ops=ops) if len(ops) > 1:
            problem = _("Write one comparison at a time.")
    return problem


def _problem_of_string(node: ast.AST, parent: ast.AST) -> str:
    is_printed = isinstance(parent, ast.Call) and ast.unparse(parent.func) == "print"
    if not isinstance(node, ast.JoinedStr) or is_printed or isinstance(parent, ast.FormattedValue):
        return ""
    return _("An f-string can only be printed here, as the text that print is given.")


def _problem_of_statement(node: ast.AST, syntax: Syntax) -> str:
    """Return what is wrong with an assignment or a block."""
    match node:
        case ast.Assign(targets=[ast.Attribute()]) if syntax.blocks:
            return _problem_of_reset(node)
        case ast.Assign(targets=targets):
            return _problem_of_targets(targets)
        case ast.AugAssign():
            return _problem_of_update(node, syntax)
        case ast.With(items=items):
            return _problem_of_blocks(items, syntax)
    return ""


def _problem_of_reset(node: ast.Assign) -> str:
    """`w.grad = None` is the only attribute that can be assigned."""
    match node:
        case ast.Assign(
            targets=[ast.Attribute(value=ast.Name(), attr="grad")], value=ast.Constant(value=None)
        ):
            return ""
    return _("Only None can be assigned to an attribute, and only to .grad: w.grad = None.")


def _problem_of_update(node: ast.AugAssign, syntax: Syntax) -> str:
    """`w -= ...`, `w.grad *= ...`, `x[0] += ...`: on what has a name."""
    match node.target:
        case ast.Name() | ast.Attribute(value=ast.Name(), attr="grad" | "data"):
            return ""
        case ast.Subscript(value=ast.Name()):
            return ""
    if syntax.blocks:
        return _("Update a name in place, such as w -= 0.1 * w.grad.")
    return _("Update a name or its elements in place, such as x += 1 or x[0] += 1.")


def _problem_of_blocks(items: list[ast.withitem], syntax: Syntax) -> str:
    """`with` takes only what switches gradients on and off."""
    for item in items:
        match item:
            case ast.withitem(context_expr=ast.Call(func=name, args=[], keywords=[])) if (
                item.optional_vars is None and ast.unparse(name) in syntax.blocks
            ):
                continue
        choice = ", ".join(f"{name}()" for name in syntax.blocks)
        return _("with takes one of {choice}.").format(choice=choice)
    return ""


def _problem_of_constant(value: object) -> str:
    if value is None or value is Ellipsis or isinstance(value, bool):
        return ""
    if isinstance(value, int):
        message = _("The number has {count} digits; the largest int64 is {limit}.")
        digits = len(str(value)) if value < 10**400 else 400
        return "" if value <= INT64 else message.format(count=digits, limit=f"{INT64:,}")
    if isinstance(value, float):
        return "" if abs(value) < float("inf") else _("The number is too large for float64.")
    if isinstance(value, str):
        message = _("A string may have at most {limit} characters.")
        return "" if len(value) <= MAX_STRING else message.format(limit=MAX_STRING)
    return _("{what} is not allowed here.").format(what=type(value).__name__)


def _problem_of_name(name: str) -> str:
    if name.startswith("_") and name != "_":  # what is unpacked, and not wanted
        return _("Names that begin with an underscore are not allowed here.")
    if len(name) > MAX_NAME and name not in {"memory_format", "storage_offset"}:
        return _("The name {name} is longer than {limit} characters.").format(
            name=name[:MAX_NAME] + "…", limit=MAX_NAME
        )
    return ""


def _problem_of_targets(targets: list[ast.expr]) -> str:
    """One name, several names, or an element of a tensor; which of them, the profile decides."""
    if len(targets) > 1:
        return _("Assign to one name at a time.")
    target = targets[0]
    if isinstance(target, ast.Attribute):
        return _("Attributes cannot be assigned here.")
    names = target.elts if isinstance(target, (ast.Tuple, ast.List)) else [target]
    if isinstance(target, ast.Subscript) and isinstance(target.value, ast.Name):
        return ""
    if names and all(isinstance(name, ast.Name) for name in names):
        return ""
    return _("Assign to a name, such as y = x.t().")


def script(program: Program, num_statements: int | None = None) -> str:
    """Return imports and the first statements; an expression at their end is named `result`.

    A program about gradients is left as it is: its last line need not give anything.

    Written from the tree that was checked, not from the reader's text.

    Args:
        program: What `parse` returned.
        num_statements: How many of its statements; None for all.
    """
    statements = program.statements[:num_statements]
    if not program.syntax.blocks:
        statements = _without_prints(statements)
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


def _without_prints(statements: tuple[Statement, ...]) -> tuple[Statement, ...]:
    """Leave out what only shows; of nothing else, what the last `print` shows is the result."""
    shown = [_shown(each) for each in statements]
    others = [each for each, value in zip(statements, shown, strict=True) if value is None]
    last = shown[-1] if shown else None
    return tuple(others) if others or last is None else (ast.Expr(value=last),)


def _shown(statement: Statement) -> ast.expr | None:
    match statement:
        case ast.Expr(value=ast.Call(func=ast.Name(id="print"), args=[*_any, last])):
            return ast.Constant(value=None) if isinstance(last, ast.JoinedStr) else last
    return None


def _target(target: ast.expr) -> str:
    """Return the name that an assignment gave, the last of several."""
    if isinstance(target, (ast.Tuple, ast.List)):
        target = target.elts[-1]
    return ast.unparse(target.value if isinstance(target, ast.Subscript) else target)
