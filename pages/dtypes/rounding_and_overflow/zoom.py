"""Between two neighbours: the number, the bits that decide, and what is stored."""

from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from itertools import groupby
from operator import itemgetter
from typing import Any, Final

from core.dtypes import FORMATS
from core.dtypes.cast.explain_cast import Candidate, CastTrace, explain_cast
from core.dtypes.facts.explain import bit_fields
from core.dtypes.facts.number_line import number_at, place_of
from core.dtypes.number_formats.float_format import FloatFormat
from core.dtypes.number_formats.format import Format
from core.figures.dtypes.rounding_and_overflow.cast_words import (
    digits,
    is_negative,
    percent,
    precision,
    reason_words,
)
from core.figures.picture import Drawing, Look, Picture, Table
from core.figures.theme import CODE_FAMILY
from core.language import N_, _
from pages.components.bit_grid.bit_grid import hex_code
from pages.dtypes.rounding_and_overflow.answer import answered
from pages.dtypes.rounding_and_overflow.inputs import ASK, Case
from pages.shared import page_links
from pages.shared.questions import Choice, predict_then_reveal
from pages.shared.settings import look
from pages.shared.tabbed_page import Shown, Tab

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


# The row is this many boxes wide, however few are drawn; a projector has room for fewer.
ROW_UNITS: Final = 26
PRESENT_ROW_UNITS: Final = 20
MAX_KEPT: Final = 18
PRESENT_MAX_KEPT: Final = 12
_LONGEST_BITS: Final = 16
_HEAD: Final = 5
_ROOMY: Final = 4
_BOX_PX: Final = 30


@dataclass(frozen=True, slots=True)
class Box:
    """One box: where it stands, what is in it, its colour's meaning, and what it says on hover."""

    x: float
    text: str
    color: str
    hover: str


Row = tuple[tuple[Box, ...], tuple[tuple[float, str], ...]]  # boxes; words under them: x, text


def zoom(case: Case) -> Shown:
    """Show the two neighbours, the number between them and the bits that decide."""
    trace, said = case.into(case.fmt), case.said
    if case.via_fp32:
        said = f"{said} → float32 {digits(case.in_float32().result, 10)}"
    code = hex_code(case.fmt, trace.code)
    to_its_bits = partial(
        page_links.show_link,
        "dtypes/bit_layouts",
        _("The bits of {code}").format(code=code),
        {"bits_tab": "grid", "bits_format": case.fmt.name, "bits_code": code},
        icon=":material/apps:",
    )
    picture = zoom_picture(case.fmt, trace, said, look())
    return answered(case, picture, "rounding", link=to_its_bits)


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
    if trace.lower is not None and trace.value == trace.lower.exact:
        return _("one of its numbers")
    if trace.lower == trace.upper or not 0 <= trace.share <= 1:
        return _("beyond all of them")
    return _("{share} of the way").format(share=percent(trace.share))


def zoom_picture(fmt: Format, trace: CastTrace, said: str, look: Look) -> Picture:
    """Return a cast: number line between the neighbours above, kept and cut bits below."""
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
    drawing: Drawing, fmt: Format, trace: CastTrace, marks: tuple[Mark, ...], said: str, look: Look
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
    symbol, size = ("x-thin-open", 18) if code is None else ("line-ns-open", 34)
    line = {"width": 5, "color": color}
    drawing.scatter(
        x=[mark.x], y=[0], mode="markers", hovertext=[digits(exact, 30)], hoverinfo="text",
        name=digits(exact), marker={"symbol": symbol, "size": size, "color": color, "line": line},
    )  # fmt: skip
    side = ("right", -26) if mark.x < at or mark.x == 0 else ("left", 26)
    anchor, shift = side if abs(mark.x - at) < _CLOSE else ("center", 0)  # beside the stem
    drawing.note(
        x=mark.x, y=0.3, yanchor="bottom", xanchor=anchor, xshift=shift,
        text=f"<b>{digits(exact, precision(fmt))}</b>",
    )  # fmt: skip
    text = _missing(fmt, exact) if code is None else code_text(fmt, code, look)
    drawing.note(x=mark.x, y=-0.4, yanchor="top", align="center", text=text)


