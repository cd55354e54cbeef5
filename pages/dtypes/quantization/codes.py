"""One part of the tensor in A and B: each code and the scales that codes share."""

import math
from collections.abc import Sequence
from typing import Any, Final

import numpy as np
import streamlit as st

from core.dtypes.blocks.block_layout import PER_CHANNEL, PER_TENSOR
from core.dtypes.blocks.sample_tensors import looked_at, teaching_tensor
from core.dtypes.blocks.storage import find_storage
from core.dtypes.blocks.storage_trials import Trial, try_all
from core.dtypes.blocks.stored_part import Side, Span, make_sides
from core.dtypes.rounding import Flags, Floats
from core.figures.dtypes.written import power_of_two
from core.figures.picture import Drawing, Look, Picture, Table
from core.language import N_, _
from core.units import format_decibels
from pages.dtypes.quantization.inputs import Case, error_notes, qualities
from pages.dtypes.quantization.snippets import quality_code
from pages.shared.questions import Choice, predict_then_reveal
from pages.shared.settings import look, presenting
from pages.shared.tabbed_page import Chart, Shown, Tab

sides_of = st.cache_data(max_entries=32, show_spinner=False)(make_sides)


def codes(case: Case) -> Shown:
    num_columns, num_rows = (4, 10) if presenting() else (16, 16)
    sides = sides_of(
        case.chosen.x, case.pair, case.where, num_rows=num_rows, num_columns=num_columns
    )
    return Shown(
        headline=qualities(sides),
        charts=[Chart(picture=codes_picture(sides, look()), file_name="quantized-part")],
        notes=[*case.chosen.notes(), _largest_note(sides), *error_notes(sides)],
        code=quality_code(case, is_whole=all(side.stats.is_whole for side in sides)),
    )


def _largest_note(sides: Sequence[Side]) -> str:
    parts = [f"{_largest(side)['back']} (`{side.name}`)" for side in sides]
    return _("The largest value in sight, {was}, comes back as {parts}.").format(
        was=_largest(sides[0])["was"], parts=_(", ").join(parts)
    )


SIDES: Final = (("A", "format_a"), ("B", "format_b"))
GAP: Final = 0.02  # between the two pictures, as a share of the width
WIDTH: Final = (1 - GAP) / 2
SCALE_WIDTH: Final = 2.2  # cells that the column of scales takes
STRONGEST: Final = 0.85  # shade of the largest number
ASKED: Final = ("int8_tensor", "mxfp8_e4m3", "nvfp4", "bfloat16")


def codes_picture(sides: Sequence[Side], look: Look) -> Picture:
    """Return both formats side by side: one cell a value, with the scales on the left."""
    layout, drawing = look.layout(), Drawing()
    size = layout["font"]["size"]
    for number, side in enumerate(sides):
        suffix = "" if number == 0 else str(number + 1)
        axes = {"xaxis": f"x{suffix}", "yaxis": f"y{suffix}"}
        left = number * (WIDTH + GAP)
        _draw_cells(drawing, side, number, look, axes)
        if side.spans:
            _draw_scales(drawing, side, number, look, axes)
        draw_title(drawing, number, side.name if look.present else _side_title(side), left, look)
        num_rows, num_columns = side.original.shape
        hidden = {"visible": False, "fixedrange": True}
        low = -0.5 - (SCALE_WIDTH if side.spans else 0.0)
        across = {"domain": [left, left + WIDTH], "range": [low, num_columns - 0.5]}
        layout[f"xaxis{suffix}"] = hidden | across
        layout[f"yaxis{suffix}"] = hidden | {
            "range": [num_rows - 0.5, -0.5],
            "anchor": f"x{suffix}",
        }
    height = round(len(sides[0].original) * size * (1.5 if look.present else 1.4)) + 36
    frame = {"showlegend": False, "height": height, "margin": {"l": 4, "r": 4, "t": 36, "b": 4}}
    figure = drawing.figure(layout | frame)
    return Picture(figure=figure, alt=_sentence(sides), table=_table(sides))


