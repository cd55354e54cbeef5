"""The bits of a cast in a row of boxes: what is kept, and guard, round and sticky behind it."""

from dataclasses import dataclass
from typing import Final

from core.dtypes.cast.cast_trace import CastTrace
from core.dtypes.number_formats.float_format import FloatFormat
from core.dtypes.number_formats.format import Format
from core.figures.drawing import Drawing
from core.figures.theme import CODE_FAMILY, COLORS, Mode
from core.language import _

ROW_UNITS: Final = 26  # the row is this many boxes wide, however few are drawn
MAX_KEPT: Final = 18
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


def bit_row(fmt: Format, trace: CastTrace) -> Row:
    """Return the boxes and their labels: the bits of the cast, else those of the stored code."""
    if not trace.kept:
        return _code_row(fmt, trace.code)
    shown = _elided(trace.kept)
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


def _elided(bits: str) -> str:
    if len(bits) <= MAX_KEPT:
        return bits
    return f"{bits[:_HEAD]}…{bits[-(MAX_KEPT - _HEAD - 1) :]}"


def _code_row(fmt: Format, code: int) -> Row:
    bits = _elided(f"{code:0{fmt.bits}b}")
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
    if not isinstance(fmt, FloatFormat):
        return ("other",) * fmt.bits
    return (
        ("sign",) * fmt.signed
        + ("exponent",) * fmt.exponent_bits
        + ("mantissa",) * fmt.mantissa_bits
    )


def add_bit_row(drawing: Drawing, row: Row, mode: Mode, size: int) -> None:
    """Draw a row of `bit_row` on the axes x2 and y2, in boxes of one size.

    Args:
        drawing: Gets the boxes; the axes' place in the picture is the caller's.
        row: What `bit_row` returned.
        mode: "light" or "dark".
        size: Text size in px.
    """
    boxes, labels = row
    middle = (boxes[0].x + boxes[-1].x) / 2
    _add_boxes(drawing, boxes, middle, mode, size)
    for label in labels:
        drawing.note(
            x=label.x - middle,
            y=1,
            yshift=-_BOX_PX / 2 - 4,
            yanchor="top",
            text=label.text,
            xref="x2",
            yref="y2",
            font={"size": size, "color": COLORS[mode]["text"]},
        )


def _add_boxes(
    drawing: Drawing, boxes: tuple[Box, ...], middle: float, mode: Mode, size: int
) -> None:
    colors = COLORS[mode]
    drawing.scatter(
        x=[box.x - middle for box in boxes],
        y=[1] * len(boxes),
        mode="markers+text",
        text=[f"<b>{box.text}</b>" for box in boxes],
        textfont={"family": CODE_FAMILY, "size": size + 2, "color": colors["text"]},
        hovertext=[box.hover for box in boxes],
        hoverinfo="text",
        marker={
            "symbol": "square",
            "size": _BOX_PX,
            "color": colors["surface"],
            "line": {"width": 3, "color": [colors[box.color] for box in boxes]},
        },
        xaxis="x2",
        yaxis="y2",
        showlegend=False,
        cliponaxis=False,
    )
