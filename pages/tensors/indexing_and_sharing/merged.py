"""Heads merged with and without the transpose: both run, one is wrong."""

from collections.abc import Sequence
from typing import Final

from core.figures.picture import Drawing, Look, Picture, Table
from core.language import N_, _
from core.tensors.merged_heads import Merged, Place, merge_cost, merge_heads
from pages.shared.settings import look
from pages.shared.tabbed_page import Chart, Shown, Tab
from pages.shared.tensors.table_cells import size_text
from pages.tensors.indexing_and_sharing.inputs import ASK
from pages.tensors.indexing_and_sharing.maps import aside

GAP: Final = 0.14  # between the two pictures, as a share of the height
TINT: Final = 0.3
NARROW: Final = 8  # columns: more of them have no room for large words
Rows = Sequence[Sequence[Place]]
GPT_2: Final = {"batch": 2, "num_heads": 12, "num_tokens": 128, "head_dim": 64}


def choose_heads() -> tuple[int, int, int]:
    """Show the lengths of a small attention; return tokens, heads and the size of a head."""
    tokens = ASK.slider("tokens", _("Sequence length T"), 1, 6, default=4, step=1)
    heads = ASK.slider("heads", _("Heads H"), 1, 4, default=2, step=1)
    head_dim = ASK.slider("dim", _("Head size D"), 1, 3, default=3, step=1)
    return tokens, heads, head_dim


def merged(lengths: tuple[int, int, int]) -> Shown:
    tokens, heads, head_dim = lengths
    both = merge_heads(tokens, heads, head_dim)
    headline = _("reshape without transpose misplaces {count} of {total} elements")
    if not both.num_displaced:
        headline = _("Here both agree: 0 of {total} elements are misplaced")
    notes = [
        _("q has the shape (B, H, T, D) = (1, {heads}, {tokens}, {dim}). Both merges give "
          "(1, {tokens}, {width}) and no error; {mixed} rows of the second mix tokens.").format(
            heads=heads, tokens=tokens, dim=head_dim, width=len(both.right[0]),
            mixed=both.num_mixed_rows),
        _("The right one copies {size}; with the sizes of GPT-2, (2, 12, 128, 64) in float32, "
          "{large:,} B. The wrong one is a view: it is also the cheaper one.").format(
            size=size_text(both.bytes_copied), large=merge_cost(**GPT_2)),
    ]  # fmt: skip
    return Shown(
        headline=headline.format(count=both.num_displaced, total=both.num_elements),
        charts=[Chart(picture=heads_picture(both, look()), file_name="merged-heads")],
        notes=aside(notes),
        code=_snippet(tokens, heads, head_dim),
    )


def _snippet(tokens: int, heads: int, head_dim: int) -> str:
    return f"""
import torch

B, H, T, D = 1, {heads}, {tokens}, {head_dim}
q = torch.arange(B * H * T * D).view(B, H, T, D)
right = q.transpose(1, 2).reshape(B, T, H * D)
wrong = q.reshape(B, T, H * D)
print(int((right != wrong).sum()), "of", q.numel(), "elements misplaced")
"""