def draw_title(drawing: Drawing, number: int, text: str, left: float, look: Look) -> None:
    """Write A or B, and what it is, above the part of a picture that begins at `left`."""
    name, meaning = SIDES[number]
    drawing.note(
        text=f"<b>{name}</b> · {text}" if text else f"<b>{name}</b>", x=left, y=1, xref="paper",
        yref="paper", xanchor="left", yanchor="bottom", font={"color": look.color(meaning)},
    )  # fmt: skip


def _draw_cells(
    drawing: Drawing, side: Side, number: int, look: Look, axes: dict[str, str]
) -> None:
    shades, hue = _shades(side), look.color(SIDES[number][1])
    drawing.trace(
        "heatmap", z=shades.round(3), zmin=0, zmax=1 / STRONGEST,
        colorscale=[[0, look.color("surface")], [1, hue]], showscale=False, xgap=1, ygap=1,
        text=hovers(side), hovertemplate="%{text}<extra></extra>", **axes,
    )  # fmt: skip
    there, light = np.isfinite(side.codes), _light_text(shades, hue, look)
    # One colour a trace, as plotly checks each by itself.
    for where, color in ((there & ~light, "text"), (there & light, "background")):
        rows, columns = np.nonzero(where)
        drawing.scatter(
            x=columns, y=rows, mode="text",
            text=[short_number(value) for value in side.numbers[rows, columns]],
            textfont=_font(look, color), hoverinfo="skip", **axes,
        )  # fmt: skip


def _draw_scales(
    drawing: Drawing, side: Side, number: int, look: Look, axes: dict[str, str]
) -> None:
    """Draw one box for each scale, as tall as the rows that share it, and its number."""
    left, right = -0.5 - SCALE_WIDTH, -0.62
    edges = [(span.first - 0.46, span.last + 0.46) for span in side.spans]
    drawing.scatter(
        x=[left, right, right, left, left, None] * len(edges),
        y=[y for top, end in edges for y in (top, top, end, end, top, None)], mode="lines",
        line={"color": look.color(SIDES[number][1]), "width": 1.5}, hoverinfo="skip", **axes,
    )  # fmt: skip
    drawing.scatter(
        x=[(left + right) / 2] * len(edges), y=[(top + end) / 2 for top, end in edges], mode="text",
        text=[scale_text(span.scale, 2 if look.present else 3) for span in side.spans],
        textfont=_font(look, "text"), hovertext=[_scale_hover(span) for span in side.spans],
        hoverinfo="text", **axes,
    )  # fmt: skip


def _font(look: Look, meaning: str) -> dict[str, Any]:
    size = look.layout()["font"]["size"]
    return {"color": look.color(meaning), "size": size if look.present else size - 2}


def _shades(side: Side) -> Floats:
    """Return how full each cell is: 0 for zero, 1 for the largest number of the format."""
    with np.errstate(invalid="ignore"):
        shades = np.minimum(np.abs(side.numbers) / side.largest, 1.0)
    # Infinity and NaN are no numbers of the scale: they get the strongest shade there is.
    shades = np.where(np.isfinite(side.codes) & np.isnan(shades), 1.0, shades)
    return np.asarray(shades)


def _light_text(shades: Floats, hue: str, look: Look) -> Flags:
    """Return where the page's background is easier to read on a cell than the page's text."""
    paper, full = _channels(look.color("surface")), _channels(hue)
    cells = paper + np.nan_to_num(shades)[..., None] * STRONGEST * (full - paper)
    text, background = (_channels(look.color(name)) for name in ("text", "background"))
    return np.asarray(_contrast(cells, background) > _contrast(cells, text))


def _channels(color: str) -> Floats:
    """Return red, green and blue of "#rrggbb", 0 to 1."""
    return np.array([int(color[place : place + 2], 16) for place in (1, 3, 5)]) / 255


