"""Serving memory over one setting, and what each kind of attention keeps of one sequence."""

from collections.abc import Mapping, Sequence
from typing import Final

from core.budget.serving.kv_cache import AS_MADE, KVVariant
from core.budget.serving.memory import Axis, MemorySweep
from core.figures.budget.flops_frame import framed
from core.figures.budget.serving.roofline import MARGIN
from core.figures.picture import Drawing, Look, Picture, Table
from core.language import N_, _, ngettext

HEIGHTS: Final = (330, 315)
MOST_HEIGHT_PX: Final = 310  # of the bars
AXIS_TITLES: Final[Mapping[Axis, str]] = {
    "context": N_("context length (tokens)"),
    "sequences": N_("concurrent sequences"),
}
_AREAS: Final = (
    (N_("weights"), "weights", ""),
    (N_("workspace"), "activations", "."),
    (N_("KV cache"), "kv_cache", "/"),
)
_AREA_ROOM: Final = 1.2  # of the highest thing: names stand above it
_WORDS_ROOM: Final = 0.6  # of the picture's width: two names stand side by side on the capacity
_WORDS_BELOW: Final = 0.89  # of the picture's height: where words at its top end
_FEW: Final = 9  # sequences: each has its tick
_SIDE: Final = 0.3  # of the picture's width: words at a line nearer to the left stand beside it
_BARS: Final = (
    (N_("keys and values"), "kv_cache", "", ("keys and values", "keys and values in windows")),
    (N_("scales"), "gradients", "/", ("scales", "scales in windows")),
)
_BAR_ROOM: Final = 1.18  # of the longest bar: its number stands beside it
_BAR_HEIGHT: Final = 2.1  # of the text's size


def memory_picture(sweep: MemorySweep, device: str, look: Look) -> Picture:
    """Return stacked areas against the capacity, the plan and the end marked.

    Args:
        sweep: What `core.budget.serving.memory` found.
        device: Name of the device.
        look: How the reader wants to see.
    """
    drawing = Drawing()
    for (word, meaning, pattern), amounts in zip(_AREAS, _parts(sweep), strict=True):
        color = look.color(meaning)
        drawing.scatter(
            x=sweep.values,
            y=[look.in_unit(amount) for amount in amounts],
            stackgroup="memory",
            mode="lines",
            name=_(word),
            line={"color": color, "width": 1.5},
            fillpattern={"shape": pattern, "fgcolor": color, "fillmode": "overlay", "size": 8},
            customdata=[look.format_bytes(amount) for amount in amounts],
            hovertemplate="%{x:,}: %{customdata}<extra>%{fullData.name}</extra>",
        )
    top = _AREA_ROOM * look.in_unit(max(sweep.capacity, _total(sweep, -1)))
    _draw_capacity(drawing, sweep, device, look, top)
    _draw_chosen(drawing, sweep, look)
    across: dict[str, object] = {"title": _(AXIS_TITLES[sweep.axis]), "tickformat": ",d"}
    across |= {"dtick": 1} if sweep.values[-1] < _FEW else {}  # no half sequences
    figure = framed(
        drawing,
        look,
        height=HEIGHTS[look.present],
        margin=MARGIN,
        x=across | {"showgrid": False, "range": [1, sweep.values[-1]]},
        y={"title": look.unit, "title_standoff": 8, "range": [0, top]},
    )
    alt = _memory_sentence(sweep, device, look)
    return Picture(figure=figure, alt=alt, table=_memory_table(sweep, look))


def _parts(sweep: MemorySweep) -> tuple[Sequence[float], ...]:
    return ([sweep.weights] * len(sweep.values), sweep.work_spaces, sweep.caches)


def _total(sweep: MemorySweep, place: int) -> float:
    return sweep.weights + sweep.caches[place] + sweep.work_spaces[place]


def chosen_bytes(sweep: MemorySweep) -> float:
    """Return the bytes of the plan."""
    return _total(sweep, sweep.values.index(sweep.chosen))


def _draw_capacity(
    drawing: Drawing, sweep: MemorySweep, device: str, look: Look, top: float
) -> None:
    """Draw the capacity, and a line where the areas cross it: its words lie on no area.

    They stand on the capacity where the areas reach it far enough to the right; else at the top of
    the picture, which the areas never reach.
    """
    height, color = look.in_unit(sweep.capacity), look.color("refused")
    line, font = {"color": color, "width": 3}, {"color": color}
    drawing.shape(type="line", line=line, xref="paper", x0=0, x1=1, y0=height, y1=height)
    name = f"{device}: {look.format_bytes(sweep.capacity)}"
    full = _("full at {value}").format(value=f"{'≈ ' if sweep.is_guess else ''}{sweep.largest:,}")
    share = sweep.largest / sweep.values[-1]
    is_free = share >= _WORDS_ROOM
    if 0 < share <= 1:
        end = height if is_free else _WORDS_BELOW * top
        dotted = {"color": color, "width": 2, "dash": "dot"}
        drawing.shape(type="line", line=dotted, x0=sweep.largest, x1=sweep.largest, y0=0, y1=end)
    if is_free:
        drawing.note(xref="paper", x=0.01, xanchor="left", **_on(height), text=name, font=font)
        if share <= 1:
            drawing.note(x=sweep.largest, xanchor="right", **_on(height), text=full, font=font)
        return
    text = _("{name}, {full}").format(name=name, full=full) if share else name
    side = "left" if share < _SIDE else "center"
    at_top = {"yref": "paper", "y": 1, "yanchor": "top"}
    drawing.note(x=max(1, sweep.largest), xanchor=side, **at_top, text=text, font=font)


