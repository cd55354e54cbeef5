"""The pictures of a cast, one a tab: only the open one is computed."""

from collections.abc import Callable, Mapping
from typing import Final

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from core.dtypes import FORMATS, OVERFLOWS, ROUNDINGS
from core.dtypes.cast.cast_trace import CastTrace
from core.dtypes.cast.draws import draw_roundings
from core.dtypes.facts.format_facts import format_facts, short_number
from core.figures.dtypes.rounding_and_overflow.cast_formats import (
    cast_formats,
    formats_alt,
    formats_table,
)
from core.figures.dtypes.rounding_and_overflow.cast_marks import hexadecimal, zoom_alt, zoom_table
from core.figures.dtypes.rounding_and_overflow.cast_modes import cast_modes, modes_alt, modes_table
from core.figures.dtypes.rounding_and_overflow.cast_words import digits
from core.figures.dtypes.rounding_and_overflow.cast_zoom import cast_zoom
from core.figures.dtypes.rounding_and_overflow.line_window import VIEWS, as_float, window_of
from core.figures.dtypes.rounding_and_overflow.number_line import number_line, number_line_alt
from core.figures.dtypes.rounding_and_overflow.relative_spacing import relative_spacing, spacing_alt
from core.figures.dtypes.rounding_and_overflow.stochastic_mean import (
    stochastic_alt,
    stochastic_mean,
    stochastic_table,
)
from core.language import N_, _
from pages.dtypes.rounding_and_overflow.inputs import PAGE, Wish, choose_beside
from pages.dtypes.rounding_and_overflow.reason import picture_name
from pages.shared import pickers
from pages.shared.charts import show_chart
from pages.shared.navigation import page_row
from pages.shared.settings import presenting, theme_mode

GROUPS: Final[Mapping[str, tuple[str, ...]]] = {
    "common": ("float32", "tf32", "float16", "bfloat16", "float8_e4m3fn", "float8_e5m2",
               "float4_e2m1fn", "int8"),
    "wide": ("float64", "float32", "tf32", "float16", "bfloat16"),
    "eight": tuple(name for name, fmt in FORMATS.items() if fmt.bits == 8),
    "small": tuple(name for name, fmt in FORMATS.items() if fmt.bits < 8),
    "all": tuple(FORMATS),
}  # fmt: skip
GROUP_NAMES: Final = {
    "common": N_("the common ones"),
    "wide": N_("16 bits and more"),
    "eight": N_("8 bits"),
    "small": N_("below 8 bits"),
    "all": N_("all"),
}
VIEW_NAMES: Final = {
    "log": N_("all, in powers of two"),
    "linear": N_("from zero, evenly"),
    "near": N_("near the number"),
}
DRAWS: Final = (10, 100, 1000, 10_000, 100_000)


def show_zoom(wish: Wish, trace: CastTrace, row: DeltaGenerator) -> None:
    """Show the two neighbours, the number between them and the bits that decide."""
    code = hexadecimal(wish.fmt, trace.code)
    with row:
        st.page_link(
            page_row("dtypes/bit_layouts").file,
            label=_("The bits of {code}").format(code=code),
            icon=":material/apps:",
            query_params={"bits_tab": "grid", "bits_format": wish.fmt.name, "bits_code": code},
        )
    said = picture_name(wish)
    show_chart(
        cast_zoom(wish.fmt, trace, said, theme_mode(), present=presenting()),
        key="rounding_zoom",
        alt=zoom_alt(wish.fmt, trace, said),
        table=zoom_table(wish.fmt, trace, said),
        file_name="rounding",
    )


def show_formats(wish: Wish, _trace: CastTrace, row: DeltaGenerator) -> None:
    """Show the number in many formats."""
    with row:
        group = pickers.selectbox(
            PAGE,
            "group",
            _("Formats"),
            tuple(GROUPS),
            default="common",
            labels=lambda name: _(GROUP_NAMES[name]),
        )
    rows = [(FORMATS[name], wish.in_format(FORMATS[name])) for name in GROUPS[group]]
    show_chart(
        cast_formats(rows, theme_mode(), present=presenting()),
        key="rounding_formats",
        alt=formats_alt(rows, wish.said),
        table=formats_table(rows),
        file_name="formats",
    )


def show_modes(wish: Wish, _trace: CastTrace, _row: DeltaGenerator) -> None:
    """Show six rounding modes by four overflow rules."""
    grid = {
        (rounding, overflow): wish.into(wish.fmt, rounding, overflow)
        for rounding in ROUNDINGS
        for overflow in OVERFLOWS
    }
    chosen = (wish.rounding, wish.overflow)
    show_chart(
        cast_modes(grid, chosen, theme_mode(), present=presenting()),
        key="rounding_modes",
        alt=modes_alt(grid, wish.said, wish.fmt.name),
        table=modes_table(grid),
        file_name="rounding_modes",
    )


def show_line(wish: Wish, trace: CastTrace, row: DeltaGenerator) -> None:
    """Show the number line of up to four formats."""
    with row:
        view = pickers.selectbox(
            PAGE,
            "view",
            _("Number line"),
            VIEWS,
            default="log",
            labels=lambda name: _(VIEW_NAMES[name]),
        )
        formats = choose_beside(wish.fmt.name)
    traces = [wish.in_format(fmt) for fmt in formats]
    window = window_of(view, formats, trace)
    show_chart(
        number_line(formats, traces, wish.said, window, theme_mode(), present=presenting()),
        key="rounding_line",
        alt=number_line_alt(formats, traces, wish.said),
        table=formats_table(list(zip(formats, traces, strict=True))),
        file_name="number_line",
    )


def show_spacing(wish: Wish, trace: CastTrace, row: DeltaGenerator) -> None:
    """Show how far apart neighbours are at every magnitude."""
    with row:
        formats = choose_beside(wish.fmt.name)
    value = as_float(trace.value)
    show_chart(
        relative_spacing(formats, value, wish.said, theme_mode(), present=presenting()),
        key="rounding_spacing",
        alt=spacing_alt(formats, wish.said),
        table={
            _("format"): [fmt.name for fmt in formats],
            _("gap above 1"): [short_number(format_facts(fmt).eps, 12) for fmt in formats],
            _("smallest"): [digits(fmt.smallest_subnormal) for fmt in formats],
            _("largest"): [digits(fmt.max) for fmt in formats],
        },
        file_name="spacing",
    )


def show_stochastic(wish: Wish, _trace: CastTrace, row: DeltaGenerator) -> None:
    """Show many stochastic roundings of the number, and their mean."""
    with row:
        num_draws = pickers.selectbox(
            PAGE,
            "draws",
            _("Draws"),
            DRAWS,
            default=1000,
            labels=lambda count: _("{count} draws").format(count=f"{count:,}"),
        )
    draws = draw_roundings(wish.fmt, wish.source(), num_draws, wish.seed, wish.overflow)
    show_chart(
        stochastic_mean(draws, as_float(wish.source()), theme_mode(), present=presenting()),
        key="rounding_stochastic",
        alt=stochastic_alt(draws, wish.said),
        table=stochastic_table(draws),
        file_name="stochastic_rounding",
    )


PICTURES: Final[Mapping[str, Callable[[Wish, CastTrace, DeltaGenerator], None]]] = {
    "zoom": show_zoom,
    "formats": show_formats,
    "modes": show_modes,
    "line": show_line,
    "spacing": show_spacing,
    "stochastic": show_stochastic,
}
