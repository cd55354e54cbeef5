"""Every word that the bit grid shows, in the reader's language; its JavaScript holds none."""

from typing import Final

from core.language import N_, _

WORDS: Final = {
    "field_sign": N_("sign"),
    "field_exponent": N_("exponent"),
    "field_mantissa": N_("mantissa"),
    "field_integer": N_("whole number"),
    "field_index": N_("place in the table"),
    "short_sign": N_("s"),
    "short_exponent": N_("exp"),
    "short_mantissa": N_("man"),
    "short_integer": N_("int"),
    "short_index": N_("code"),
    "num_bits": N_("{count} bits"),
    "bits": N_("The bits of {format}: arrow keys move, space flips, 0 and 1 set"),
    "bit": N_("bit {number}, {field}"),
    "kind_zero": N_("zero"),
    "kind_subnormal": N_("subnormal"),
    "kind_normal": N_("normal"),
    "kind_infinity": N_("infinity"),
    "kind_nan": N_("not a number"),
    "kind_integer": N_("whole number"),
    "kind_codebook": N_("table entry"),
    "why_zero": N_("The lowest exponent field and a mantissa of zero: zero, with a sign."),
    "why_subnormal": N_("The lowest exponent field: no hidden 1, so bits are lost one by one."),
    "why_normal": N_("An ordinary exponent field: a hidden 1 stands before the mantissa."),
    "why_infinity": N_("This code is kept for infinity."),
    "why_nan": N_("This code is kept for “not a number”."),
    "why_integer": N_("Each bit stands for a power of two; the sign bit for a negative one."),
    "why_codebook": N_("The bits name a place in a table; the number stands there."),
    "why": N_("Kind"),
    "code": N_("Code"),
    "decimal": N_("Exactly"),
    "decimal_cut": N_("60 digits"),
    "hex_float": N_("Hexadecimal"),
    "ulp": N_("Step (ULP)"),
    "place": N_("Place"),
    "place_value": N_("{smaller} below it, {larger} above it"),
    "below": N_("−1 ULP"),
    "above": N_("+1 ULP"),
    "no_below": N_("none"),
    "no_above": N_("none"),
    "set_negate": N_("± negate"),
    "set_zero": "0",
    "set_one": "1",
    "set_max": N_("max"),
    "set_min_normal": N_("min normal"),
    "set_min_subnormal": N_("min subnormal"),
    "set_infinity": "∞",
    "set_nan": "NaN",
    "enter": N_("Number or code"),
    "example": "0.1 1/3 2^-10 0x2E66",
    "store": N_("Store"),
    "is_now": N_("{text} is stored as {value}."),
    "is_exact": N_("{text} is stored exactly: {value}."),
    "is_rounded": N_("{text} is stored as {value}; the error is {error}."),
    "not_read": N_(
        "“{text}” is not read: write a number such as 0.1, 1e-8, 1/3, 2^-25, inf or nan, or a code "
        "of {format} from 0x0 to {last}."
    ),
    "map": N_("All {count} codes of {format}"),
    "map_axes": N_("Rows: the upper byte of the code. Columns: the lower byte."),
    "map_scale": N_("the stronger the colour, the larger the magnitude"),
}


def grid_words() -> dict[str, str]:
    """Return the words by the names that the JavaScript uses; placeholders stay in braces."""
    return {name: _(text) for name, text in WORDS.items()}
