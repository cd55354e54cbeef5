"""The designer: a float format of the reader's own, in the same grid as the named ones."""

from fractions import Fraction

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from core.dtypes import FloatFormat, float_format
from core.dtypes.facts.format_facts import (
    FormatFacts,
    NearestNamed,
    format_facts,
    nearest_named,
    short_number,
)
from core.language import N_, _
from pages.components.bit_grid.bit_grid import bit_grid
from pages.dtypes.bit_layouts.inputs import PAGE, keep_code, picked_code, take_along
from pages.dtypes.bit_layouts.snippets import design_snippet
from pages.shared import pickers
from pages.shared.charts import table_markdown
from pages.shared.header import headline
from pages.shared.settings import locked

NANS = {"ieee": -1, "one": 1, "none": 0}
NAN_LABELS = {"ieee": N_("as IEEE"), "one": N_("one code"), "none": N_("none")}
RULES = {
    "exponent_bits": N_("exponent bits"),
    "mantissa_bits": N_("mantissa bits"),
    "bias": N_("bias"),
    "signed": N_("sign bit"),
    "infinity": N_("infinity"),
    "num_nans": N_("NaN codes"),
    "negative_zero": N_("negative zero"),
    "zero": N_("zero"),
    "subnormals": N_("subnormals"),
}
_LAST_DESIGN = "bits_last_design"
FLOAT64_MAX = Fraction(1.7976931348623157e308)


def show_designer(_bar: DeltaGenerator) -> str:
    """Show the format that the reader's widths and rules make; return a program that builds it."""
    say = st.container()
    left, right = st.columns([2, 5], gap="large")
    with left:
        try:
            fmt = _picked_design()
        except ValueError as error:
            with say:
                headline(_("These choices make no format"))
            right.error(str(error))
            return ""
    _take_number_along(fmt)
    facts = format_facts(fmt)
    with say:
        headline(design_sentence(fmt, facts))
    with right:
        code = picked_code(fmt, "dcode")
        bit_grid(
            fmt,
            code,
            key="bits_design",
            on_code=keep_code("dcode"),
            size="compact",
            locked=locked(),
        )
        _show_facts(facts, nearest_named(fmt))
    return design_snippet(fmt)


def _take_number_along(fmt: FloatFormat) -> None:
    """Keep the number on show when the reader has changed the design."""
    before = st.session_state.get(_LAST_DESIGN)
    st.session_state[_LAST_DESIGN] = fmt
    if before not in (None, fmt):
        take_along(before, fmt, "dcode")


def _picked_design() -> FloatFormat:
    """Return the designed format.

    Raises:
        ValueError: If the choices make none.
    """
    exponent_bits = pickers.slider(PAGE, "exp", _("Exponent bits"), 0, 15, default=5, step=1)
    mantissa_bits = pickers.slider(PAGE, "man", _("Mantissa bits"), 0, 52, default=10, step=1)
    offset = pickers.slider(
        PAGE,
        "offset",
        _("Bias, away from the usual"),
        -20,
        20,
        default=0,
        step=1,
        help=_("The usual bias puts 1 in the middle: 2^(exponent bits − 1) − 1."),
    )
    nans = pickers.segmented(
        PAGE, "nans", _("NaN"), list(NANS), default="ieee", labels=lambda each: _(NAN_LABELS[each])
    )
    with st.container(horizontal=True):
        infinity = pickers.toggle(PAGE, "inf", _("Infinity"), default=True)
        subnormals = pickers.toggle(PAGE, "sub", _("Subnormals"), default=True)
        signed = pickers.toggle(PAGE, "sign", _("Sign"), default=True)
        negative_zero = pickers.toggle(PAGE, "negzero", "−0", default=True, disabled=not signed)
    return float_format(
        f"E{exponent_bits}M{mantissa_bits}",
        exponent_bits,
        mantissa_bits,
        usual_bias(exponent_bits, offset),
        signed=signed,
        infinity=infinity,
        num_nans=NANS[nans],
        negative_zero=negative_zero or not signed,
        subnormals=subnormals,
    )


def usual_bias(exponent_bits: int, offset: int) -> int:
    """Return the bias of IEEE 754 for a width, moved by the reader."""
    return ((1 << exponent_bits - 1) - 1 if exponent_bits else 0) + offset


def design_sentence(fmt: FloatFormat, facts: FormatFacts) -> str:
    """Return the headline: the format, its range, its step, and how many numbers lie below 1."""
    return _(
        "`{name}`, {bits} bits: max {max}, eps {eps}, {below} of {total} positive numbers below 1"
    ).format(
        name=fmt.name,
        bits=fmt.bits,
        max=short_number(facts.max),
        eps=short_number(facts.eps, 8),
        below=f"{facts.num_below_one:,}",
        total=f"{facts.num_positive:,}",
    )


def _show_facts(facts: FormatFacts, nearest: NearestNamed) -> None:
    normal = facts.smallest_normal
    numbers = {
        _("max"): facts.max,
        _("min normal"): normal,
        _("smallest"): facts.smallest,
        _("eps, the gap above 1"): facts.eps,
    }
    row = {name: [short_number(value, 9)] for name, value in numbers.items()}
    st.markdown(table_markdown(row))
    counts = facts.counts
    st.markdown(
        _(
            "{digits} decimal digits. Codes: {normals} normal, {subnormals} subnormal, "
            "{zeros} zero, {infinities} infinite, {nans} NaN."
        ).format(
            digits=f"{facts.decimal_digits:.1f}",
            normals=f"{counts.normals:,}",
            subnormals=f"{counts.subnormals:,}",
            zeros=f"{counts.zeros:,}",
            infinities=counts.infinities,
            nans=f"{counts.nans:,}",
        )
    )
    st.markdown(_("Nearest named format: {text}.").format(text=_nearest_text(nearest)))
    if normal is None:
        st.caption(_("No code reaches the smallest normal number: every number is subnormal."))
    if facts.max > FLOAT64_MAX:
        st.caption(
            _(
                "The largest numbers are beyond float64, which ends at 1.797e+308: Python and "
                "NumPy would say infinity. Here they are computed with whole numbers of any length."
            )
        )


def _nearest_text(nearest: NearestNamed) -> str:
    if not nearest.differences:
        return _("`{name}`: the very same numbers").format(name=nearest.name)
    words = _("{rule} {here} instead of {there}")
    parts = [
        words.format(rule=_(RULES[rule]), here=here, there=there)
        for rule, here, there in nearest.differences
    ]
    return _("`{name}`; here {differences}").format(
        name=nearest.name, differences=_(", ").join(parts)
    )
