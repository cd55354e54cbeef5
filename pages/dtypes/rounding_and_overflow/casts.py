"""What a number becomes: between its neighbours, in many formats, and by every rule."""

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import Final

from core.dtypes import FORMATS, OVERFLOWS, ROUNDINGS
from core.figures.dtypes.rounding_and_overflow.bits import hexadecimal
from core.figures.dtypes.rounding_and_overflow.cast_words import digits, precision
from core.figures.dtypes.rounding_and_overflow.formats import formats_picture
from core.figures.dtypes.rounding_and_overflow.modes import modes_picture
from core.figures.dtypes.rounding_and_overflow.zoom import zoom_picture
from core.language import N_, _
from pages.dtypes.rounding_and_overflow.answer import answered
from pages.dtypes.rounding_and_overflow.inputs import ASK, Case
from pages.shared import page_links
from pages.shared.settings import look
from pages.shared.tabbed_page import Shown

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


def zoom(case: Case) -> Shown:
    """Show the two neighbours, the number between them and the bits that decide."""
    trace, said = case.into(case.fmt), case.said
    if case.via_fp32:
        said = f"{said} → float32 {digits(case.in_float32().result, 10)}"
    code = hexadecimal(case.fmt, trace.code)
    to_its_bits = partial(
        page_links.show_link,
        "dtypes/bit_layouts",
        _("The bits of {code}").format(code=code),
        {"bits_tab": "grid", "bits_format": case.fmt.name, "bits_code": code},
        icon=":material/apps:",
    )
    picture = zoom_picture(case.fmt, trace, said, look())
    return answered(case, picture, "rounding", link=to_its_bits)


def choose_formats() -> str:
    """Ask for a group of formats."""
    return ASK.selectbox(
        "group",
        _("Formats"),
        tuple(GROUPS),
        default="common",
        labels=lambda name: _(GROUP_NAMES[name]),
    )


def formats(case: Case, group: str) -> Shown:
    """Show the number in many formats."""
    rows = [(FORMATS[name], case.into(FORMATS[name])) for name in GROUPS[group]]
    return answered(case, formats_picture(rows, case.said, look()), "formats")


def modes(case: Case) -> Shown:
    """Show six rounding modes by four overflow rules."""
    grid = {
        (rounding, overflow): replace(case, rounding=rounding, overflow=overflow).into(case.fmt)
        for rounding in ROUNDINGS
        for overflow in OVERFLOWS
    }
    chosen = (case.rounding, case.overflow)
    picture = modes_picture(grid, chosen, case.fmt.name, case.said, look())
    shown = answered(case, picture, "rounding_modes")
    results = dict.fromkeys(digits(trace.result, precision(case.fmt)) for trace in grid.values())
    said = _("{answer}; by six modes and four overflow rules: {results}")
    return replace(
        shown, headline=said.format(answer=shown.headline, results=_(", ").join(results))
    )
