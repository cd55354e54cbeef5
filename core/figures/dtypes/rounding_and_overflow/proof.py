"""The proof as marks: a column a format, a row for each who was asked."""

from collections.abc import Mapping, Sequence
from typing import Final

from core.dtypes.libraries.oracles import SPECIFICATION
from core.dtypes.libraries.proof_rows import ProofRow, proof_table
from core.figures.dtypes.rounding_and_overflow.matrix import Kind, Mark, mark_matrix
from core.figures.picture import Look, Picture
from core.language import N_, _

_ACTIONS: Final[Mapping[str, str]] = {
    "decode": N_("decode: {who}"),
    "encode": N_("encode: {who}"),
    "back": N_("decode, encode again"),
}
_LINES: Final = (
    *(("decode", who) for who in ("specification", "ml_dtypes, numpy", "torch")),
    *(("encode", who) for who in ("specification", "ml_dtypes, numpy", "torch")),
    ("back", ""),
)


def proof_picture(rows: Sequence[ProofRow], look: Look) -> Picture:
    """Return a mark for each comparison: no mismatch, none but known errors, or mismatches.

    The controls are not drawn.
    """
    real = [row for row in rows if not row.is_control]
    names = list(dict.fromkeys(row.format for row in real))
    found = {(_line(row), row.format): row for row in real}
    marks = {
        (line, name): Mark(kind=_kind(row), hover=comparison_words(row))
        for line in (_line_words(*pair) for pair in _LINES)
        for name in names
        if (row := found.get((line, name))) is not None
    }
    known = _("none but known library errors")
    kinds = {
        "same": Kind(words=_("no mismatch"), symbol="circle", meaning="works"),
        "known": Kind(words=known, symbol="diamond-open", meaning="converted"),
        "wrong": Kind(words=_("mismatches"), symbol="x-thin", meaning="refused"),
    }
    alt = _(
        "{formats} formats, {comparisons} comparisons: {wrong} with mismatches, {known} with "
        "known library errors only."
    ).format(
        formats=len(names),
        comparisons=len(real),
        wrong=sum(row.num_mismatches > 0 for row in real),
        known=sum(_kind(row) == "known" for row in real),
    )
    figure = mark_matrix(marks, kinds, look, slanted=True, order=names)
    return Picture(figure=figure, alt=alt, table=proof_table(rows))


def _kind(row: ProofRow) -> str:
    if row.num_mismatches:
        return "wrong"
    return "known" if row.num_known else "same"


def _line(row: ProofRow) -> str:
    if row.oracle == SPECIFICATION:
        return _line_words(row.direction, "specification")
    who = "torch" if row.oracle.startswith("torch") else "ml_dtypes, numpy"
    return _line_words(row.direction, who)


def _line_words(direction: str, who: str) -> str:
    return _(_ACTIONS[direction]).format(who=_("specification") if who == "specification" else who)


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
