"""The answer: windows of the text, and the same windows one token later."""

import html
from collections.abc import Sequence
from typing import Any, Final

from core.figures.picture import Drawing, Look, Picture
from core.figures.theme import CODE_FAMILY
from core.language import N_, _
from core.train.text.batches import Window, step_items
from core.train.text.pieces import SIGNS_TOLD, visible
from core.train.text.tokenizers import Piece, pieces_of
from core.units import format_exact
from pages.shared.settings import look, presenting
from pages.shared.tabbed_page import Chart, Shown, Tab
from pages.train.data_and_batches.inputs import Case

_CODE: Final = """
import torch

num_tokens, batch_size, seq_len = {num_tokens}, {batch_size}, {seq_len}
data = torch.arange(num_tokens)  # the ids of a text stand here
generator = torch.Generator().manual_seed({seed})
starts = torch.randint(num_tokens - seq_len, (batch_size,), generator=generator)
starts[0] = {start}  # the row that is moved by hand
x = torch.stack([data[i : i + seq_len] for i in starts])
y = torch.stack([data[i + 1 : i + 1 + seq_len] for i in starts])
print(x.numel(), "inputs,", y.numel(), "targets;", num_tokens - seq_len, "starts")
"""


def windows_tab(case: Case) -> Shown:
    start, count = case.windows[0].start, len(case.tokens)
    first = max(start - MARGIN, 0)
    ids = case.tokens[first : start + case.seq_len + 1 + MARGIN].tolist()
    around = pieces_of(case.tokenizer, ids)
    targets, starts = step_items(count, case.seq_len, case.batch_size)
    num_bytes = sum(len(piece.raw) for window in case.windows for piece in window.inputs)
    return Shown(
        headline=_(
            "A step reads {rows} × {length} = {targets} tokens ({bytes} bytes) and predicts the "
            "next of each"
        ).format(
            rows=case.batch_size, length=case.seq_len, targets=format_exact(int(targets.amount)),
            bytes=format_exact(num_bytes),
        ),
        charts=[
            Chart(
                picture=windows_picture(case.windows, around, first, count, look()),
                file_name="windows",
            )
        ],
        numbers=[(_("Targets of a step"), targets), (_("Possible starts"), starts)],
        numbers_below=True,
        notes=[] if presenting() else [
            _(SIGNS_TOLD),
            _("Token {last}, the last one, is a target and never an input: behind it there is "
              "nothing to predict. A `get_batch` that draws `randint(len(data) - L)` and returns "
              "no targets leaves it out for no reason: max index {before} of {last}.").format(
                last=format_exact(count - 1), before=format_exact(count - 2))
        ],
        code=_CODE.format(
            num_tokens=count, batch_size=case.batch_size, seq_len=case.seq_len, seed=case.seed,
            start=start,
        ),
    )  # fmt: skip


LINE_PX: Final = 33
PRESENT_LINE_PX: Final = 34
MARGIN: Final = 3  # columns left and right of the window, for the text around it
MOST_COLUMNS: Final = 16
MOST_ROWS: Final = 4
_ROW_LINES: Final = 2.5
_RIBBON: Final = 2.0
_FIRST_ROW: Final = 3.5


def windows_picture(
    windows: Sequence[Window], around: Sequence[Piece], first: int, num_tokens: int, look: Look
) -> Picture:
    """Return the ribbon of a text over the rows of a batch: inputs, and targets below them.

    `around`: the tokens of the text from `MARGIN` before the first window to `MARGIN` after its
        last target, as far as the text goes.
    """
    rows = windows[: MOST_ROWS - 1 if look.present else MOST_ROWS]
    columns = min(len(rows[0].inputs), MOST_COLUMNS - 5 if look.present else MOST_COLUMNS)
    drawing = Drawing()
    _draw_text(drawing, windows, num_tokens, columns, look)
    _draw_ribbon(drawing, rows[0], around, rows[0].start - first, columns, look)
    for number, window in enumerate(rows):
        _draw_row(drawing, window, number, columns, look)
    lines = _FIRST_ROW + _ROW_LINES * len(rows)
    still = {"visible": False, "fixedrange": True}
    fields = {
        "height": round(lines * (PRESENT_LINE_PX if look.present else LINE_PX)) + 8,
        "margin": {"l": 4, "r": 4, "t": 4, "b": 4},
        "xaxis": still | {"range": [-MARGIN, columns + 1 + MARGIN]},
        "yaxis": still | {"range": [lines, 0]},
        "showlegend": False,
    }
    return Picture(
        figure=drawing.figure(look.layout() | fields),
        alt=_sentence(windows, num_tokens),
        table={
            _("row"): list(range(1, len(windows) + 1)),
            _("first token"): [window.start for window in windows],
            _("inputs"): [seen(window.inputs) for window in windows],
            _("targets"): [seen(window.targets) for window in windows],
        },
    )


def seen(pieces: Sequence[Piece]) -> str:
    """Return tokens as text in which spaces and line ends can be seen, parted by bars."""
    return "|".join(visible(piece.text) for piece in pieces)


