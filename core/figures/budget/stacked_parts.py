"""Parts of bytes stacked into bars, the same colour and pattern for the same part everywhere."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from core.budget.item import Item
from core.figures.picture import Drawing, Look, Table
from core.language import N_, _

REST: Final = N_("buffers and reserve")
LOOKS: Final[Mapping[str, tuple[str, str]]] = {
    "weights": ("weights", ""),
    "gathered weights": ("weights", "/"),
    "cached copies": ("weights", "x"),
    "gradients": ("gradients", ""),
    "optimizer": ("optimizer", ""),
    "activations": ("activations", ""),
    "recomputed activations": ("activations", "x"),
    "logits and loss": ("activations", "/"),
    "temporary": ("temporary", "."),
    "data": ("other", ""),
    "communication buffers": ("other", "."),
    "allocator reserve": ("other", "/"),
    REST: ("other", "\\"),
}
"""Name of an item -> its colour's meaning and its pattern."""
_SMALL: Final = frozenset({"temporary", "data", "communication buffers", "allocator reserve"})
_OTHER: Final = ("other", "x")
_NEAR_END: Final = 0.25  # of the axis: a name centred over such a line would leave the picture
Bars = Sequence[tuple[str, Sequence[Item]]]  # a translated label and the parts of its bar


def part_names(bars: Bars) -> list[str]:
    """Return the names of all parts, in the order of LOOKS, then as they come."""
    names = dict.fromkeys(part.name for _label, parts in bars for part in parts if part.amount)
    return sorted(names, key=lambda name: [*LOOKS, name].index(name))


def part_bytes(parts: Sequence[Item], name: str) -> int:
    """Return the bytes of the parts of that name."""
    return sum(part.num_bytes for part in parts if part.name == name)


def small_together(parts: Sequence[Item]) -> list[Item]:
    """Return the parts with one name for all that is neither state nor activation."""
    return [replace(part, name=REST) if part.name in _SMALL else part for part in parts]


def stack(drawing: Drawing, bars: Bars, look: Look, *, flat: bool) -> None:
    """Add one trace a part; flat bars run from left to right, others upward."""
    labels = [label for label, _parts in bars]
    for name in part_names(bars):
        meaning, pattern = LOOKS.get(name, _OTHER)
        sizes = [part_bytes(parts, name) for _label, parts in bars]
        drawing.bar(
            **({"x": sizes, "y": labels} if flat else {"x": labels, "y": sizes}),
            orientation="h" if flat else "v",
            name=_(name),
            marker={"color": look.color(meaning), "pattern": {"shape": pattern}},
            customdata=[look.format_bytes(size) for size in sizes],
            hovertemplate="%{" + ("y" if flat else "x") + "}: %{customdata}<extra>%{fullData.name}"
            "</extra>",
        )


def totals(bars: Bars) -> list[int]:
    """Return the bytes of each bar."""
    return [sum(part.num_bytes for part in parts) for _label, parts in bars]


def write_beside(drawing: Drawing, amount: float, label: str, text: str, look: Look) -> None:
    """Write words beside the end of a flat bar, on a ground: the capacity's line runs behind."""
    drawing.note(
        x=amount, y=label, xanchor="left", align="left", text=text, borderpad=0,
        bgcolor=look.color("background"),
    )  # fmt: skip


def flat_bars(drawing: Drawing, bars: Bars, look: Look, *, reach: float) -> dict[str, Any]:
    """Add flat bars up to `reach`, the first on top, with their totals; return their layout."""
    stack(drawing, bars, look, flat=True)
    for (label, _parts), amount in zip(bars, totals(bars), strict=True):
        text = f" {look.format_bytes(amount)}"
        write_beside(drawing, amount, label, text, look)
    layout = look.layout()
    bare = {"zeroline": False, "showgrid": False, "fixedrange": True, "ticks": ""}
    across = {"range": [0, reach], "showticklabels": False}
    return layout | {
        "barmode": "stack",
        "xaxis": layout["xaxis"] | bare | across,
        "yaxis": layout["yaxis"] | bare | {"autorange": "reversed"},
        "legend": layout["legend"] | {"traceorder": "normal"},
    }


def legend_below(look: Look) -> dict[str, Any]:
    """Return a legend at the picture's foot: above the bars stands the name of the capacity."""
    place = {"yref": "container", "y": 0, "yanchor": "bottom", "traceorder": "normal"}
    return {**look.layout()["legend"], **place}


def capacity_line(
    drawing: Drawing, capacity: float, text: str, look: Look, *, flat: bool, longest: float = 0.0
) -> None:
    """Add a line where a device is full, with its name at the end.

    Where flat bars run from left to right, `longest` is as far as their axis reaches.
    """
    low: dict[str, Any] = {"x0": capacity, "x1": capacity, "y0": 0, "y1": 1, "yref": "paper"}
    high: dict[str, Any] = {"y0": capacity, "y1": capacity, "x0": 0, "x1": 1, "xref": "paper"}
    line = {"color": look.color("text"), "width": 2, "dash": "dash"}
    drawing.shape(type="line", line=line, **(low if flat else high))
    if flat:
        side = "left" if capacity < _NEAR_END * longest else "center"
        side = "right" if capacity > (1 - _NEAR_END) * longest > 0 else side
        drawing.note(x=capacity, y=1, yref="paper", xanchor=side, yanchor="bottom", text=text)
    else:
        drawing.note(
            x=1, xref="paper", y=capacity, xanchor="right", yanchor="bottom", text=text,
            bgcolor=look.color("background"), borderpad=0,
        )  # fmt: skip


def parts_table(bars: Bars, look: Look, title: str) -> Table:
    """Return one row a bar: its label under the title, each part, the total."""
    columns = {
        _(name): [look.format_bytes(part_bytes(parts, name)) for _label, parts in bars]
        for name in part_names(bars)
    }
    sums = [look.format_bytes(amount) for amount in totals(bars)]
    return {title: [label for label, _parts in bars], **columns, _("total"): sums}


def by_meaning(parts: Sequence[Item]) -> dict[str, int]:
    """Return the bytes of each colour, in the order of LOOKS: weights and gathered ones are one."""
    found: dict[str, int] = {}
    for name in part_names([("", parts)]):
        meaning = LOOKS.get(name, _OTHER)[0]
        found[meaning] = found.get(meaning, 0) + part_bytes(parts, name)
    return found
