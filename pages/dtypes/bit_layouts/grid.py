"""One number in one format: the bits to click."""

from collections import Counter
from functools import partial
from typing import Final

from core.dtypes import FORMATS, CodebookFormat, FloatFormat, Format, IntFormat
from core.dtypes.facts.explain import FIELD_ORDER, DecodedCode, bit_fields, explain_code
from core.dtypes.facts.format_facts import format_facts, written_value
from core.language import N_, _
from pages.components.bit_grid.bit_grid import bit_grid, hex_code
from pages.components.bit_grid.words import WORDS
from pages.dtypes.bit_layouts.inputs import ASK, FIELD_NAMES, Number, choose_number
from pages.shared.questions import Choice, predict_then_reveal
from pages.shared.tabbed_page import Part, Shown, Tab

_FLOAT: Final = """
code = 0x{code:X}  # of {fmt.name}
sign = {sign}
exponent = code >> {fmt.mantissa_bits} & 0b{exponent_mask:b}
mantissa = code & 0b{mantissa_mask:b}
value = {value}
print(f"{{code:0{fmt.bits}b}} = {formula}{{value}}")
"""
_INT: Final = """
code = 0x{code:X}  # of {fmt.name}
value = {value}
print(f"{{code:0{fmt.bits}b}} = {{value}}")
"""
_CODEBOOK: Final = """
values = {values}
code = 0x{code:X}  # of {fmt.name}
print(f"{{code:0{fmt.bits}b}} = values[{{code}}] = {{values[code]}}")
"""


def grid(number: Number) -> Shown:
    fmt, code = number.fmt, number.code
    bit_grid(fmt, code, "bits_grid", partial(ASK.set, "code"))
    told = explain_code(fmt, code)
    said = _("`{format}` {code} = {value} · {kind}").format(
        format=fmt.name,
        code=hex_code(fmt, code),
        value=written_value(fmt, code),
        kind=_(WORDS[f"kind_{told.kind}"]),
    )
    if told.exponent is not None:
        counts = Counter(bit_fields(fmt))
        fields = " + ".join(
            _("{count} {field}").format(count=counts[field], field=_(FIELD_NAMES[field]))
            for field in FIELD_ORDER
            if counts[field]
        )
        said = _("{said} · {fields} bits").format(said=said, fields=fields)
    part = Part(key="bits_grid", file_name=f"bits-{fmt.name}")
    return Shown(headline=said, part=part, code=_number_code(fmt, told))


def _number_code(fmt: Format, told: DecodedCode) -> str:
    if isinstance(fmt, CodebookFormat):
        return _CODEBOOK.format(values=list(fmt.values), code=told.code, fmt=fmt)
    if isinstance(fmt, IntFormat):
        value = f"code - (code >> {fmt.bits - 1} << {fmt.bits})" if fmt.signed else "code"
        return _INT.format(code=told.code, fmt=fmt, value=value)
    assert isinstance(fmt, FloatFormat)  # noqa: S101  there are three kinds
    value, formula = _float_value(fmt, told)
    return _FLOAT.format(
        code=told.code,
        fmt=fmt,
        sign=f"code >> {fmt.magnitude_bits}" if fmt.signed else "0  # no sign bit",
        exponent_mask=(1 << fmt.exponent_bits) - 1,
        mantissa_mask=(1 << fmt.mantissa_bits) - 1,
        value=value,
        formula=formula,
    )


def _float_value(fmt: FloatFormat, told: DecodedCode) -> tuple[str, str]:
    if told.exact is None:
        return f'float("{told.value}")  # what this code is kept for', ""
    full = 1 << fmt.mantissa_bits
    hidden = int(told.kind == "normal")
    field = "exponent" if hidden else str(int(fmt.zero))
    value = f"(-1) ** sign * 2.0 ** ({field} - {fmt.bias}) * ({hidden} + mantissa / {full})"
    shown = "{exponent}" if hidden else field
    return value, f"(-1)^{{sign}} × 2^({shown} - {fmt.bias}) × ({hidden} + {{mantissa}}/{full}) = "


def ask_below_one() -> None:
    """Ask how many of float16's positive numbers lie below 1; the counts are computed."""
    facts = format_facts(FORMATS["float16"])
    below, total = f"{facts.num_below_one:,}", f"{facts.num_positive:,}"
    choices = [
        Choice(
            _("Next to none: 1 of 65504 of the range"),
            _("That would be evenly spaced numbers, as integers are."),
        ),
        Choice(_("About half: {count}").format(count=below)),
        Choice(
            _("1,024: one mantissa full"),
            _("That many lie between 1 and 2, and again between 1/2 and 1, and so on."),
        ),
    ]
    predict_then_reveal(
        ASK.key("below_one"),
        _("float16 has {total} numbers above zero, up to {max}. How many lie below 1?").format(
            total=total, max=int(facts.max)
        ),
        choices,
        _(
            "{below} of {total}: half of the exponents are negative, and each power of two "
            "gets the same 1,024 numbers. Floats are dense near zero, where weights and "
            "gradients are."
        ).format(below=below, total=total),
    )


TAB = Tab(label=N_("One number"), show=grid, choose=choose_number, question=ask_below_one)