def _missing(fmt: Format, exact: Fraction) -> str:
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
    rows = [(_("the number"), said, "")]
    for each in (mark.candidate for mark in sorted(marks, key=lambda mark: mark.x)):
        code = "" if each.code is None else hex_code(fmt, each.code)
        rows.append((_("neighbour"), digits(each.exact, 30), code))
    rows.append((_("stored"), digits(trace.result, 30), hex_code(fmt, trace.code)))
    if trace.kept:
        tail = f"{trace.guard} {trace.round_bit} {trace.sticky}"
        rows.append((_("kept bits"), trace.kept, ""))
        rows.append((_("guard, round, sticky"), tail, ""))
        rows.append((_("bits cut off"), trace.tail or "0", ""))
    what, values, codes = map(list, zip(*rows, strict=True))
    return {_("what"): what, _("value"): values, _("code"): codes}


def bit_row(fmt: Format, trace: CastTrace, max_kept: int = MAX_KEPT) -> Row:
    """Return the boxes and their labels: the bits of the cast, else those of the stored code.

    Of more than `max_kept` bits the first and the last ones are drawn.
    """
    if not trace.kept:
        return _code_row(fmt, trace.code)
    shown = _elided(trace.kept, max_kept)
    is_float = isinstance(fmt, FloatFormat)
    texts = [f"{shown[0]}.", *shown[1:]] if is_float and len(shown) > 1 else list(shown)
    kept = [Box(x, text, "mantissa", _("kept bits")) for x, text in enumerate(texts)]
    first = len(texts) + 0.7
    tail = [
        Box(first, str(trace.guard), "guard", _("worth a half of the last kept bit")),
        Box(first + 2, str(trace.round_bit), "round_bit", _("worth a quarter")),
        Box(first + 4, str(trace.sticky), "sticky", _("1 if any bit further down is 1")),
    ]
    middle = (len(texts) - 1) / 2
    # Under fewer boxes the longer words would lie on those of the next ones.
    has_room = is_float and len(texts) >= _ROOMY
    words = _("kept, the hidden bit first") if has_room else _("kept bits")
    names = (_("guard"), _("round"), _("sticky"))
    labels = [(box.x, name) for box, name in zip(tail, names, strict=True)]
    return (*kept, *tail), ((middle, words), *labels)


def _elided(bits: str, most: int) -> str:
    if len(bits) <= most:
        return bits
    return f"{bits[:_HEAD]}…{bits[-(most - _HEAD - 1) :]}"


def _code_row(fmt: Format, code: int) -> Row:
    bits = _elided(f"{code:0{fmt.bits}b}", MAX_KEPT)
    kinds = field_kinds(fmt)
    kinds = kinds if len(bits) == fmt.bits else ("other",) * len(bits)
    names = {"sign": _("sign"), "exponent": _("exponent"), "mantissa": _("mantissa")}
    pairs = enumerate(zip(bits, kinds, strict=True))
    boxes = tuple(Box(x, bit, kind, names.get(kind, _("code"))) for x, (bit, kind) in pairs)
    return boxes, (((len(bits) - 1) / 2, _("the code that is stored")),)


def field_kinds(fmt: Format) -> tuple[str, ...]:
    """Return for each bit of a code, the highest first, the field that it belongs to."""
    return bit_fields(fmt) if isinstance(fmt, FloatFormat) else ("other",) * fmt.bits


