"""Bars: gradient norms layer by layer, and the bytes of an optimizer's state."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from core.figures.picture import Drawing, Look, Picture
from core.figures.train.curves import decades
from core.language import _
from core.train.optimizers.gradient_norms import ClippedNorms
from core.train.optimizers.state_bytes import HeldBytes

HEIGHT_PX: Final = 330
SMALLEST: Final = 1e-38  # below it a bar of a logarithmic axis has no end


def norms_picture(norms: ClippedNorms, look: Look) -> Picture:
    """Return each layer's gradient norm before and after clipping."""
    layers = [str(layer + 1) for layer in range(len(norms.before))]
    before, after = _("before clipping"), _("after clipping")
    layout, drawing = look.layout(), Drawing()
    rows = ((before, norms.before, "surface"), (after, norms.after, "gradients"))
    for name, values, fill in rows:
        drawing.bar(
            x=layers, y=[max(value, SMALLEST) for value in values], name=name,
            hovertemplate="%{x}: %{y:.3g}<extra></extra>",
            marker={"color": look.color(fill),
                    "line": {"color": look.color("gradients"), "width": 1.5}},
        )  # fmt: skip
    fields = _frame(layout, x=_("layer"), y=_("gradient norm")) | {"barmode": "group"}
    fields["yaxis"] |= decades([max(each, SMALLEST) for each in (*norms.before, *norms.after)])
    return Picture(
        figure=drawing.figure(layout | fields),
        alt=_(
            "Gradient norms of {count} layers: {first} in the first and {last} in the last; "
            "together {total} before clipping and {clipped} after."
        ).format(
            count=len(layers),
            first=f"{norms.before[0]:.3g}",
            last=f"{norms.before[-1]:.3g}",
            total=f"{norms.total_before:.3g}",
            clipped=f"{norms.total_after:.3g}",
        ),
        table={_("layer"): layers, before: norms.before, after: norms.after},
    )


def state_picture(rows: Sequence[HeldBytes], look: Look) -> Picture:
    """Return the bytes of state for one weight, an optimizer a bar."""
    layout, drawing = look.layout(), Drawing()
    names, amounts = [row.name for row in rows], [row.per_parameter for row in rows]
    kept = [_(", ").join(name for name, _size in row.tensors) or _("nothing") for row in rows]
    labels = [
        f"{amount:g} B" if look.present else f"{amount:g} B<br>{what.replace(', ', ',<br>')}"
        for amount, what in zip(amounts, kept, strict=True)
    ]
    drawing.bar(
        x=names, y=amounts, text=labels, textposition="outside", cliponaxis=False,
        constraintext="none", marker={"color": look.color("optimizer")}, customdata=kept,
        hovertemplate="%{x}: %{y} B<br>%{customdata}<extra></extra>",
    )  # fmt: skip
    fields = _frame(layout, x="", y=_("bytes per parameter"))
    fields["yaxis"] |= {"range": [0, max(amounts) * 1.4]}
    said = _("{name} {amount} ({what})")
    parts = [
        said.format(name=name, amount=f"{amount:g}", what=what)
        for name, amount, what in zip(names, amounts, kept, strict=True)
    ]
    return Picture(
        figure=drawing.figure(layout | fields),
        alt=_("Bytes of optimizer state for one float32 weight: {parts}.").format(
            parts=_("; ").join(parts)
        ),
        table={
            _("optimizer"): names,
            _("bytes of state per parameter"): amounts,
            _("tensors"): kept,
        },
    )


def _frame(layout: Mapping[str, Any], x: str, y: str) -> dict[str, Any]:
    return {
        "height": HEIGHT_PX,
        "margin": {"l": 8, "r": 8, "t": layout["font"]["size"] * 2.6, "b": 8},
        "xaxis": layout["xaxis"] | {"title": {"text": x}, "fixedrange": True},
        "yaxis": layout["yaxis"] | {"title": {"text": y}, "fixedrange": True, "zeroline": False},
    }
