"""What the operands of a broadcast weigh: as they lie, and written out."""

from collections.abc import Mapping
from typing import Final

from core.figures.picture import Drawing, Look, Picture
from core.language import _
from core.tensors.broadcasting import Broadcast

HEIGHT_PX: Final = 330


def bytes_picture(case: Broadcast, look: Look) -> Picture:
    """Return two bars an operand on an axis in powers of two: stored, and written out.

    Raises:
        ValueError: If the shapes do not go together.
    """
    if case.result is None:
        raise ValueError("shapes that do not go together are not written out")
    layout, drawing = look.layout(), Drawing()
    amounts = {
        _("stored bytes"): [each.stored.num_bytes for each in case.operands],
        _("bytes written out"): [each.read.num_bytes for each in case.operands],
    }
    names = [f"<b>{each.name}</b> {each.stored.shape} " for each in case.operands]
    for (label, sizes), fill in zip(amounts.items(), ("accent", "surface"), strict=True):
        _draw_bars(drawing, label, dict(zip(names, sizes, strict=True)), fill, look)
    most = max(each.read.num_bytes for each in case.operands)
    still = {"fixedrange": True, "zeroline": False, "showgrid": False}
    fields = {
        "xaxis": layout["xaxis"]
        | still
        | {"type": "log", "showticklabels": False, "range": [0, len(str(max(most, 1))) + 1.5]},
        "yaxis": layout["yaxis"] | still | {"autorange": "reversed"},
        "height": HEIGHT_PX,
        "bargap": 0.35,
        "margin": {"l": 8, "r": 8, "t": 2.4 * layout["font"]["size"], "b": 8},
    }
    written = {label: list(map(look.format_bytes, each)) for label, each in amounts.items()}
    return Picture(
        figure=drawing.figure(layout | fields),
        alt=_sentence(case, look),
        table={
            _("tensor"): [each.name for each in case.operands],
            _("Shape"): [str(each.stored.shape) for each in case.operands],
            _("strides when read"): [str(each.read.stride) for each in case.operands],
            **written,
        },
    )


def _draw_bars(
    drawing: Drawing, label: str, sizes: Mapping[str, int], fill: str, look: Look
) -> None:
    drawing.bar(
        orientation="h",
        name=label,
        x=[max(size, 1) for size in sizes.values()],
        y=list(sizes),
        text=[f" {look.format_bytes(size)}" for size in sizes.values()],
        textposition="outside",
        cliponaxis=False,
        marker={
            "color": look.color(fill),
            "line": {"color": look.color("accent"), "width": 2},
        },
        hovertemplate="%{text}<extra></extra>",
    )


def _sentence(case: Broadcast, look: Look) -> str:
    parts = [
        _("{name} {shape} stores {stored}, and would be {whole} written out").format(
            name=each.name,
            shape=each.stored.shape,
            stored=look.format_bytes(each.stored.num_bytes),
            whole=look.format_bytes(each.read.num_bytes),
        )
        for each in case.operands
    ]
    return _("{parts}.").format(parts=_("; ").join(parts))
