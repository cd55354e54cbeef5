"""What tests of expressions share: the tensor that texts speak of, and how one is run."""

import torch

from core.expressions import MATERIALIZED
from core.expressions.grammar import parse
from core.expressions.interpreter import evaluate
from core.expressions.names import LAYOUT


def run(text, limits=MATERIALIZED, profile=LAYOUT, **tensors):
    """Evaluate a text on `x` of shape (4, 6), or on the tensors that are named."""
    given = tensors or {"x": torch.arange(24.0).view(4, 6)}
    return evaluate(parse(text), given, limits, profile).result


def place(text, error):
    """The piece of the text that an error points at."""
    return text.split("\n")[error.line - 1][error.column : error.end_column]
