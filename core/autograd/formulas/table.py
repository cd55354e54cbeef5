r"""All formulas by the node's type, and a sentence for types that have none.

A bar means a gradient of the loss: `\bar{y}` comes into the node, `\bar{x}` leaves it.
"""

import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from string import Template
from types import MappingProxyType
from typing import Final

from core.language import N_, _

INCOMING: Final = "g"
# Numbers of a formula that are made of what was saved, and are therefore not saved themselves.
DERIVED: Final = ("n", "free", "mean")

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


@dataclass(frozen=True, kw_only=True, slots=True)
class Formula:
    r"""How a kind of node turns the gradient of its output into those of its inputs.

    Attributes:
        type: As torch names it: "MulBackward0".
        forward: LaTeX of what the operation computes: `y = a \cdot b`.
        inputs: For each input, in the order of the node's `next_functions`, the LaTeX of its
            gradient: {"a": `$g \cdot $other`, "b": `$g \cdot $self`}; "x_i" is any of a list.
        letters: For each name that feeds the derivatives its LaTeX: {"self": "a", "other": "b"}.
        remark: What is chosen where the derivative does not exist; a message id, or "".
        is_reduction: Whether the output has fewer elements, each of which stands for several.
    """

    type: str
    forward: str
    inputs: Mapping[str, str]
    letters: Mapping[str, str]
    remark: str = ""
    is_reduction: bool = False

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
        return tuple(name for name in dict.fromkeys(names) if name not in (INCOMING, *DERIVED))


def _rows() -> Iterator[Formula]:
    text = Path(__file__).with_name("formulas.toml").read_text(encoding="utf-8")
    for section, rows in tomllib.loads(text).items():
        for node_type, row in rows.items():
            own = {"self": "x" if len(row["inputs"]) == 1 else "a", **row.get("letters", {})}
            yield Formula(
                type=node_type,
                forward=row["forward"],
                inputs=row["inputs"],
                letters=_LETTERS | own,
                remark=_REMARKS[row.get("remark", "")],
                is_reduction=section == "reductions",
            )


FORMULAS: Final[Mapping[str, Formula]] = MappingProxyType({row.type: row for row in _rows()})


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
