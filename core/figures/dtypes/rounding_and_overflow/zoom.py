"""The zoom on a cast: two neighbours, the number truly between them, the bits that decide."""

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Final

from core.dtypes.cast.cast_trace import Candidate, CastTrace
from core.dtypes.facts.number_line import number_at, place_of
from core.dtypes.number_formats.format import Format
from core.figures.dtypes.rounding_and_overflow.bits import (
    MAX_KEPT,
    PRESENT_MAX_KEPT,
    PRESENT_ROW_UNITS,
    ROW_UNITS,
    bit_row,
    code_text,
    draw_bit_row,
    hexadecimal,
)
from core.figures.dtypes.rounding_and_overflow.cast_words import (
    digits,
    is_negative,
    percent,
    precision,
    reason_words,
)
from core.figures.picture import Drawing, Look, Picture, Table
from core.language import _

HEIGHT_PX: Final = 310
PRESENT_HEIGHT_PX: Final = 430
# How far the picture reaches beyond the neighbours, which stand at 0 and 1.
EDGE: Final = 0.2
PRESENT_EDGE: Final = 0.27
_LEFT, _RIGHT = Fraction(-8, 100), Fraction(108, 100)  # where a number beyond both stands
_CHIP: Final = 0.15
_CLOSE: Final = 0.06


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


def zoom_picture(fmt: Format, trace: CastTrace, said: str, look: Look) -> Picture:
    """Return a cast: number line between the neighbours above, kept and cut bits below.

    `said` is the number as the reader wrote it.
    """
    drawing, layout = Drawing(), look.layout()
    marks, has_line = zoom_marks(fmt, trace), trace.lower is not None
    if has_line:
        _draw_line(drawing, fmt, trace, marks, said, look)
    else:
        text = f"<b>{said} → {digits(trace.result)}</b>"
        font = {"size": layout["font"]["size"] + 10}
        drawing.note(x=0.5, y=0.95, text=text, font=font, xref="paper", yref="paper", yanchor="top")
    if trace.kept or not has_line:
        most = PRESENT_MAX_KEPT if look.present else MAX_KEPT
        draw_bit_row(drawing, bit_row(fmt, trace, most), look)
    return Picture(
        figure=drawing.figure(layout | _axes(look, has_line=has_line)),
        alt=_sentence(fmt, trace, said),
        table=_table(fmt, trace, said, marks),
    )


def _axes(look: Look, *, has_line: bool) -> dict[str, Any]:
    """Return two pairs of hidden axes: the number line above, the row of bits below."""
    hidden = {"visible": False, "fixedrange": True}
    half = (PRESENT_ROW_UNITS if look.present else ROW_UNITS) / 2
    edge, top = PRESENT_EDGE if look.present else EDGE, 0.3 if has_line else 0.6
    return {
        "height": PRESENT_HEIGHT_PX if look.present else HEIGHT_PX,
        "showlegend": False,
        "margin": {"l": 4, "r": 4, "t": 4, "b": 4},
        "xaxis": {**hidden, "range": [-edge, 1 + edge]},
        "yaxis": {**hidden, "range": [-1.05, 1.1], "domain": [0.33, 1.0]},
        "xaxis2": {**hidden, "range": [-half, half], "anchor": "y2"},
        "yaxis2": {**hidden, "range": [0, 1.5], "domain": [0.0, top], "anchor": "x2"},
    }


def _draw_line(
    drawing: Drawing,
    fmt: Format,
    trace: CastTrace,
    marks: tuple[Mark, ...],
    said: str,
    look: Look,
) -> None:
    at = number_x(trace)
    line = {"color": look.color("muted"), "width": 2}
    drawing.shape(type="line", x0=-1, x1=2, y0=0, y1=0, line=line)
    if len(marks) == 2 and marks[0].x == 0:
        middle = (marks[0].candidate.exact + marks[1].candidate.exact) / 2
        drawing.shape(type="line", x0=0.5, x1=0.5, y0=-0.35, y1=0.35, line=line | {"dash": "dot"})
        text = _("halfway: {middle}").format(middle=digits(middle))
        drawing.note(x=0.5, y=-0.4, yanchor="top", font={"color": look.color("muted")}, text=text)
    for mark in marks:
        _draw_mark(drawing, fmt, mark, at, look)
    drawing.scatter(
        x=[at], y=[0], mode="markers", hovertext=[said], hoverinfo="text", name="x",
        marker={"symbol": "diamond", "size": 15, "color": look.color("text")},
    )  # fmt: skip
    # The number stands high above its place, joined by a stem.
    drawing.note(
        x=at, y=0.1, ax=at, ay=0.78, axref="x", ayref="y", showarrow=True, arrowhead=0,
        arrowwidth=1, yanchor="bottom", text=f"<b>{said}</b> · {place_words(trace)}",
        xanchor="left" if at < 0.1 else "right" if at > 0.9 else "center",
    )  # fmt: skip
    _draw_result(drawing, trace, marks, at, look)