def _draw_text(
    drawing: Drawing, windows: Sequence[Window], num_tokens: int, columns: int, look: Look
) -> None:
    left, width = -MARGIN + 0.1, columns + 1 + 2 * MARGIN - 0.2
    drawing.shape(
        type="rect", x0=left, x1=left + width, y0=0.75, y1=1.15, fillcolor=look.color("surface"),
        line={"color": look.color("border"), "width": 1},
    )  # fmt: skip
    for number, window in reversed(list(enumerate(windows))):
        start = left + width * window.start / num_tokens
        end = start + max(width * len(window.pieces) / num_tokens, 0.08)
        drawing.shape(
            type="rect", x0=start, x1=end, y0=0.6, y1=1.3, opacity=0.9 if number == 0 else 0.45,
            fillcolor=look.color("axis_1"), line={"width": 0},
        )  # fmt: skip
    drawing.note(
        x=left, y=0.3, xanchor="left", font={"color": look.color("muted")},
        text=_("the text: {count} tokens; blue: what this step reads").format(
            count=f"{num_tokens:,}"
        ),
    )  # fmt: skip


def _draw_ribbon(
    drawing: Drawing, window: Window, around: Sequence[Piece], before: int, columns: int, look: Look
) -> None:
    pieces = around[: before + columns + 1 + MARGIN]
    cells = list(range(-before, len(pieces) - before))
    inside = [place for place in cells if 0 <= place < columns]
    _draw_cells(drawing, inside, _RIBBON, look.color("axis_1"), look)
    if columns in cells and columns == len(window.inputs):
        _draw_cells(drawing, [columns], _RIBBON, look.color("axis_2"), look)
    _draw_words(drawing, cells, pieces, _RIBBON, columns, look)


def _draw_row(drawing: Drawing, window: Window, number: int, columns: int, look: Look) -> None:
    top = _FIRST_ROW + _ROW_LINES * number
    roles = ((_("inputs"), window.inputs, "axis_1"), (_("targets"), window.targets, "axis_2"))
    for line, (role, pieces, color) in enumerate(roles):
        shown = pieces[:columns]
        _draw_cells(drawing, range(len(shown)), top + line, look.color(color), look)
        _draw_words(drawing, range(len(shown)), shown, top + line, columns, look)
        drawing.note(
            x=-0.15, y=top + line, xanchor="right", text=f"<b>{number + 1}</b> {role}",
            font={"color": look.color(color)},
        )  # fmt: skip
        if len(pieces) > columns:
            drawing.note(x=columns + 0.1, y=top + line, xanchor="left", text="…")
    for place in range(columns - 1 if number == 0 else 0):  # the same token, one place earlier
        drawing.shape(
            type="line", x0=place + 1.5, x1=place + 0.5, y0=top + 0.36, y1=top + 0.64,
            line={"color": look.color("muted"), "width": 2},
        )  # fmt: skip


def _draw_cells(
    drawing: Drawing, places: Sequence[int], line: float, color: str, look: Look
) -> None:
    top, bottom = line - 0.36, line + 0.36
    path = "".join(
        f"M{place + 0.04},{top}H{place + 0.96}V{bottom}H{place + 0.04}Z" for place in places
    )
    if path:
        drawing.shape(
            type="path", path=path, layer="below", fillcolor=look.color("surface"),
            line={"color": color, "width": 3 if look.present else 2},
        )  # fmt: skip


def _draw_words(
    drawing: Drawing,
    places: Sequence[int],
    pieces: Sequence[Piece],
    line: float,
    columns: int,
    look: Look,
) -> None:
    room = max(2, (50 if look.present else 96) // (columns + 1 + 2 * MARGIN))
    drawing.scatter(
        x=[place + 0.5 for place in places],
        y=[line] * len(pieces),
        mode="text",
        text=[html.escape(_cut(piece, room), quote=False) for piece in pieces],
        textfont={"family": CODE_FAMILY, "size": look.layout()["font"]["size"]},
        customdata=[
            [html.escape(visible(piece.text), quote=False), piece.token_id] for piece in pieces
        ],
        hovertemplate=_("token {number}").format(number="%{customdata[1]}")
        + ": %{customdata[0]}<extra></extra>",
    )


def _cut(piece: Piece, room: int) -> str:
    word = visible(piece.text) if piece.is_text else visible(piece.text).strip("<>")
    return word if len(word) <= room else word[: room - 1] + "…"


def _sentence(windows: Sequence[Window], num_tokens: int) -> str:
    first = windows[0]
    values: dict[str, Any] = {
        "count": f"{num_tokens:,}",
        "rows": len(windows),
        "start": f"{first.start:,}",
        "inputs": seen(first.inputs[:MOST_COLUMNS]),
        "targets": seen(first.targets[:MOST_COLUMNS]),
    }
    return _(
        "A text of {count} tokens and the {rows} windows of a batch. Row 1 begins at token "
        "{start}: inputs {inputs}, and below each its target: {targets}."
    ).format(**values)


TAB: Final = Tab(label=N_("Windows"), show=windows_tab)