def _on(height: float) -> dict[str, float | str]:
    return {"y": height, "yanchor": "bottom"}


def _draw_chosen(drawing: Drawing, sweep: MemorySweep, look: Look) -> None:
    """Mark the plan itself."""
    total, color = chosen_bytes(sweep), look.color("text")
    drawing.scatter(
        x=[sweep.chosen, sweep.chosen],
        y=[0, look.in_unit(total)],
        mode="lines+markers",
        name=_("your plan"),
        line={"color": color, "width": 2},
        marker={"color": color, "size": [0, 11], "symbol": "diamond"},
        customdata=[look.format_bytes(total)] * 2,
        hovertemplate="%{x:,}: %{customdata}<extra>%{fullData.name}</extra>",
    )


def _memory_sentence(sweep: MemorySweep, device: str, look: Look) -> str:
    words = {
        "weights": look.format_bytes(sweep.weights),
        "device": device,
        "capacity": look.format_bytes(sweep.capacity),
        "setting": _(AXIS_TITLES[sweep.axis]),
        "largest": f"{'≈ ' if sweep.is_guess else ''}{sweep.largest:,}",
    }
    if not sweep.largest:
        said = _(
            "Memory by {setting}: beside {weights} of weights nothing fits in the {capacity} of "
            "{device}."
        )
        if sweep.is_guess:
            said = _(
                "Memory by {setting}: beside {weights} of weights perhaps nothing fits in the "
                "{capacity} of {device}."
            )
        return said.format(**words)
    if sweep.largest > sweep.values[-1]:
        words["last"] = f"{sweep.values[-1]:,}"
        return _(
            "Memory by {setting}: {weights} of weights stay, the KV cache grows, and {device} "
            "with {capacity} is not full at {last} yet."
        ).format(**words)
    return _(
        "Memory by {setting}: {weights} of weights stay, the KV cache grows, and {device} with "
        "{capacity} is full at {largest}."
    ).format(**words)


def _memory_table(sweep: MemorySweep, look: Look) -> Table:
    """Return one row for each point of the picture."""
    columns = {
        _(name): [look.format_bytes(amount) for amount in amounts]
        for (name, *_look), amounts in zip(_AREAS, _parts(sweep), strict=True)
    }
    totals = [look.format_bytes(_total(sweep, place)) for place in range(len(sweep.values))]
    return {_(AXIS_TITLES[sweep.axis]): list(sweep.values), **columns, _("total"): totals}


def heads_picture(variants: Sequence[KVVariant], look: Look) -> Picture:
    """Return one bar a kind and format, cut into keys and values, and scales."""
    layout, drawing = look.layout(), Drawing()
    _draw_bars(drawing, variants, look)
    size = layout["font"]["size"]
    longest = max(variant.cache.amount for variant in variants)
    still = {"autorange": "reversed", "showgrid": False, "fixedrange": True}
    axes = {
        "barmode": "stack",
        "bargap": 0.25,
        "xaxis": {"visible": False, "range": [0, _BAR_ROOM * longest], "fixedrange": True},
        "yaxis": layout["yaxis"] | still,
        "height": min(round(len(variants) * size * _BAR_HEIGHT) + 4 * size, MOST_HEIGHT_PX),
        "margin": {"l": 8, "r": 8, "t": 32, "b": 8},
    }
    parts = [f"{variant_label(each)} {look.format_bytes(each.cache.amount)}" for each in variants]
    alt = _("KV cache of one sequence: {parts}.").format(parts=_(", ").join(parts))
    figure = drawing.figure(layout | axes)
    return Picture(figure=figure, alt=alt, table=_heads_table(variants, look))


def variant_label(variant: KVVariant) -> str:
    """Return what a bar is called: kind of attention, key heads, format."""
    name = _(variant.name)
    if variant.num_kv_heads:
        heads = ngettext("{count} KV head", "{count} KV heads", variant.num_kv_heads)
        name = f"{name}, {heads.format(count=variant.num_kv_heads)}"
    elif variant.name == AS_MADE:
        name = _("as made: latent vector")
    return f"{name} · {variant.kv_format}"


def _draw_bars(drawing: Drawing, variants: Sequence[KVVariant], look: Look) -> None:
    labels = list(map(variant_label, variants))
    for name, meaning, pattern, parts in _BARS:
        amounts = [_part(variant, parts) for variant in variants]
        if any(amounts):
            drawing.bar(
                orientation="h",
                y=labels,
                x=amounts,
                name=_(name),
                marker={"color": look.color(meaning), "pattern": {"shape": pattern}},
                customdata=list(map(look.format_bytes, amounts)),
                hovertemplate="%{y}: %{customdata}<extra>%{fullData.name}</extra>",
            )
    for label, variant in zip(labels, variants, strict=True):
        text = " " + look.format_bytes(variant.cache.amount)
        bold = f"<b>{text}</b>" if variant.name == AS_MADE else text
        drawing.note(x=variant.cache.amount, y=label, text=bold, xanchor="left")


def _part(variant: KVVariant, names: Sequence[str]) -> float:
    return sum(child.amount for child in variant.cache.children if child.name in names)


def _heads_table(variants: Sequence[KVVariant], look: Look) -> Table:
    """Return one row a bar."""
    columns = {
        _(name): [look.format_bytes(_part(variant, parts)) for variant in variants]
        for name, _meaning, _pattern, parts in _BARS
    }
    totals = [look.format_bytes(variant.cache.amount) for variant in variants]
    return {_("attention"): list(map(variant_label, variants)), **columns, _("total"): totals}