def _draw_mark(drawing: Drawing, fmt: Format, mark: Mark, at: float, look: Look) -> None:
    color, exact, code = look.color(mark.color), mark.candidate.exact, mark.candidate.code
    drawing.scatter(
        x=[mark.x],
        y=[0],
        mode="markers",
        marker={
            "symbol": "x-thin-open" if code is None else "line-ns-open",
            "size": 18 if code is None else 34,
            "color": color,
            "line": {"width": 5, "color": color},
        },
        hovertext=[digits(exact, 30)],
        hoverinfo="text",
        name=digits(exact),
    )
    side = ("right", -26) if mark.x < at or mark.x == 0 else ("left", 26)
    anchor, shift = side if abs(mark.x - at) < _CLOSE else ("center", 0)  # beside the stem
    drawing.note(
        x=mark.x, y=0.3, yanchor="bottom", xanchor=anchor, xshift=shift,
        text=f"<b>{digits(exact, precision(fmt))}</b>",
    )  # fmt: skip
    text = _missing(fmt, exact) if code is None else code_text(fmt, code, look)
    drawing.note(x=mark.x, y=-0.4, yanchor="top", align="center", text=text)


def _missing(fmt: Format, exact: Fraction) -> str:
    """Return why there is no code."""
    if not exact:
        reason = _("no zero here")
    elif exact < 0 and fmt.min >= 0:
        reason = _("no sign here")
    else:
        reason = _("beyond the largest")
    return "<br>".join((_("no code"), reason))


def _draw_result(
    drawing: Drawing, trace: CastTrace, marks: tuple[Mark, ...], at: float, look: Look
) -> None:
    """Draw the way from the number to what is stored, and a frame around that."""
    target = next((m.x for m in marks if m.candidate.exact == trace.exact_result), None)
    color = look.color("overflow" if target is None else "exact")
    if target is None:
        is_low = trace.result < 0 or (trace.result != trace.result and is_negative(trace.value))
        target = -_CHIP if is_low else 1 + _CHIP
        drawing.note(
            x=target, y=0, text=f"<b>{digits(trace.result)}</b>", bgcolor=look.color("surface"),
            bordercolor=color, borderwidth=3, borderpad=6,
        )  # fmt: skip
    else:
        drawing.scatter(
            x=[target], y=[0], mode="markers", hoverinfo="skip", name=_("stored"),
            marker={"symbol": "circle-open", "size": 40, "color": color, "line": {"width": 4}},
        )  # fmt: skip
    drawing.note(x=target, y=-0.95, text=f"▲ {_('stored')}", font={"color": color})
    if abs(target - at) > 0.03:
        step = 0.035 if target > at else -0.035
        drawing.note(
            x=target - step, y=0.16, ax=at, ay=0.16, xref="x", yref="y", axref="x", ayref="y",
            showarrow=True, arrowhead=2, arrowwidth=4, arrowcolor=color, text="",
        )  # fmt: skip


def _sentence(fmt: Format, trace: CastTrace, said: str) -> str:
    """Return where the number lies, what is stored and why."""
    most = precision(fmt)
    told = {
        "number": said,
        "format": fmt.name,
        "stored": digits(trace.result, most),
        "reason": reason_words(fmt, trace),
    }
    if trace.lower is None or trace.upper is None:
        return _("{number} in {format} is stored as {stored}. {reason}").format(**told)
    return _(
        "{number} lies between {lower} and {upper} of {format}; {stored} is stored. {reason}"
    ).format(lower=digits(trace.lower.exact, most), upper=digits(trace.upper.exact, most), **told)


def _table(fmt: Format, trace: CastTrace, said: str, marks: tuple[Mark, ...]) -> Table:
    """Return a row for each number in the picture."""
    rows = [(_("the number"), said, "")]
    rows += [
        (_("neighbour"), digits(m.candidate.exact, 30), hexadecimal(fmt, m.candidate.code))
        for m in sorted(marks, key=lambda mark: mark.x)
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
