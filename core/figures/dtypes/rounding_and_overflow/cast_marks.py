"""What stands in the zoom on a cast: which numbers, where, with which codes; and in words."""

from dataclasses import dataclass
from fractions import Fraction
from itertools import groupby
from operator import itemgetter
from typing import Any, Final

from core.dtypes.cast.cast_trace import Candidate, CastTrace
from core.dtypes.facts.number_line import number_at, place_of
from core.dtypes.number_formats.format import Format
from core.figures.dtypes.rounding_and_overflow.cast_bits import field_kinds
from core.figures.dtypes.rounding_and_overflow.cast_words import (
    digits,
    percent,
    precision,
    reason_words,
)
from core.figures.theme import CODE_FAMILY, COLORS, Mode
from core.language import _

_LONGEST_BITS: Final = 16
_LEFT, _RIGHT = Fraction(-8, 100), Fraction(108, 100)  # where a number beyond both stands


@dataclass(frozen=True, slots=True)
class Mark:
    """A number of the format in the picture, from 0 (left) to 1 (right)."""

    x: float
    candidate: Candidate
    color: str


def zoom_marks(fmt: Format, trace: CastTrace) -> tuple[Mark, ...]:
    """Return the neighbours; around a number of the format itself, the ones on both sides."""
    if trace.lower is None or trace.upper is None:
        return ()
    if trace.lower.exact != trace.upper.exact:
        return (Mark(0.0, trace.lower, "candidate_low"), Mark(1.0, trace.upper, "candidate_high"))
    assert trace.lower.code is not None  # noqa: S101  a number of the format has a code
    here = place_of(fmt, trace.lower.code)
    beside = ((0.0, number_at(fmt, here - 1)), (1.0, number_at(fmt, here + 1)))
    found = [
        Mark(x, Candidate(code=each.code, exact=each.exact), "other") for x, each in beside if each
    ]
    return (Mark(0.5, trace.lower, "candidate_low"), *found)


def number_x(trace: CastTrace) -> float:
    """Return where the number itself stands; one far outside stands at the edge."""
    if trace.lower is None or trace.upper is None:
        return 0.5
    if trace.lower.exact != trace.upper.exact:
        return float(min(max(trace.share, _LEFT), _RIGHT))
    if trace.value == trace.lower.exact:
        return 0.5
    return 0.9 if trace.value > trace.lower.exact else 0.1


def place_words(trace: CastTrace) -> str:
    """Return where the number lies between its neighbours."""
    if trace.lower is not None and trace.value == trace.lower.exact:
        return _("one of its numbers")
    if trace.lower == trace.upper or not 0 <= trace.share <= 1:
        return _("beyond all of them")
    return _("{share} of the way").format(share=percent(trace.share))


def code_text(fmt: Format, candidate: Candidate, mode: Mode) -> str:
    """Return a code in hexadecimal and, up to 16 bits, in binary with its fields in colour."""
    code = candidate.code
    if code is None:
        return _missing(fmt, candidate.exact)
    number = hexadecimal(fmt, code)
    if fmt.bits > _LONGEST_BITS:
        return f'<span style="font-family:{CODE_FAMILY}">{number}</span>'
    colors = {**COLORS[mode], "other": COLORS[mode]["text"]}
    bits = f"{code:0{fmt.bits}b}"
    fields = [
        f'<span style="color:{colors[kind]}">{"".join(bit for _kind, bit in part)}</span>'
        for kind, part in groupby(zip(field_kinds(fmt), bits, strict=True), key=itemgetter(0))
    ]
    return f"{number}<br><b>{' '.join(fields)}</b>"


def _missing(fmt: Format, exact: Fraction) -> str:
    """Return why there is no code."""
    if not exact:
        return _("no code: no zero here")
    if exact < 0 and fmt.min >= 0:
        return _("no code: no sign here")
    return _("no code: beyond the largest")


def zoom_alt(fmt: Format, trace: CastTrace, said: str) -> str:
    """Return the picture as sentences: where the number lies, what is stored and why."""
    reason = reason_words(fmt, trace)
    stored = digits(trace.result, precision(fmt))
    if trace.lower is None or trace.upper is None:
        return _("{number} in {format} is stored as {stored}. {reason}").format(
            number=said, format=fmt.name, stored=stored, reason=reason
        )
    return _(
        "{number} lies between {lower} and {upper} of {format}; {stored} is stored. {reason}"
    ).format(
        number=said,
        lower=digits(trace.lower.exact, precision(fmt)),
        upper=digits(trace.upper.exact, precision(fmt)),
        format=fmt.name,
        stored=stored,
        reason=reason,
    )


def zoom_table(fmt: Format, trace: CastTrace, said: str) -> dict[str, list[Any]]:
    """Return the numbers of the picture: a row for each number in it."""
    rows = [(_("the number"), said, "")]
    rows += [
        (_("neighbour"), digits(m.candidate.exact, 30), hexadecimal(fmt, m.candidate.code))
        for m in sorted(zoom_marks(fmt, trace), key=lambda mark: mark.x)
    ]
    rows.append((_("stored"), digits(trace.result, 30), hexadecimal(fmt, trace.code)))
    if trace.kept:
        tail = f"{trace.guard} {trace.round_bit} {trace.sticky}"
        rows.append((_("kept bits"), trace.kept, ""))
        rows.append((_("guard, round, sticky"), tail, ""))
        rows.append((_("bits cut off"), trace.tail or "0", ""))
    return {
        _("what"): [row[0] for row in rows],
        _("value"): [row[1] for row in rows],
        _("code"): [row[2] for row in rows],
    }


def hexadecimal(fmt: Format, code: int | None) -> str:
    """Return a code in hexadecimal, as many digits as the format needs."""
    return "" if code is None else f"0x{code:0{-(-fmt.bits // 4)}X}"
