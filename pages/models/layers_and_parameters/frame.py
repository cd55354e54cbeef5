"""What the pictures of this page share: the parts of a model with their colors, and the axes."""

from collections.abc import Mapping
from typing import Any, Final

from core.figures.picture import Look
from core.language import N_
from core.models.describe import Part

HEIGHT_PX: Final = 380
PRESENT_HEIGHT_PX: Final = 400
ROOM: Final = {False: 0.15, True: 0.25}  # for words beside the longest bar; on a projector True
PART_TITLES: Final[Mapping[Part, str]] = {
    "embedding": N_("embeddings and head"),
    "attention": N_("attention"),
    "feed_forward": N_("feed-forward layers"),
    "experts": N_("experts"),
    "norms": N_("norms"),
    "adapter": N_("adapters"),
    "other": N_("other"),
}
_OTHER_COLORS: Final[Mapping[Part, str]] = {"adapter": "optimizer", "other": "border"}


def part_color(part: Part, look: Look) -> str:
    """Return the color of a part; most bear their own name in the theme."""
    return look.color(_OTHER_COLORS.get(part, part))


def layout_with(look: Look, **axes: Mapping[str, Any]) -> dict[str, Any]:
    """Return the layout of a chart with these axes, which nobody can drag."""
    layout = look.layout()
    fixed = {"fixedrange": True, "zeroline": False}
    return layout | {
        "height": PRESENT_HEIGHT_PX if look.present else HEIGHT_PX,
        "margin": {"l": 8, "r": 8, "t": 2.8 * layout["font"]["size"], "b": 8},
        **{name: {**layout[name], **fixed, **axis} for name, axis in axes.items()},
    }
