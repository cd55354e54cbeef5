"""The bits of a cast: those kept and cut off as a row of boxes, and codes with their fields."""

from dataclasses import dataclass
from itertools import groupby
from operator import itemgetter
from typing import Final

from core.dtypes.cast.cast_trace import CastTrace
from core.dtypes.facts.explain import bit_fields
from core.dtypes.number_formats.float_format import FloatFormat
from core.dtypes.number_formats.format import Format
from core.figures.picture import Drawing, Look
from core.figures.theme import CODE_FAMILY
from core.language import _

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


@dataclass(frozen=True, slots=True)
class Label:
    """Words under the boxes."""

    x: float
    text: str


Row = tuple[tuple[Box, ...], tuple[Label, ...]]


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
    labels = [Label(box.x, name) for box, name in zip(tail, names, strict=True)]
    return (*kept, *tail), (Label(middle, words), *labels)


def _elided(bits: str, most: int) -> str:
    if len(bits) <= most:
        return bits
    return f"{bits[:_HEAD]}…{bits[-(most - _HEAD - 1) :]}"


def _code_row(fmt: Format, code: int) -> Row:
    bits = _elided(f"{code:0{fmt.bits}b}", MAX_KEPT)
    kinds = field_kinds(fmt)
    kinds = kinds if len(bits) == fmt.bits else ("other",) * len(bits)
    names = {
        "sign": _("sign"),
        "exponent": _("exponent"),
        "mantissa": _("mantissa"),
        "other": _("code"),
    }
    boxes = [
        Box(x, bit, kind, names[kind])
        for x, (bit, kind) in enumerate(zip(bits, kinds, strict=True))
    ]
    words = _("the code that is stored")
    return tuple(boxes), (Label((len(bits) - 1) / 2, words),)


def field_kinds(fmt: Format) -> tuple[str, ...]:
    """Return for each bit of a code, the highest first, the field that it belongs to."""
    return bit_fields(fmt) if isinstance(fmt, FloatFormat) else ("other",) * fmt.bits


def draw_bit_row(drawing: Drawing, row: Row, look: Look) -> None:
    """Draw a row of `bit_row` on the axes x2 and y2, in boxes of one size, around their middle."""
    boxes, labels = row
    middle, size = (boxes[0].x + boxes[-1].x) / 2, look.layout()["font"]["size"]
    drawing.scatter(
        x=[box.x - middle for box in boxes],
        y=[1] * len(boxes),
        mode="markers+text",
        text=[f"<b>{box.text}</b>" for box in boxes],
        textfont={"family": CODE_FAMILY, "size": size + 2, "color": look.color("text")},
        hovertext=[box.hover for box in boxes],
        hoverinfo="text",
        marker={
            "symbol": "square",
            "size": _BOX_PX,
            "color": look.color("surface"),
            "line": {"width": 3, "color": [look.color(box.color) for box in boxes]},
        },
        xaxis="x2",
        yaxis="y2",
        showlegend=False,
        cliponaxis=False,
    )
    for label in labels:
        drawing.note(
            x=label.x - middle,
            y=1,
            yshift=-_BOX_PX / 2 - 4,
            yanchor="top",
            text=label.text,
            xref="x2",
            yref="y2",
            font={"size": size, "color": look.color("text")},
        )


def hexadecimal(fmt: Format, code: int | None) -> str:
    """Return a code in hexadecimal, as many digits as the format needs; "" for none."""
    return "" if code is None else f"0x{code:0{-(-fmt.bits // 4)}X}"


def code_text(fmt: Format, code: int, look: Look) -> str:
    """Return a code in hexadecimal and, up to 16 bits, in binary with its fields in colour."""
    number = hexadecimal(fmt, code)
    if fmt.bits > _LONGEST_BITS:
        return f'<span style="font-family:{CODE_FAMILY}">{number}</span>'
    bits = zip(field_kinds(fmt), f"{code:0{fmt.bits}b}", strict=True)
    fields = [
        f'<span style="color:{look.color("text" if kind == "other" else kind)}">'
        f"{''.join(bit for _kind, bit in part)}</span>"
        for kind, part in groupby(bits, key=itemgetter(0))
    ]
    return f"{number}<br><b>{' '.join(fields)}</b>"
