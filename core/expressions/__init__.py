"""The safe expression language: what a reader types is checked, then interpreted, never executed.

Names and attributes are keys of our own tables; nothing is compiled, and no attribute of an object
is ever looked up by a word of the reader's.
"""

from core.expressions.error import ExpressionError
from core.expressions.limits import MATERIALIZED, ON_META, Limits

__all__ = ["MATERIALIZED", "ON_META", "ExpressionError", "Limits"]