def _contrast(first: Floats, second: Floats) -> Floats:
    """Return the contrast of two colours, 1 to 21 (WCAG 2.1, relative luminance)."""
    lights = [
        np.where(each <= 0.04045, each / 12.92, ((each + 0.055) / 1.055) ** 2.4)
        @ np.array([0.2126, 0.7152, 0.0722])
        for each in (first, second)
    ]
    return np.asarray((np.maximum(*lights) + 0.05) / (np.minimum(*lights) + 0.05))


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


def _scale_hover(span: Span) -> str:
    text = _("shared scale {scale}").format(scale=f"{span.scale:.9g}")
    if span.zero_point:
        text += "<br>" + _("zero point {zero}").format(zero=f"{span.zero_point:g}")
    return text


def _side_title(side: Side) -> str:
    sharing = {
        PER_TENSOR: _("one scale for the tensor"),
        PER_CHANNEL: _("one scale for a row"),
        1: _("no scale"),
    }
    many = _("one scale for {count} values").format(count=side.block_size)
    return f"{side.name} · {sharing.get(side.block_size, many)}"


def scale_text(scale: float, digits: int = 3) -> str:
    """Return a scale as short as it can be said exactly, or some digits of it.

    >>> scale_text(2.0**-13), scale_text(0.0061729), scale_text(0.00046512), scale_text(0.0)
    ('2⁻¹³', '0.00617', '4.65e-4', '0')
    """
    fraction, exponent = math.frexp(scale)
    if fraction == 0.5 and abs(exponent) > 1:
        return power_of_two(exponent - 1)
    text = f"{scale:.{digits}g}"
    if len(text) > digits + 4:
        text = f"{scale:.{digits - 1}e}".replace("e-0", "e-").replace("e+0", "e")
    return text


def _sentence(sides: Sequence[Side]) -> str:
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


def _table(sides: Sequence[Side]) -> Table:
    there = np.isfinite(sides[0].codes)
    table: dict[str, Sequence[object]] = {_("value"): sides[0].original[there].tolist()}
    for (name, _token), side in zip(SIDES, sides, strict=True):
        codes = side.codes[there].astype(np.int64)
        table[_("code in {name}").format(name=name)] = [
            f"0x{code:0{side.code_digits}X}" for code in codes
        ]
        table[_("back from {name}").format(name=name)] = side.restored[there].tolist()
    return table


@st.cache_data(max_entries=1, show_spinner=False)
def _outlier_trials() -> tuple[Trial, ...]:
    x = looked_at(teaching_tensor("with_outliers", 256, 0))
    return try_all(x, [find_storage(name) for name in ASKED])


def ask_about_outliers() -> None:
    trials = _outlier_trials()
    worst = min(trials, key=lambda trial: trial.stats.sqnr_db)
    choices = [
        Choice(trial.name, None if trial is worst else _why_wrong(trial)) for trial in trials
    ]
    results = [
        _("{name}: {sqnr} at {bits} bits").format(
            name=f"`{trial.name}`",
            sqnr=format_decibels(trial.stats.sqnr_db),
            bits=f"{trial.bits:.4g}",
        )
        for trial in trials
    ]
    predict_then_reveal(
        "quant_outliers",
        _("One value in a thousand is 50 times as large as the others. Which format loses most?"),
        choices,
        _(
            "One scale must reach the largest value, so the steps grow for all others. Measured: "
            "{results}."
        ).format(results=_(", ").join(results)),
    )


def _why_wrong(trial: Trial) -> str:
    template = _("{name} keeps {sqnr}: an outlier spoils at most the block that it lies in.")
    if trial.name == "bfloat16":
        template = _("{name} keeps {sqnr}: every value has an exponent of its own.")
    return template.format(name=f"`{trial.name}`", sqnr=format_decibels(trial.stats.sqnr_db))


TAB: Final = Tab(label=N_("Codes"), show=codes, question=ask_about_outliers, reading="codes")
