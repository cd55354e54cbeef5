"""What tokens take in a file, in each dtype."""

from collections.abc import Sequence
from typing import Final

from core.budget import Item
from core.figures.picture import Drawing, Look, Picture
from core.language import _
from core.units import format_bytes, format_exact

HEIGHT_PX: Final = 250


def files_picture(sizes: Sequence[Item], look: Look) -> Picture:
    """Return a bar a dtype, as long as the file of the tokens; in kB or TB, as data sets are.

    Args:
        sizes: Named by dtype, in bytes.
        look: How the reader wants to see.
    """
    layout, drawing = look.layout(), Drawing()
    written = [format_bytes(size.amount, "GB") for size in sizes]
    drawing.bar(
        orientation="h", x=[size.amount for size in sizes], y=[size.name + " " for size in sizes],
        text=[f" {text}" for text in written], textposition="outside", cliponaxis=False,
        marker={"color": look.color("surface"),
                "line": {"color": look.color("accent"), "width": 2}},
        hovertemplate="%{y}: %{x:,} B<extra></extra>",
    )  # fmt: skip
    longest = max(size.amount for size in sizes)
    still = {"fixedrange": True, "showgrid": False, "zeroline": False}
    fields = {
        "height": HEIGHT_PX,
        "xaxis": layout["xaxis"] | still | {"showticklabels": False, "range": [0, longest * 1.2]},
        "yaxis": layout["yaxis"] | still | {"autorange": "reversed", "type": "category"},
        "margin": {"l": 8, "r": 8, "t": 8, "b": 8},
    }
    parts = [f"{size.name} {text}" for size, text in zip(sizes, written, strict=True)]
    return Picture(
        figure=drawing.figure(layout | fields),
        alt=_("The file of the tokens in each dtype: {sizes}.").format(sizes=_(", ").join(parts)),
        table={
            "dtype": [size.name for size in sizes],
            _("bytes"): [format_exact(int(size.amount)) for size in sizes],
        },
    )
