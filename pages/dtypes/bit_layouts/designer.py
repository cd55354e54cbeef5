"""The designer: a float format of the reader's own, in the same grid as the named ones."""

from collections.abc import Mapping
from fractions import Fraction
from functools import partial
from typing import Any, Final

import streamlit as st

from core.dtypes import FloatFormat, float_format
from core.dtypes.facts.format_facts import FormatFacts, format_facts, nearest_named, short_number
from core.language import N_, _
from pages.components.bit_grid.bit_grid import bit_grid
from pages.dtypes.bit_layouts.codes import LARGEST
from pages.dtypes.bit_layouts.inputs import ASK, choose_code, take_along
from pages.shared.charts import table_markdown
from pages.shared.tabbed_page import Part, Shown, Tab

_DESIGN: Final = """
print("max", largest, "eps", 2.0**-mantissa_bits)
one = bias << mantissa_bits  # its code; the codes from 1 to it are the numbers below 1
print(f"{{one - 1:,}} of {{last:,}} positive numbers below 1")
"""
FLOAT64_MAX: Final = Fraction(1.7976931348623157e308)
_NANS: Final = {"ieee": (N_("as IEEE"), -1), "one": (N_("one code"), 1), "none": (N_("none"), 0)}
EXPONENTS: Final = range(16)
MANTISSAS: Final = range(53)
_WIDE: Final = 52  # bits of both fields: more codes make more rules possible
_RULES: Final[Mapping[str, str]] = {
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
_LAST_DESIGN: Final = "bits_last_design"
_CODE: Final = """
from core.dtypes import float_format
from core.dtypes.facts.format_facts import format_facts, short_number

facts = format_facts(
    float_format(
        "{fmt.name}",
        {fmt.exponent_bits},
        {fmt.mantissa_bits},
        {fmt.bias},
        signed={fmt.signed},
        infinity={fmt.infinity},
        num_nans={fmt.num_nans},
        negative_zero={fmt.negative_zero},
        subnormals={fmt.subnormals},
    )
)
print("max", short_number(facts.max), "eps", short_number(facts.eps, 8))
print(f"{{facts.num_below_one:,}} of {{facts.num_positive:,}} positive numbers below 1")
"""


_Rules = dict[str, Any]  # of what the codes of a format mean, whatever its widths


def _designer(fmt: FloatFormat | ValueError) -> Shown:
    if isinstance(fmt, ValueError):
        st.error(str(fmt))
        return Shown(headline=_("These choices make no format"))
    before = st.session_state.get(_LAST_DESIGN)
    st.session_state[_LAST_DESIGN] = fmt
    if before not in (None, fmt):
        take_along(before, fmt, "dcode")
    facts = format_facts(fmt)
    code = choose_code(fmt, "dcode")
    bit_grid(fmt, code, "bits_design", partial(ASK.set, "dcode"), is_compact=True)
    _show_facts(facts, fmt)
    said = _(
        "`{name}`, {bits} bits: max {max}, eps {eps}, {below} of {total} positive numbers below 1"
    ).format(
        name=fmt.name, bits=fmt.bits, max=short_number(facts.max), eps=short_number(facts.eps, 8),
        below=f"{facts.num_below_one:,}", total=f"{facts.num_positive:,}",
    )  # fmt: skip
    part = Part(key="bits_design", file_name=f"bits-{fmt.name}")
    return Shown(headline=said, part=part, code=_design_code(fmt, facts) or _CODE.format(fmt=fmt))


def choose_design() -> FloatFormat | ValueError:
    """Ask for rules and widths; return the format that they make, or why they make none."""
    widths = st.container()
    rules = _choose_rules()
    with widths:
        exponents = [each for each in EXPONENTS if _is_format(each, _WIDE - each, rules)]
        low, high = (exponents or EXPONENTS)[0], EXPONENTS[-1]
        exponent_bits = ASK.slider("exp", _("Exponent bits"), low, high, default=5, step=1)
        mantissas = [each for each in MANTISSAS if _is_format(exponent_bits, each, rules)]
        low, high = (mantissas or MANTISSAS)[0], (mantissas or MANTISSAS)[-1]
        mantissa_bits = ASK.slider("man", _("Mantissa bits"), low, high, default=10, step=1)
        words = _("The usual bias puts 1 in the middle: 2^(exponent bits − 1) − 1.")
        usual = _("Bias, away from the usual")
        offset = ASK.slider("offset", usual, -20, 20, default=0, step=1, help=words)
    try:
        return _design(exponent_bits, mantissa_bits, rules, offset)
    except ValueError as error:
        return error


def _choose_rules() -> _Rules:
    nans = ASK.segmented(
        "nans", _("NaN"), list(_NANS), default="ieee", labels=lambda each: _(_NANS[each][0])
    )
    with st.popover(_("Settings"), icon=":material/tune:", width="stretch"):
        infinity = ASK.toggle("inf", _("Infinity"), default=True)
        subnormals = ASK.toggle("sub", _("Subnormals"), default=True)
        signed = ASK.toggle("sign", _("Sign"), default=True)
        negative_zero = ASK.toggle("negzero", "−0", default=True, disabled=not signed)
    return {
        "signed": signed,
        "infinity": infinity,
        "num_nans": _NANS[nans][1],
        "negative_zero": negative_zero or not signed,
        "subnormals": subnormals,
    }


def _is_format(exponent_bits: int, mantissa_bits: int, rules: _Rules) -> bool:
    try:
        _design(exponent_bits, mantissa_bits, rules)
    except ValueError:
        return False
    return True


def _design(exponent_bits: int, mantissa_bits: int, rules: _Rules, offset: int = 0) -> FloatFormat:
    # the usual bias is that of IEEE 754 for this width
    usual = (1 << exponent_bits - 1) - 1 if exponent_bits else 0
    name = f"E{exponent_bits}M{mantissa_bits}"
    return float_format(name, exponent_bits, mantissa_bits, usual + offset, **rules)


def _show_facts(facts: FormatFacts, fmt: FloatFormat) -> None:
    numbers = {
        _("max"): facts.max,
        _("min normal"): facts.smallest_normal,
        _("smallest"): facts.smallest,
        _("eps, the gap above 1"): facts.eps,
    }
    st.markdown(table_markdown({name: [short_number(value, 9)] for name, value in numbers.items()}))
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
    st.markdown(_("Nearest named format: {text}.").format(text=_nearest_text(fmt)))
    if facts.smallest_normal is None:
        st.caption(_("No code reaches the smallest normal number: every number is subnormal."))
    if facts.max > FLOAT64_MAX:
        st.caption(
            _(
                "The largest numbers are beyond float64, which ends at 1.797e+308: Python and "
                "NumPy would say infinity. Here they are computed with whole numbers of any length."
            )
        )


def _nearest_text(fmt: FloatFormat) -> str:
    name, differences = nearest_named(fmt)
    if not differences:
        return _("`{name}`: the very same numbers").format(name=name)
    words = _("{rule} {here} instead of {there}")
    parts = [
        words.format(rule=_(_RULES[rule]), here=here, there=there)
        for rule, here, there in differences
    ]
    return _("`{name}`; here {differences}").format(name=name, differences=_(", ").join(parts))


def _design_code(fmt: FloatFormat, facts: FormatFacts) -> str:
    one = fmt.bias << fmt.mantissa_bits
    is_usual = fmt.zero and fmt.subnormals and fmt.exponent_bits > 0 and fmt.max_exponent < 1024
    counts = facts.num_positive, facts.num_below_one
    if not is_usual or counts != (fmt.max_code, one - 1) or facts.eps is None:
        return ""
    return (LARGEST + _DESIGN).format(fmt=fmt, last=fmt.max_code)


TAB = Tab(label=N_("Designer"), show=_designer, choose=choose_design)
