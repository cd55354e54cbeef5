"""What is wrong with an expression, and where."""

import ast
from dataclasses import dataclass
from typing import Self


@dataclass(frozen=True, kw_only=True, slots=True)
class Span:
    """A part of one line of the source: line from 1, columns from 0, the last one excluded."""

    line: int
    column: int
    end_column: int

    @classmethod
    def of(cls, node: ast.expr | ast.stmt | ast.keyword) -> Self:
        """Return where a node stands; of one that spans lines, its part of the first."""
        is_long = node.end_lineno not in {None, node.lineno}
        end = node.col_offset + 1 if is_long or node.end_col_offset is None else node.end_col_offset
        return cls(line=node.lineno, column=node.col_offset, end_column=end)

    @classmethod
    def of_last(cls, node: ast.expr | ast.stmt) -> Self:
        """Return where the last link of a chain stands: `view(5)` of `x.t().view(5)`."""
        name = node.func if isinstance(node, ast.Call) else node
        if isinstance(name, ast.Attribute):
            line, end = name.end_lineno or name.lineno, name.end_col_offset or 0
            column = end - len(name.attr)
        elif isinstance(node, ast.Subscript):
            line, column = node.slice.lineno, node.slice.col_offset - 1
            end = column + 1
        else:
            return cls.of(node)
        if node.end_lineno == line:
            end = node.end_col_offset or end
        return cls(line=line, column=column, end_column=end)


class ExpressionError(ValueError):
    """An expression that is refused.

    Attributes:
        message: Why, and what to write instead, in the reader's language.
        line: From 1.
        column, end_column: From 0, in characters; the end is excluded.
        printed: What the program had printed before.
        torch_message: What PyTorch or einops itself said, word for word; empty if nobody asked it.
    """

    def __init__(self, message: str, span: Span, torch_message: str = "") -> None:
        super().__init__(message)
        self.message, self.torch_message = message, torch_message
        self.printed: tuple[str, ...] = ()
        self.line, self.column, self.end_column = span.line, span.column, span.end_column
