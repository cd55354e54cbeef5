"""What a stage of a forward pass costs, as items that show their formula.

The names in a formula are those of the stage's axes: B sequences, T tokens, S tokens looked at,
C width, H heads, D head width, F inner width, V vocabulary.
"""

import re
from collections.abc import Mapping
from typing import Final

from core.budget.item import Formula, Item, Number, counted
from core.language import N_
from core.models.spec import GPTShape
from core.models.stages import Stage, axes_of

_PRODUCT: Final = N_("a multiply and an add for each combination of the axes of the equation")
_NUMBERS: Final = N_("every number of the result")
_NONE: Final = N_("no matrix product; additions and activations are not counted, as usual")


def stage_bytes(stage: Stage, shape: GPTShape) -> Item:
    """Return the bytes of what a stage made."""
    name, first = next(iter(stage.outputs.items()))
    letters = _letters(*stage.axes[name])
    values = _sizes(shape, stage) | {
        "item_bytes": first.itemsize,
        "num_tensors": len(stage.outputs),
    }
    names = [*(["num_tensors"] if len(stage.outputs) > 1 else []), *letters, "item_bytes"]
    return counted(
        N_("result"), Formula(" * ".join(names)), {each: values[each] for each in names}, _NUMBERS
    )


def stage_flops(stage: Stage, shape: GPTShape) -> Item:
    """Return the FLOPs of a stage: twice the product of all axes of its equation."""
    if not stage.flops:
        return counted(N_("FLOPs"), Formula("0"), {}, _NONE, "FLOPs")
    sizes = _sizes(shape, stage)
    sides = stage.equation.replace("->", ",")
    letters = list(dict.fromkeys(_letters(*(axis for axes in axes_of(sides) for axis in axes))))
    formula = Formula(" * ".join(["2", *letters]))
    values: Mapping[str, Number] = {each: sizes[each] for each in letters}
    return counted(N_("FLOPs"), formula, values, _PRODUCT, "FLOPs")


def _letters(*axes: str) -> list[str]:
    return re.findall(r"\w+", " ".join(axes))


def _sizes(shape: GPTShape, stage: Stage) -> dict[str, Number]:
    axes, tensor = next(zip(stage.axes.values(), stage.outputs.values(), strict=True))
    batch, num_tokens = tensor.shape[axes.index("B")], tensor.shape[axes.index("T")]
    return {
        "B": batch, "T": num_tokens, "S": num_tokens, "C": shape.hidden_dim, "H": shape.num_heads,
        "D": shape.head_dim, "F": shape.ffn_dim, "V": shape.vocab_size, "three": 3,
    }  # fmt: skip
