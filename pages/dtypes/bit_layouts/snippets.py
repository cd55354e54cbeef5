"""The code of the tabs in plain Python; what no short program can say is left to the product's."""

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Final

from core.dtypes import CodebookFormat, FloatFormat, Format, IntFormat
from core.dtypes.facts.explain import DecodedCode
from core.dtypes.facts.format_facts import FormatFacts

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
_COUNT: Final = """
exponent_bits, mantissa_bits, bias = {fmt.exponent_bits}, {fmt.mantissa_bits}, {fmt.bias}
last = 0x{last:X}  # the largest number of {fmt.name}: the codes above it are infinity or NaN
exponent, mantissa = last >> mantissa_bits, last & (1 << mantissa_bits) - 1
largest = 2.0 ** (exponent - bias) * (1 + mantissa / 2**mantissa_bits)
print(2 ** (1 + exponent_bits + mantissa_bits), "codes,", 2 * (last + 1), "of them numbers")
print("the largest is", largest)
"""
_STEPS: Final = """
# bits behind the point of a number from 1 to 2
for name, bits in {bits}.items():
    print(name, 2.0**-bits)
"""
_DESIGN: Final = """
exponent_bits, mantissa_bits, bias = {fmt.exponent_bits}, {fmt.mantissa_bits}, {fmt.bias}
last = 0x{last:X}  # the largest number: the codes above it are infinity or NaN
exponent, mantissa = last >> mantissa_bits, last & (1 << mantissa_bits) - 1
largest = 2.0 ** (exponent - bias) * (1 + mantissa / 2**mantissa_bits)
print("max", largest, "eps", 2.0**-mantissa_bits)
one = bias << mantissa_bits  # its code; the codes from 1 to it are the numbers below 1
print(f"{{one - 1:,}} of {{last:,}} positive numbers below 1")
"""


def number_code(fmt: Format, told: DecodedCode) -> str:
    """Return Python that takes a code apart and prints what it means."""
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
    """Return Python for the value, and the rule as a part of an f-string."""
    if told.exact is None:
        return f'float("{told.value}")  # what this code is kept for', ""
    full = 1 << fmt.mantissa_bits
    hidden = int(told.kind == "normal")
    field = "exponent" if hidden else str(int(fmt.zero))
    value = f"(-1) ** sign * 2.0 ** ({field} - {fmt.bias}) * ({hidden} + mantissa / {full})"
    shown = "{exponent}" if hidden else field
    return value, f"(-1)^{{sign}} × 2^({shown} - {fmt.bias}) × ({hidden} + {{mantissa}}/{full}) = "


def count_code(fmt: Format) -> str:
    """Return Python that counts codes and numbers; "" where a rule of the format is in the way."""
    if not isinstance(fmt, FloatFormat) or fmt.counts().finite != 2 * (fmt.max_code + 1):
        return ""
    return _COUNT.format(fmt=fmt, last=fmt.max_code)


def steps_code(facts: Sequence[FormatFacts]) -> str:
    """Return Python that prints the gap above 1 of each format that has one."""
    bits: Mapping[str, int] = {
        each.name: each.eps.denominator.bit_length() - 1 for each in facts if each.eps is not None
    }
    is_power = all(Fraction(1, 1 << bits[each.name]) == each.eps for each in facts if each.eps)
    return _STEPS.format(bits=dict(bits)) if bits and is_power else ""


def design_code(fmt: FloatFormat, facts: FormatFacts) -> str:
    """Return Python that prints the headline of a design; "" for rules that it cannot say so."""
    one = fmt.bias << fmt.mantissa_bits
    is_usual = fmt.zero and fmt.subnormals and fmt.exponent_bits > 0 and fmt.max_exponent < 1024
    counts = facts.num_positive, facts.num_below_one
    if not is_usual or counts != (fmt.max_code, one - 1) or facts.eps is None:
        return ""
    return _DESIGN.format(fmt=fmt, last=fmt.max_code)
