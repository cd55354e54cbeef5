"""One model in several formats: a bar each, against the memories of devices."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from core.budget.budget import Verdict, verdict_of
from core.budget.item import Item, hedged
from core.figures.picture import Drawing, Look, Picture, Table
from core.language import N_, _

PART_NAMES: Final[Mapping[str, str]] = {
    "codes": N_("codes"),
    "scales": N_("scales"),
    "matrices": N_("matrices of the layers"),
    "more bits": N_("values and down projections with more bits"),
    "the rest": N_("embeddings, head and norms"),
}
_CHILDREN: Final = {
    "scales": ("scales", "zero points", "scales of the scales", "groups of the inputs"),
    "matrices": ("matrices of the layers",),
    "more bits": ("values and down projections with more bits", "values that several heads share"),
    "the rest": ("the rest", "token embedding", "head", "norms and biases"),
}
_LOOKS: Final = {
    "codes": ("weights", ""),
    "scales": ("gradients", "/"),
    "matrices": ("weights", ""),
    "more bits": ("gradients", "/"),
    "the rest": ("kv_cache", "\\"),
}
_ROW_HEIGHT: Final = {False: 2.5, True: 2.1}  # of the text's size; on a projector True
_ROOM: Final = (
    1.5  # of the longest bar: its number and verdict (a mark on a projector) stand beside
)
_FARTHEST: Final = 3.0  # times the longest bar: a line beyond is told in words
_GAP: Final = 0.13  # of the width: labels of lines nearer to each other would run together
Items = Mapping[str, Item]  # format -> the bytes behind it, wide to narrow


@dataclass(frozen=True, slots=True)
class Line:
    """A memory in a picture: a name that everybody reads alike, and its bytes."""

    name: str
    num_bytes: float

    def holds(self, need: Item) -> Verdict:
        """Return whether it holds what is needed."""
        return verdict_of(need, self.num_bytes, (0.0, 0.0))


def one_model_picture(
    model: str, items: Items, chosen: Line, landmarks: Sequence[Line], look: Look
) -> Picture:
    """Return one bar a format, its size and verdict beside it, and a line for each memory.

    The verdicts speak of the memory `chosen`, whose line is bold; `landmarks` come the most welcome
    first, and those that would run together are left out.
    """
    layout = look.layout()
    drawing = Drawing()
    end = axis_end(items, chosen)
    _draw_bars(drawing, items, look)
    _draw_verdicts(drawing, items, chosen, look)
    for line in seen_lines(chosen, landmarks, end):
        _draw_line(drawing, line, look, bold=line is chosen)
    if chosen.num_bytes > end:
        drawing.note(
            xref="paper",
            x=1,
            yref="paper",
            y=1,
            xanchor="right",
            yanchor="bottom",
            text=f"<b>{chosen.name}</b>: {look.format_bytes(chosen.num_bytes)} →",
            font={"color": look.color("accent")},
        )
    size = layout["font"]["size"]
    axes = {
        "xaxis": {"visible": False, "range": [0, end], "fixedrange": True},
        "yaxis": layout["yaxis"] | {"autorange": "reversed", "showgrid": False, "fixedrange": True},
        "height": round((len(items) * _ROW_HEIGHT[look.present] + 5.4) * size),
        "legend": layout["legend"] | {"y": 0, "yanchor": "top", "traceorder": "normal"},
        "margin": {"l": 8, "r": 8, "t": round(2.9 * size), "b": round(2.4 * size)},
    }
    figure = drawing.figure(layout | axes | {"barmode": "stack", "bargap": 0.3})
    alt = _sentence(model, items, chosen, look)
    return Picture(figure=figure, alt=alt, table=_table(items, chosen, look))


def axis_end(items: Items, chosen: Line) -> float:
    """Return the bytes at the right edge: room for every number, and for a memory not far off."""
    longest = max(item.amount for item in items.values())
    near = chosen.num_bytes <= _FARTHEST * longest
    return max(_ROOM * longest, 1.12 * chosen.num_bytes if near else 0)


def seen_lines(chosen: Line, landmarks: Sequence[Line], end: float) -> tuple[Line, ...]:
    """Return the lines that have room: the chosen one first, then the others in their order."""
    kept: list[Line] = []
    for line in (chosen, *landmarks):
        inside = 0.04 * end < line.num_bytes <= 0.96 * end
        clear = all(abs(line.num_bytes - other.num_bytes) >= _GAP * end for other in kept)
        if inside and clear:
            kept.append(line)
    return tuple(kept)


def part_bytes(item: Item, part: str) -> int:
    """Return the bytes of a part of stored weights, one of `PART_NAMES`."""
    wanted = _CHILDREN.get(part, (part,))
    return sum(child.num_bytes for child in item.walk() if child.name in wanted)


def _draw_bars(drawing: Drawing, items: Items, look: Look) -> None:
    for part, (meaning, pattern) in _LOOKS.items():
        sizes = [part_bytes(item, part) for item in items.values()]
        if not any(sizes):
            continue
        drawing.bar(
            orientation="h",
            y=list(items),
            x=sizes,
            name=_(PART_NAMES[part]),
            marker={"color": look.color(meaning), "pattern": {"shape": pattern}},
            customdata=[look.format_bytes(size) for size in sizes],
            hovertemplate="%{y}: %{customdata}<extra>%{fullData.name}</extra>",
            showlegend=True,
        )


def _draw_verdicts(drawing: Drawing, items: Items, chosen: Line, look: Look) -> None:
    for name, item in items.items():
        said = verdict(item, chosen)
        size = hedged(look.format_bytes(item.amount), item)
        words = f"<b>{size}</b>  {said[0] if look.present else said}"
        drawing.note(
            x=item.amount,
            y=name,
            text=f" {words} ",
            xanchor="left",
            bgcolor=look.color("background"),
            font={"color": look.color("text")},
            borderpad=1,
        )


def _draw_line(drawing: Drawing, line: Line, look: Look, *, bold: bool) -> None:
    color = look.color("accent" if bold else "muted")
    drawing.shape(
        type="line",
        layer="below" if not bold else "between",
        x0=line.num_bytes,
        x1=line.num_bytes,
        yref="paper",
        y0=0,
        y1=1,
        line={"color": color, "width": 3 if bold else 1.5, "dash": "solid" if bold else "dot"},
    )
    name = f"<b>{line.name}</b>" if bold else line.name
    drawing.note(
        x=line.num_bytes,
        yref="paper",
        y=1,
        yanchor="bottom",
        text=f"{name}<br>{look.format_bytes(line.num_bytes)}",
        font={"color": color},
    )


def _sentence(model: str, items: Items, chosen: Line, look: Look) -> str:
    parts = [
        f"{name} {hedged(look.format_bytes(item.amount), item)} {verdict(item, chosen)}"
        for name, item in items.items()
    ]
    return _("Weights of {model} against {device} with {memory}: {parts}.").format(
        model=model,
        device=chosen.name,
        memory=look.format_bytes(chosen.num_bytes),
        parts=_(", ").join(parts),
    )


def _table(items: Items, chosen: Line, look: Look) -> Table:
    columns = {
        _(title): [look.format_bytes(part_bytes(item, part)) for item in items.values()]
        for part, title in PART_NAMES.items()
        if any(part_bytes(item, part) for item in items.values())
    }
    return {
        _("weights in"): list(items),
        **columns,
        _("total"): [look.format_bytes(item.amount) for item in items.values()],
        chosen.name: [verdict(item, chosen) for item in items.values()],
        _("formula"): [_joined(item, "formula") for item in items.values()],
        _("with numbers"): [_joined(item, "substituted") for item in items.values()],
    }


def _joined(item: Item, what: str) -> str:
    parts = [getattr(part, what) for part in item.walk() if part.rule is not None]
    return " + ".join(parts).replace("*", "×")


def verdict(weights: Item, chosen: Line) -> str:
    """Return whether weights fit into the chosen memory, or into how many of them at least."""
    num_bytes, is_sure = weights.amount, chosen.holds(weights) != "close"
    if num_bytes <= chosen.num_bytes:
        return _("✓ fits") if is_sure else _("≈ may fit")
    if not is_sure:
        return _("≈ may not fit")
    if not chosen.num_bytes:
        return _("✗ no memory")
    needed = -int(-num_bytes // chosen.num_bytes)
    return _("✗ ≥ {count} devices").format(count=f"{needed:,}")
