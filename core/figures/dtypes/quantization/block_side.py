"""One side of the block view in words: what stands in a cell, what its hover says, the table."""

import math
from collections.abc import Mapping, Sequence
from typing import Final

import numpy as np

from core.dtypes.blocks.block_layout import PER_CHANNEL, PER_TENSOR
from core.dtypes.blocks.stored_part import Side, Span
from core.language import _
from core.units import format_decibels

_SUPERSCRIPTS: Final = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
SIDES: Final = (("A", "format_a"), ("B", "format_b"))


def short_number(value: float) -> str:
    """Return a number in at most five characters or so, for a narrow cell.

    >>> short_number(-0.0193), short_number(127.0), short_number(1.2e-9), short_number(0.0)
    ('-.019', '127', '1e-9', '0')
    """
    if not np.isfinite(value):
        return str(value)
    if value == int(value) and abs(value) < 1000:
        return f"{value:.0f}".replace("-0", "0") if value == 0 else f"{value:.0f}"
    if 0.001 <= abs(value) < 1000:
        places = 2 if abs(value) < 10 else 1 if abs(value) < 100 else 0
        places += 1 if abs(value) < 0.1 else 0
        return f"{value:.{places}f}".rstrip("0").rstrip(".").replace("0.", ".", 1)
    return f"{value:.0e}".replace("e-0", "e-").replace("e+0", "e")


def hovers(side: Side) -> list[list[str]]:
    """Return the hover of each cell: code, number x scale = value, and the error."""
    scales = np.ones(len(side.original))
    zeros = np.zeros(len(side.original))
    for span in side.spans:
        scales[span.first : span.last + 1] = span.scale
        zeros[span.first : span.last + 1] = span.zero_point
    ended = _("Here the tensor has ended.")
    told = _("code {code}: {product}<br>was {was}, error {error}")
    cells = zip(side.codes, side.numbers, side.restored, side.original, scales, zeros, strict=True)
    return [
        [
            told.format(**_facts(side, code, (value, scale, zero), back, was))
            if math.isfinite(code)
            else ended
            for code, value, back, was in zip(codes, numbers, restored, original, strict=True)
        ]
        for codes, numbers, restored, original, scale, zero in cells
    ]


def _facts(
    side: Side, code: float, parts: tuple[float, float, float], back: float, was: float
) -> dict[str, str]:
    number, scale, zero = parts
    product = f"({number + zero:g} − {zero:g})" if zero else f"{number:.6g}"
    if side.spans:
        product = f"{product} × {scale:.6g} = {back:.6g}"
    error = f"{back - was:+.3g}" if math.isfinite(was) else "?"
    stored = f"0x{int(code):0{side.code_digits}X}"
    return {"code": stored, "product": product, "was": f"{was:.6g}", "error": error}


def scale_hover(span: Span) -> str:
    """Return what the hover of a scale says."""
    text = _("shared scale {scale}").format(scale=f"{span.scale:.9g}")
    if span.zero_point:
        text += "<br>" + _("zero point {zero}").format(zero=f"{span.zero_point:g}")
    return text


def side_title(side: Side) -> str:
    """Return the format and how many values share a scale, for above the picture."""
    sharing = {
        PER_TENSOR: _("one scale for the tensor"),
        PER_CHANNEL: _("one scale for a row"),
        1: _("no scale"),
    }
    many = _("one scale for {count} values").format(count=side.block_size)
    return f"{side.name} · {sharing.get(side.block_size, many)}"


def scale_text(scale: float) -> str:
    """Return a scale as short as it can be said exactly, or three digits of it.

    >>> scale_text(2.0**-13), scale_text(0.0061729), scale_text(0.0)
    ('2⁻¹³', '0.00617', '0')
    """
    fraction, exponent = math.frexp(scale)
    if fraction == 0.5 and abs(exponent) > 1:
        return "2" + str(exponent - 1).translate(_SUPERSCRIPTS)
    return f"{scale:.3g}"


def block_alt(sides: Sequence[Side]) -> str:
    """Return the picture in words: both formats, their scales and the largest value in each."""
    parts = [
        _(
            "{name}: {sqnr}; shown are {values} values and their scales, {count} in number; "
            "the largest value {was} comes back as {back}"
        ).format(
            name=side.name,
            sqnr=format_decibels(side.stats.sqnr_db),
            count=len(side.spans),
            **_largest(side),
        )
        for side in sides
    ]
    return _("; ").join(parts) + _(".")


def _largest(side: Side) -> dict[str, str]:
    magnitudes = np.nan_to_num(np.abs(side.original), nan=-1.0)
    place = np.unravel_index(int(magnitudes.argmax()), magnitudes.shape)
    return {
        "values": f"{int(np.isfinite(side.codes).sum())}",
        "was": f"{side.original[place]:.6g}",
        "back": f"{side.restored[place]:.6g}",
    }


def block_table(sides: Sequence[Side]) -> Mapping[str, Sequence[object]]:
    """Return the values of the part, one row each: what it was and what each format makes of it."""
    there = np.isfinite(sides[0].codes)
    table: dict[str, Sequence[object]] = {_("value"): sides[0].original[there].tolist()}
    for (name, _token), side in zip(SIDES, sides, strict=True):
        codes = side.codes[there].astype(np.int64)
        table[_("code in {name}").format(name=name)] = [
            f"0x{code:0{side.code_digits}X}" for code in codes
        ]
        table[_("back from {name}").format(name=name)] = side.restored[there].tolist()
    return table
