"""The proof as marks: a column a format, a row for each who was asked."""

from collections.abc import Mapping, Sequence
from typing import Final

import plotly.graph_objects as go

from core.dtypes.libraries.oracles import SPECIFICATION
from core.dtypes.libraries.proof_rows import ProofRow
from core.figures.dtypes.rounding_and_overflow.mark_matrix import Look, Mark, mark_matrix
from core.figures.theme import Mode
from core.language import N_, _

_ACTIONS: Final[Mapping[str, str]] = {
    "decode": N_("decode: {who}"),
    "encode": N_("encode: {who}"),
    "back": N_("decode, encode again"),
}
_ROWS: Final = tuple(
    (direction, who)
    for direction in ("decode", "encode")
    for who in ("specification", "ml_dtypes, numpy", "torch")
)


def proof_matrix(
    rows: Sequence[ProofRow], mode: Mode = "light", *, present: bool = False
) -> go.Figure:
    """Draw a mark for each comparison: no mismatch, none but known errors, or mismatches.

    Args:
        rows: The comparisons, the controls apart.
        mode: "light" or "dark".
        present: Larger text for a projector.
    """
    names = dict.fromkeys(row.format for row in rows)
    found = {(_line(row), row.format): row for row in rows}
    lines = [_line_words(*pair) for pair in (*_ROWS, ("back", ""))]
    marks = {
        (line, name): Mark(kind=_kind(row), hover=comparison_words(row))
        for line in lines
        for name in names
        if (row := found.get((line, name))) is not None
    }
    looks = {
        "same": Look(words=_("no mismatch"), symbol="circle", meaning="works"),
        "known": Look(
            words=_("none but known library errors"), symbol="diamond-open", meaning="converted"
        ),
        "wrong": Look(words=_("mismatches"), symbol="x-thin", meaning="refused"),
    }
    figure = mark_matrix(marks, looks, mode, present=present, slanted=True)
    # The first row has few formats: the order is that of all of them.
    figure.update_xaxes(categoryarray=list(names))
    return figure


def _kind(row: ProofRow) -> str:
    if row.num_mismatches:
        return "wrong"
    return "known" if row.num_known else "same"


def _line(row: ProofRow) -> str:
    return _line_words(row.direction, _who(row.oracle))


def _line_words(direction: str, who: str) -> str:
    return _(_ACTIONS[direction]).format(who=_("specification") if who == "specification" else who)


def _who(oracle: str) -> str:
    if oracle == SPECIFICATION:
        return "specification"
    return "torch" if oracle.startswith("torch") else "ml_dtypes, numpy" if oracle else ""


def comparison_words(row: ProofRow) -> str:
    """Return one comparison in words, for a hover."""
    lines = [
        f"<b>{row.format}</b> · {_line(row)}",
        _("{tried} tried, for {all}; {mismatches} mismatches").format(
            tried=f"{row.num_inputs:,}",
            all=f"{row.represents:,}",
            mismatches=f"{row.num_mismatches:,}",
        ),
    ]
    lines += [f"{row.num_known:,}: {_(reason)}" for reason in row.reasons]
    return "<br>".join(lines)


def proof_alt(rows: Sequence[ProofRow]) -> str:
    """Return the picture as a sentence."""
    return _(
        "{formats} formats, {comparisons} comparisons: {wrong} with mismatches, {known} with "
        "known library errors only."
    ).format(
        formats=len({row.format for row in rows}),
        comparisons=len(rows),
        wrong=sum(row.num_mismatches > 0 for row in rows),
        known=sum(_kind(row) == "known" for row in rows),
    )
