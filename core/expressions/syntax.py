"""Which nodes of Python's tree a text may be made of, and how many of them."""

import ast
from dataclasses import dataclass
from typing import Final

from core.expressions.limits import MAX_CHARACTERS, MAX_NODES
from core.language import N_

Statement = ast.Expr | ast.Assign | ast.AugAssign | ast.With
STATEMENTS: Final[tuple[type[Statement], ...]] = (ast.Expr, ast.Assign)
EXPRESSIONS: Final = (
    *(ast.Constant, ast.Name, ast.Tuple, ast.List, ast.UnaryOp, ast.BinOp, ast.Compare),
    *(ast.Subscript, ast.Slice, ast.Call, ast.Attribute),
)
OPERATORS: Final = (
    *(ast.Add, ast.Sub, ast.Mult, ast.Div, ast.FloorDiv, ast.Mod, ast.Pow, ast.MatMult),
    *(ast.BitAnd, ast.BitOr, ast.USub, ast.Invert),
    *(ast.Eq, ast.NotEq, ast.Lt, ast.LtE, ast.Gt, ast.GtE),
)
UPDATES: Final = (ast.Add, ast.Sub, ast.Mult, ast.Div)  # in place: +=, -=, *=, /=
SMALL_PARTS: Final = (ast.expr_context, ast.keyword, ast.withitem)
NAMES_OF_NODES: Final = {
    ast.Lambda: N_("A function (lambda)"),
    ast.ListComp: N_("A comprehension"),
    ast.SetComp: N_("A comprehension"),
    ast.DictComp: N_("A comprehension"),
    ast.GeneratorExp: N_("A comprehension"),
    ast.JoinedStr: N_("An f-string"),
    ast.NamedExpr: N_("An assignment inside an expression (:=)"),
    ast.IfExp: N_("if ... else"),
    ast.BoolOp: N_("and, or"),
    ast.Not: N_("not"),
    ast.Starred: N_("Unpacking with *"),
    ast.Dict: N_("A dictionary"),
    ast.Set: N_("A set"),
    ast.Await: "await",
    ast.Yield: "yield",
    ast.YieldFrom: "yield",
    ast.Import: "import",
    ast.ImportFrom: "import",
    ast.FunctionDef: "def",
    ast.AsyncFunctionDef: "def",
    ast.ClassDef: "class",
    ast.Delete: "del",
    ast.For: "for",
    ast.While: "while",
    ast.With: "with",
    ast.If: "if",
    ast.Try: "try",
    ast.Raise: "raise",
    ast.AugAssign: N_("An augmented assignment, such as +=,"),
    ast.AnnAssign: N_("A type annotation"),
    ast.In: "in",
    ast.NotIn: "not in",
    ast.Is: "is",
    ast.IsNot: "is not",
    ast.LShift: "<<",
    ast.RShift: ">>",
    ast.BitXor: "^",
    ast.UAdd: "+",
}


@dataclass(frozen=True, kw_only=True, slots=True)
class Syntax:
    """What a text may be made of.

    Attributes:
        statements: Kinds of statements.
        blocks: What may stand behind `with`, called without arguments.
        num_characters, num_nodes: At most.
    """

    statements: tuple[type[Statement], ...] = STATEMENTS
    blocks: tuple[str, ...] = ()
    num_characters: int = MAX_CHARACTERS
    num_nodes: int = MAX_NODES


PLAIN: Final = Syntax()
WITH_WRITES: Final = Syntax(statements=(*STATEMENTS, ast.AugAssign))
WITH_GRADIENTS: Final = Syntax(
    statements=(*STATEMENTS, ast.AugAssign, ast.With),
    blocks=("torch.no_grad", "torch.enable_grad", "torch.inference_mode"),
    num_characters=2_000,
    num_nodes=400,
)
