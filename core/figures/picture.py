"""How a reader wants to see pictures, and what every picture brings with it.

A picture holds translated words and is never cached. Nothing here loads plotly.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from core import units
from core.figures.theme import COLORS, Mode, plotly_layout
from core.units import ByteUnit

if TYPE_CHECKING:
    from plotly.graph_objects import Figure

Table = Mapping[str, Sequence[Any]]


@dataclass(frozen=True, kw_only=True, slots=True)
class Look:
    """How the reader wants to see: the one argument about it that every picture takes.

    Attributes:
        mode: "light" or "dark".
        present: Larger text and fewer things, for a projector.
        unit: GiB or GB.
    """

    mode: Mode = "light"
    present: bool = False
    unit: ByteUnit = "GiB"

    def color(self, meaning: str) -> str:
        """Return the colour of a meaning, such as "weights", or of the page, such as "muted"."""
        return COLORS[self.mode][meaning]

    def layout(self) -> dict[str, Any]:
        """Return the theme's layout as Plotly takes it."""
        return plotly_layout(self.mode, present=self.present)

    def format_bytes(self, num_bytes: float) -> str:
        """Return bytes in the reader's unit."""
        return units.format_bytes(num_bytes, self.unit)

    def in_unit(self, num_bytes: float) -> float:
        """Return bytes as the number that stands on an axis in the reader's unit."""
        return num_bytes / (units.GIB if self.unit == "GiB" else 1e9)


@dataclass(frozen=True, kw_only=True, slots=True)
class Picture:
    """A figure with all that makes it readable by everybody.

    Attributes:
        figure: What is drawn, in the theme's colours.
        alt: A translated sentence about this very picture, with its numbers.
        table: Its numbers: translated column title -> raw values, all columns equally long.
    """

    figure: "Figure"
    alt: str
    table: Table