def draw_bit_row(drawing: Drawing, row: Row, look: Look) -> None:
    """Draw a row of `bit_row` on the axes x2 and y2, in boxes of one size, around their middle."""
    boxes, labels = row
    middle, size = (boxes[0].x + boxes[-1].x) / 2, look.layout()["font"]["size"]
    drawing.scatter(
        x=[box.x - middle for box in boxes], y=[1] * len(boxes), mode="markers+text",
        text=[f"<b>{box.text}</b>" for box in boxes],
        textfont={"family": CODE_FAMILY, "size": size + 2, "color": look.color("text")},
        hovertext=[box.hover for box in boxes], hoverinfo="text",
        marker={
            "symbol": "square",
            "size": _BOX_PX,
            "color": look.color("surface"),
            "line": {"width": 3, "color": [look.color(box.color) for box in boxes]},
        },
        xaxis="x2", yaxis="y2", showlegend=False, cliponaxis=False,
    )  # fmt: skip
    font = {"size": size, "color": look.color("text")}
    below = {"y": 1, "yshift": -_BOX_PX / 2 - 4, "yanchor": "top", "xref": "x2", "yref": "y2"}
    for x, text in labels:
        drawing.note(x=x - middle, text=text, font=font, **below)


def code_text(fmt: Format, code: int, look: Look) -> str:
    """Return a code in hexadecimal and, up to 16 bits, in binary with its fields in colour."""
    number = hex_code(fmt, code)
    if fmt.bits > _LONGEST_BITS:
        return f'<span style="font-family:{CODE_FAMILY}">{number}</span>'
    bits = zip(field_kinds(fmt), f"{code:0{fmt.bits}b}", strict=True)
    fields = [
        f'<span style="color:{look.color("text" if kind == "other" else kind)}">'
        f"{''.join(bit for _kind, bit in part)}</span>"
        for kind, part in groupby(bits, key=itemgetter(0))
    ]
    return f"{number}<br><b>{' '.join(fields)}</b>"


def ask_both() -> None:
    """Ask what becomes of a number too large, and of one very small."""
    _ask_beyond_the_largest()
    _ask_a_small_number()


def _ask_beyond_the_largest() -> None:
    e4m3 = FORMATS["float8_e4m3fn"]
    largest = digits(e4m3.max)
    over = digits(explain_cast(e4m3, 465).result)
    tie = digits(explain_cast(e4m3, 464).result)
    rounded = digits(explain_cast(e4m3, 464, "nearest_even", "saturate").result)
    predict_then_reveal(
        ASK.key("beyond"),
        _("{max} is the largest number of float8_e4m3fn. What does it make of 465 when it does not "
          "saturate?").format(max=largest),
        (
            Choice(
                rounded,
                _("464 still becomes {tie}: a tie to even. 465 lies past halfway.").format(
                    tie=tie
                ),
            ),
            Choice("480", _("That would be the next number; its code means NaN instead.")),
            Choice("inf", _("E4M3 has no infinity: its codes went to more numbers.")),
            Choice(over),
        ),
        _(
            "The next step after {max} would be 480, halfway lies 464. Up to there a number "
            "becomes {tie}; beyond it the format has only {over}. Saturating, it stays {max}."
        ).format(max=largest, tie=tie, over=over),
    )  # fmt: skip


def _ask_a_small_number() -> None:
    half, brain = FORMATS["float16"], FORMATS["bfloat16"]
    smallest = digits(half.smallest_subnormal, 6)
    normal = digits(half.smallest_normal, 6)
    predict_then_reveal(
        ASK.key("small"),
        _("What is left of 1e-8 in float16?"),
        (
            Choice(digits(explain_cast(half, "1e-8").result)),
            Choice(
                normal, _("That is the smallest normal number; subnormal ones lie far below it.")
            ),
            Choice(
                smallest,
                _("The smallest number is nearer to 1e-8 than zero only from half of it on."),
            ),
            Choice(
                digits(explain_cast(brain, "1e-8").result, 6),
                _("That is bfloat16: eight exponent bits reach far lower."),
            ),
        ),
        _(
            "The smallest number of float16 is {smallest}. 1e-8 is less than half of it, so zero "
            "is nearer. A gradient of this size is lost, unless the loss is scaled up first."
        ).format(smallest=smallest),
    )


TAB = Tab(label=N_("Nearest values"), show=zoom, question=ask_both)