def heads_picture(merged: Merged, look: Look) -> Picture:
    """Return both merges below each other: a row a token, and which elements are misplaced."""
    layout, drawing = look.layout(), Drawing()
    parts = (
        ("q.transpose(1, 2).reshape(B, T, H·D)", merged.right, (0.5 + GAP / 2, 1.0)),
        ("q.reshape(B, T, H·D)", merged.wrong, (0.0, 0.5 - GAP / 2)),
    )
    num_rows, num_columns = len(merged.right), len(merged.right[0])
    for number, (title, rows, domain) in enumerate(parts):
        suffix = str(number + 1) if number else ""
        _draw_cells(
            drawing, rows, merged.right, look, {"xaxis": f"x{suffix}", "yaxis": f"y{suffix}"}
        )
        _draw_title(drawing, title, domain[1], look)
        layout[f"xaxis{suffix}"] = {"visible": False, "fixedrange": True, "anchor": f"y{suffix}",
                                    "range": [-0.5, num_columns - 0.5]}  # fmt: skip
        layout[f"yaxis{suffix}"] = layout["yaxis"] | {
            "domain": domain, "range": [num_rows - 0.5, -0.5], "fixedrange": True,
            "showgrid": False, "zeroline": False, "tickvals": list(range(num_rows)),
            "ticktext": [_("token {number}").format(number=row) for row in range(num_rows)],
        }  # fmt: skip
    height = 390 if look.present else 400
    layout |= {"height": height, "showlegend": False, "margin": {"l": 4, "r": 4, "t": 34, "b": 4}}
    return Picture(figure=drawing.figure(layout), alt=_sentence(merged), table=_table(merged))


def _draw_title(drawing: Drawing, title: str, top: float, look: Look) -> None:
    drawing.note(
        text=f"<b>{title}</b>", x=0, y=top, xref="paper", yref="paper", xanchor="left",
        yanchor="bottom", font={"color": look.color("text")},
    )  # fmt: skip


def _draw_cells(
    drawing: Drawing, rows: Rows, right: Rows, look: Look, axes: dict[str, str]
) -> None:
    """Tint each cell by whether its element belongs there, and write where it comes from."""
    at_home = [[place == own for place, own in zip(*pair, strict=True)]
               for pair in zip(rows, right, strict=True)]  # fmt: skip
    tints = [look.color("works"), look.color("refused")]
    drawing.trace(
        "heatmap",
        z=[[0 if home else 1 for home in cells] for cells in at_home],
        zmin=0,
        zmax=1,
        colorscale=[[0, tints[0]], [1, tints[1]]],
        opacity=TINT,
        showscale=False,
        xgap=2,
        ygap=2,
        hoverinfo="skip",
        **axes,
    )
    count = len(rows[0])
    drawing.scatter(
        x=list(range(count)) * len(rows),
        y=[row for row in range(len(rows)) for _column in range(count)],
        mode="text",
        text=[
            _cell_text(place, home=home, is_short=look.present and count > NARROW)
            for cells, homes in zip(rows, at_home, strict=True)
            for place, home in zip(cells, homes, strict=True)
        ],
        hovertext=[_hover(place) for cells in rows for place in cells],
        hoverinfo="text",
        textfont={"color": look.color("text")},
        **axes,
    )


def _cell_text(place: Place, *, home: bool, is_short: bool) -> str:
    text = f"t{place.token}" if is_short else f"t{place.token} h{place.head}"
    return text if home else f"<b>{text}</b>"


def _hover(place: Place) -> str:
    told = _("token {token}, head {head}, place {dim} in the head")
    return told.format(token=place.token, head=place.head, dim=place.dim)


def _sentence(merged: Merged) -> str:
    told = _(
        "Two tables of {rows} tokens by {columns} elements. With the transpose every row holds "
        "its own token. Without it {displaced} of {total} elements are misplaced, and {mixed} "
        "rows hold elements of other tokens."
    )
    return told.format(
        rows=len(merged.right),
        columns=len(merged.right[0]),
        displaced=merged.num_displaced,
        total=merged.num_elements,
        mixed=merged.num_mixed_rows,
    )


def _table(merged: Merged) -> Table:
    def words(rows: Rows) -> list[str]:
        return [f"t{place.token} h{place.head} d{place.dim}" for cells in rows for place in cells]

    count = len(merged.right[0])
    places = [(row, column) for row in range(len(merged.right)) for column in range(count)]
    return {
        _("Row"): [row for row, _column in places],
        _("Column"): [column for _row, column in places],
        _("With the transpose"): words(merged.right),
        _("Without it"): words(merged.wrong),
    }


TAB: Final = Tab(label=N_("Reshape is not transpose"), show=merged, choose=choose_heads)
