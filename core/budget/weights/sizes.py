"""From 0.1 to 671 billion parameters: the stops of a slider, their bytes, and a tutorial's table.

The tutorial took 7, 13 and 70 * 10**9 parameters and divided the bytes by 1024**3, which is GiB;
it printed "GB", and some of its figures are not what its code gives.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import log
from typing import Final

from core.budget.catalogue.models import MODELS
from core.budget.item import Item
from core.budget.weights.stored import Size, size_of, weights_in
from core.language import N_
from core.models.spec import ModelSpec
from core.units import GIB

FORMAT_NAMES: Final = (
    "float32",
    "bfloat16",
    "float8_e4m3fn",
    "int8_channel",
    "nvfp4",
    "nf4_double_quant",
    "int4_group128",
)
"""The formats of the page: wide to narrow, each as it is really stored, scales included."""

OFFERED: Final = (
    *("float32", "bfloat16", "float16", "fp8_block128", "float8_e4m3fn", "mxfp8_e4m3"),
    *("int8_channel", "int8_group128", "mxfp6_e2m3", "nvfp4", "nf4_double_quant", "mxfp4"),
    *("int4_group128", "int4_group128_affine"),
)
"""Those among which a reader chooses, wide to narrow."""

_ROUND: Final = (0.1, 0.3, 1, 3, 7, 13, 30, 70, 100, 200, 300, 500)  # billions

COLUMNS: Final[Mapping[str, str]] = {
    "float32": "float32",
    "bfloat16": "bfloat16",
    "float8_e4m3fn": "fp8_block128",
    "int8": "int8_group128",
    "int4": "int4_group128",
}
"""Codes alone -> the same with the scales that make it usable."""

ROUND: Final = ("7b", "13b", "70b")
PRINTED: Final[Mapping[str, tuple[float, ...]]] = {
    "7b": (26.07, 13.04, 6.52, 6.52, 3.26),
    "13b": (48.48, 24.24, 12.12, 12.12, 6.06),
    "70b": (260.89, 130.45, 65.23, 65.23, 32.61),
}
"""What stood there, in the order of COLUMNS, called GB."""


REASONS: Final[Mapping[str, str]] = {
    "vision": N_("the vision encoder and its projector"),
    "prediction": N_(
        "the layer for multi-token prediction, with its own copies of embedding and head"
    ),
    "router_bias": N_("the router's correction biases, which are buffers and get no gradient"),
    "tied_head": N_("the tied head, stored a second time"),
    "unexplained": N_("numbers that no document explains"),
}
"""Key of `Beyond.reason` -> what these parameters are, as a message id."""


def _stops() -> Mapping[str, Size]:
    stops = [size_of(key, spec) for key, spec in MODELS.items()]
    for billions in _ROUND:
        name = f"{billions:g}B"
        stops.append(Size(word=name.lower(), name=name, num_params=round(billions * 10**9)))
    return {size.word: size for size in sorted(stops, key=lambda size: size.num_params)}


SIZES: Final = _stops()
"""Every stop of the slider by its word, small to large."""


def nearest_model(size: Size) -> ModelSpec:
    """Return the model of a size; of a round number the one of the catalogue nearest to it."""
    if size.spec is not None:
        return size.spec
    models = [(each.num_params, each.spec) for each in SIZES.values() if each.spec is not None]
    return min(models, key=lambda each: abs(log(each[0] / size.num_params)))[1]


@dataclass(frozen=True, kw_only=True, slots=True)
class Cell:
    """One cell of the table.

    Attributes:
        printed: The tutorial's figure in GiB; None where it had none.
    """

    size: Size
    format_name: str
    item: Item
    printed: float | None

    @property
    def was_wrong(self) -> bool:
        """Whether the tutorial's figure is not what 1024**3 gives, to its two digits."""
        return self.printed is not None and f"{self.item.amount / GIB:.2f}" != f"{self.printed:.2f}"


def source_table(words: Sequence[str] = ROUND, *, scales: bool = False) -> tuple[Cell, ...]:
    """Return the table row by row.

    `scales` stores the narrow formats with their scales, and what is not quantized in 16 bits.
    """
    cells = []
    for word in words:
        size = SIZES[word]
        for column, (codes, scaled) in enumerate(COLUMNS.items()):
            name = scaled if scales else codes
            cells.append(
                Cell(
                    size=size,
                    format_name=name,
                    item=weights_in(size, name, rest_in_16_bits=scales),
                    printed=PRINTED[word][column] if word in PRINTED and not scales else None,
                )
            )
    return tuple(cells)
