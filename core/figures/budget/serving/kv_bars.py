"""What each kind of attention keeps of a context, in 16 bits and in another format."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

import plotly.graph_objects as go

from core.budget.serving.kv_cache import AS_MADE, KVVariant
from core.figures.drawing import Drawing
from core.figures.theme import COLORS, Mode, plotly_layout
from core.language import N_, _, ngettext
from core.units import ByteUnit, format_bytes

_ROOM: Final = 1.18  # of the longest bar: its number stands beside it
_ROW_HEIGHT: Final = 2.1  # of the text's size
MOST_HEIGHT_PX: Final = 310
_LOOKS: Final = (
    (N_("keys and values"), "kv_cache", "", ("keys and values", "keys and values in windows")),
    (N_("scales"), "gradients", "/", ("scales", "scales in windows")),
)


def variant_label(variant: KVVariant) -> str:
    """Return what a bar is called: kind of attention, key heads, format."""
    name = _(variant.name)
    if variant.num_kv_heads:
        heads = ngettext("{count} key head", "{count} key heads", variant.num_kv_heads)
        name = f"{name}, {heads.format(count=variant.num_kv_heads)}"
    elif variant.name == AS_MADE:
        name = _("as made: latent vector")
    return f"{name} · {variant.kv_format}"


def kv_figure(
    variants: Sequence[KVVariant], unit: ByteUnit, mode: Mode, *, present: bool = False
) -> go.Figure:
    """Return one bar a kind and format, cut into keys and values, and scales."""
    layout = plotly_layout(mode, present=present)
    drawing = Drawing()
    _draw_bars(drawing, variants, unit, COLORS[mode])
    size = layout["font"]["size"]
    longest = max(variant.cache.amount for variant in variants)
    bars = {"autorange": "reversed", "showgrid": False, "fixedrange": True}
    return drawing.figure(
        layout
        | {
            "template": "none",
            "barmode": "stack",
            "xaxis": {"visible": False, "range": [0, _ROOM * longest], "fixedrange": True},
            "yaxis": layout["yaxis"] | bars,
            "height": min(round(len(variants) * size * _ROW_HEIGHT) + 4 * size, MOST_HEIGHT_PX),
            "bargap": 0.25,
            "margin": {"l": 8, "r": 8, "t": 32, "b": 8},
        }
    )


def _draw_bars(
    drawing: Drawing, variants: Sequence[KVVariant], unit: ByteUnit, color: Mapping[str, str]
) -> None:
    labels = [variant_label(variant) for variant in variants]
    for name, token, pattern, parts in _LOOKS:
        amounts = [_part(variant, parts) for variant in variants]
        if any(amounts):
            drawing.bar(
                orientation="h",
                y=labels,
                x=amounts,
                name=_(name),
                marker={"color": color[token], "pattern": {"shape": pattern}},
                customdata=[format_bytes(amount, unit) for amount in amounts],
                hovertemplate="%{y}: %{customdata}<extra>%{fullData.name}</extra>",
            )
    for label, variant in zip(labels, variants, strict=True):
        drawing.note(**_amount(label, variant, unit))


def _part(variant: KVVariant, names: Sequence[str]) -> float:
    return sum(child.amount for child in variant.cache.children if child.name in names)


def _amount(label: str, variant: KVVariant, unit: ByteUnit) -> dict[str, Any]:
    text = " " + format_bytes(variant.cache.amount, unit)
    if variant.name == AS_MADE:
        text = f"<b>{text}</b>"
    return {"x": variant.cache.amount, "y": label, "text": text, "xanchor": "left"}


def kv_alt(variants: Sequence[KVVariant], unit: ByteUnit) -> str:
    """Return the picture in words."""
    parts = [
        f"{variant_label(variant)} {format_bytes(variant.cache.amount, unit)}"
        for variant in variants
    ]
    return _("KV cache of one sequence: {parts}.").format(parts=_(", ").join(parts))


def kv_table(variants: Sequence[KVVariant], unit: ByteUnit) -> Mapping[str, Sequence[object]]:
    """Return one row a bar."""
    columns = {
        _(name): [format_bytes(_part(variant, parts), unit) for variant in variants]
        for name, _token, _pattern, parts in _LOOKS
    }
    totals = [format_bytes(variant.cache.amount, unit) for variant in variants]
    return {
        _("attention"): [variant_label(variant) for variant in variants],
        **columns,
        _("total"): totals,
    }
