"""The same number, or the same picture, in many formats side by side."""

from fractions import Fraction
from typing import Final

import streamlit as st

from core.dtypes import FORMATS
from core.dtypes.cast.explain_cast import explain_cast
from core.dtypes.exact import parse_value
from core.figures.dtypes.bit_layouts.side import BitRow, half_sentence, side_picture
from core.language import _
from pages.dtypes.bit_layouts.inputs import ASK, Group, choose_group
from pages.dtypes.bit_layouts.pictures import ask_picture, choose_pictures, pictures
from pages.dtypes.bit_layouts.question import ask_below_one
from pages.shared.dtypes.number_slider import slider_through_decades
from pages.shared.dtypes.plain_code import STEP_AT, beyond, exact_text, is_plain, widths
from pages.shared.settings import look
from pages.shared.tabbed_page import Chart, Shown

DEFAULT_VALUE: Final = "3.141592653589793"
_CODE: Final = """
from core.dtypes import FORMATS
from core.dtypes.cast.explain_cast import explain_cast

for name in {names}:
    trace = explain_cast(FORMATS[name], {value!r})
    print(name, f"{{trace.code:0{{FORMATS[name].bits}}b}}", trace.result, trace.outcome)
"""
_PLAIN: Final = """

x = {value}
for name, mantissa_bits, lowest_exponent, largest, beyond in (
{rows}
):
    step = step_at(x, mantissa_bits, lowest_exponent)
    stored = round(x / step) * step  # to nearest, ties to even
    print(name, float(stored) if abs(stored) <= largest else beyond)
"""


def choose_side() -> tuple[str, Group] | tuple[str, int]:
    """Ask for a number and formats; or, of the picture, for a format and an exposure."""
    words = {"number": _("one number"), "picture": _("a picture")}
    stored = ASK.selectbox(
        "stored", _("What is stored"), list(words), default="number", labels=words.__getitem__
    )
    if stored == "picture":
        return choose_pictures()
    place = st.container()
    said = ASK.text(
        "value",
        _("Exact number"),
        default=DEFAULT_VALUE,
        max_chars=60,
        help=_("65519.99, 1e-8, 1/3, 2^-25, 0x1.8p3, inf or nan; read without rounding."),
    )
    with place:
        slider_through_decades(ASK, "value", said)
    return said, choose_group()


def ask_side() -> None:
    """Ask about what is stored."""
    (ask_picture if ASK.used("stored") == "picture" else ask_below_one)()


def side(chosen: tuple[str, Group] | tuple[str, int]) -> Shown:
    """Show the bits of the number in each format, or the picture as each gives it back."""
    text, group = chosen
    if isinstance(group, int):
        return pictures((text, group))
    try:
        parse_value(text)
    except ValueError as error:
        st.error(str(error))
        return Shown(headline=_("Not a number yet"))
    said = text.strip()
    rows = [
        BitRow(fmt=FORMATS[name], trace=explain_cast(FORMATS[name], said)) for name in group.names
    ]
    if sentence := half_sentence(rows):
        st.caption(sentence)
    stored = {row.fmt.name: row.stored for row in rows}
    told = " · ".join(f"`{name}` {stored[name]}" for name in group.told)
    picture = side_picture(said, rows, look())
    return Shown(
        headline=_("{value} is stored as {numbers}").format(value=said, numbers=told),
        charts=[Chart(picture=picture, file_name="one-number-in-many-formats")],
        code=snippet(said, group),
    )


def snippet(said: str, group: Group) -> str:
    """Return Python that rounds the number: plain Python where it can say what is told."""
    value, plain = parse_value(said), [FORMATS[name] for name in group.names]
    plain = [fmt for fmt in plain if is_plain(fmt)]
    if not value or not isinstance(value, Fraction) or set(group.told) - {f.name for f in plain}:
        return _CODE.format(names=group.names, value=said)
    rows = [
        f'    ("{fmt.name}", {mantissa}, {lowest}, {fmt.max}, {beyond(fmt, negative=value < 0)}),'
        for fmt in plain
        for mantissa, lowest in [widths(fmt)]
    ]
    return STEP_AT + _PLAIN.format(value=exact_text(said, value), rows="\n".join(rows))
