"""Questions about layouts, made from a number: a short program, and what its result is.

The answers are computed: the program runs, and what people tend to believe stands beside the truth.
"""

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal

from core.language import N_
from core.tensors.layout import Layout, contiguous_strides
from core.tensors.presets import counted
from core.tensors.trace import trace

Asked = Literal["stride", "sharing"]

MAX_NUMBER: Final = 999
_CALLS: Final = (
    "x.t()", "x.transpose(0, 1)", "x[:, 1:]", "x[:, ::2]", "x[1:]", "x[:, 1]", "x.unsqueeze(0)",
    "x.unsqueeze(1)", "x[[1, 0]]", "x.expand(2, {rows}, {columns})", "x.flatten()",
    "x.contiguous()", "x.reshape({columns}, {rows})", "x.view(-1)",
)  # fmt: skip
_SECOND: Final = (".t()", ".unsqueeze(0)", ".contiguous()", ".reshape(-1)", "[1:]", ".flatten()")
# Why somebody would think so.
BELIEFS: Final[Mapping[str, str]] = {
    "contiguous": N_("These would be the strides of a new, contiguous tensor of this shape."),
    "same": N_("These are the strides of x: they change with the shape."),
    "turned": N_("The order is the other way round."),
    "copied": N_("Nothing had to be written: shape, strides and offset are enough to read the same "
                 "storage in this way."),
    "shared": N_("It copies: no strides describe this order of x's storage, or it never makes "
                 "a view."),
}  # fmt: skip


@dataclass(frozen=True, kw_only=True, slots=True)
class Challenge:
    """One question.

    Attributes:
        asked: "stride": the strides of the result; "sharing": whether it shares x's storage.
        shape: Of `x`, a float32 tensor that is contiguous.
        source: The program, one expression.
        layout: Of its result.
        is_shared: Whether the result lies in x's storage.
        wrong: Strides that are not those of the result -> key of `BELIEFS`; only if asked for.
    """

    asked: Asked
    shape: tuple[int, int]
    source: str
    layout: Layout
    is_shared: bool
    wrong: Mapping[tuple[int, ...], str]


def challenge(number: int) -> Challenge:
    """Return the question of a number: the same one each time.

    Raises:
        ValueError: If the number is not from 0 to 999.
    """
    if not 0 <= number <= MAX_NUMBER:
        raise ValueError(f"challenges go from 0 to {MAX_NUMBER}, not {number}")
    chance = random.Random(number)  # noqa: S311  which question comes next is no secret
    while True:
        shape = (chance.randint(2, 4), chance.randint(3, 5))
        asked: Asked = chance.choice(("stride", "sharing"))
        source = _program(chance, shape)
        ran = trace(source, {"x": counted(shape)})
        if ran.error is not None:
            continue
        x, result = ran.inputs[0], ran.tensors[-1]
        wrong = _wrong_strides(x.layout, result.layout)
        if asked == "stride" and not wrong:
            continue
        return Challenge(
            asked=asked,
            shape=shape,
            source=source,
            layout=result.layout,
            is_shared=result.storage == x.storage,
            wrong=wrong if asked == "stride" else {},
        )


def _program(chance: random.Random, shape: Sequence[int]) -> str:
    rows, columns = shape
    call = chance.choice(_CALLS).format(rows=rows, columns=columns)
    return call + (chance.choice(_SECOND) if chance.random() < 0.5 else "")


def _wrong_strides(x: Layout, result: Layout) -> dict[tuple[int, ...], str]:
    """Return strides of the right length that are not the result's; the likeliest belief first."""
    candidates = {
        contiguous_strides(result.shape): "contiguous",
        x.stride: "same",
        tuple(reversed(result.stride)): "turned",
    }
    return {
        stride: belief
        for stride, belief in candidates.items()
        if stride != result.stride and len(stride) == len(result.stride)
    }
