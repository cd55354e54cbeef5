"""Programs that print what a tab of "Bit layouts" shows, for the reader to run."""

from typing import Final

from core.dtypes import FloatFormat

_NUMBER: Final = """
from core.dtypes import FORMATS
from core.dtypes.facts.explain import explain_code

told = explain_code(FORMATS["{name}"], 0x{code:X})
number = told.decimal if told.exact else str(told.value)  # a zero keeps its sign
print(*filter(None, (told.bits, told.formula, number)), sep=" = ")
print(told.kind, told.hex_float)
"""
_SIDE: Final = """
from core.dtypes import FORMATS
from core.dtypes.cast.explain_cast import explain_cast

for name in {names}:
    trace = explain_cast(FORMATS[name], {value!r})
    print(name, f"{{trace.code:0{{FORMATS[name].bits}}b}}", trace.result, trace.outcome)
"""
_CODES: Final = """
from core.dtypes import FORMATS

fmt = FORMATS["{name}"]
print(fmt.num_codes, "codes,", fmt.counts().finite, "of them numbers; the largest is", fmt.max)
"""
_RANGES: Final = """
from core.dtypes import FORMATS
from core.dtypes.facts.format_facts import format_facts, short_number

for name in {names}:
    facts = format_facts(FORMATS[name])
    digits = round(facts.decimal_digits, 1)
    print(name, short_number(facts.eps, 8), short_number(facts.max), digits)
"""
TIMELINE: Final = """
from core.dtypes import FORMATS
from core.dtypes.facts.history import MILESTONES

for each in MILESTONES:
    print(each.year, [f"{name}: {FORMATS[name].bits} bits" for name in each.formats], each.source)
"""
_DESIGN: Final = """
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


def number_snippet(name: str, code: int) -> str:
    """Return a program that takes a code apart."""
    return _NUMBER.format(name=name, code=code)


def side_snippet(names: tuple[str, ...], value: str) -> str:
    """Return a program that stores a number in several formats."""
    return _SIDE.format(names=names, value=value)


def codes_snippet(name: str) -> str:
    """Return a program that counts the codes of a format."""
    return _CODES.format(name=name)


def ranges_snippet(names: tuple[str, ...]) -> str:
    """Return a program that prints the step, the end and the digits of several formats."""
    return _RANGES.format(names=names)


def design_snippet(fmt: FloatFormat) -> str:
    """Return a program that builds a designed format."""
    return _DESIGN.format(fmt=fmt)
