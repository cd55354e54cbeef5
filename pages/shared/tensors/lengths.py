"""The last two dimensions of a tensor `x`: a slider for each."""

from collections.abc import Sequence
from typing import Final

from core.language import _
from pages.shared.inputs import Inputs

LENGTHS: Final = (  # of a tensor whose memory is drawn
    *range(1, 17), 18, 20, 24, 32, 48, 64, 96, 128, 256, 512, 768, 1024, 2048, 4096, 8192,
    128256,
)  # fmt: skip


def ask_last_lengths(
    ask: Inputs, stops: Sequence[int], default: tuple[int, ...]
) -> tuple[int, ...]:
    """Ask for both lengths, under the settings `columns` and `rows`; the first may be left out."""
    *_leading, rows, columns = default
    last = ask.select_slider("columns", _("Last dimension of x"), stops, default=columns)
    before = ask.select_slider(
        "rows",
        _("Dimension before it"),
        (0, *stops),
        default=rows,
        labels=lambda length: str(length) if length else _("none"),
    )
    return (before, last) if before else (last,)


def length_settings(shape: Sequence[int]) -> dict[str, object]:
    """Return what an example of this shape writes into the two."""
    return {"columns": shape[-1], "rows": shape[-2] if len(shape) > 1 else 0}
