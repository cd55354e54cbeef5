"""The derivative of each kind of node: as LaTeX, as numpy, and with a node's numbers put in."""

from core.autograd.formulas.formula import Formula, Input
from core.autograd.formulas.node_values import node_values
from core.autograd.formulas.substitution import substituted
from core.autograd.formulas.table import FORMULAS, describe, formula_of

__all__ = ["FORMULAS", "Formula", "Input", "describe", "formula_of", "node_values", "substituted"]
