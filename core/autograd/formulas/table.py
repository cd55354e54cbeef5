"""All formulas by the node's type, and a sentence for types that have none."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from core.autograd.formulas.activations import ACTIVATIONS
from core.autograd.formulas.elementwise import ELEMENTWISE
from core.autograd.formulas.formula import Formula, one_input
from core.autograd.formulas.losses import LOSSES
from core.autograd.formulas.products import PRODUCTS
from core.autograd.formulas.reductions import REDUCTIONS
from core.autograd.formulas.shapes import SHAPES
from core.language import N_, _

_ACCUMULATE: Final = Formula(
    type="AccumulateGrad",
    forward=r"x.\mathrm{grad} \leftarrow x.\mathrm{grad} + \bar{x}",
    inputs=(one_input("x", "$g", lambda g, _v: g),),
    remark=N_("A leaf computes no derivative: what arrives is added to its .grad."),
)
_ROWS: Final = (*ELEMENTWISE, *ACTIVATIONS, *REDUCTIONS, *PRODUCTS, *SHAPES, *LOSSES, _ACCUMULATE)
FORMULAS: Final[Mapping[str, Formula]] = MappingProxyType({row.type: row for row in _ROWS})


def formula_of(node_type: str) -> Formula | None:
    """Return the formula of a node's type: "MulBackward0"; None of a type that has none here."""
    return FORMULAS.get(node_type)


def describe(node_type: str) -> str:
    """Return in a sentence what a node of this type does with its gradient."""
    formula = formula_of(node_type)
    if formula is None:
        text = _(
            "{type} multiplies the incoming gradient by the Jacobian of its operation. This app has"
            " no formula for it; torch computes it."
        )
        return text.format(type=node_type)
    names = [name for name in formula.saved if "_sym_" not in name]
    if names:
        text = _(
            "{type} computes the gradients of its inputs from the incoming gradient and {names}."
        )
    else:
        text = _("{type} needs no saved values, only the incoming gradient and the shapes.")
    sentence = text.format(type=node_type, names=_(", ").join(names))
    return f"{sentence} {_(formula.remark)}" if formula.remark else sentence
