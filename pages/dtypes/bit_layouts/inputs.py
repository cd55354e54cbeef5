"""What the reader chooses on "Bit layouts": a format, a code, a group of formats."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any, Final

import streamlit as st

from core.dtypes import FORMATS, Format, find_format
from core.dtypes.cast.explain_cast import explain_cast
from core.dtypes.cast.slider_values import codes_in_order
from core.dtypes.facts.explain import Field
from core.dtypes.facts.format_facts import written_value
from core.language import N_, _
from pages.components.bit_grid.bit_grid import hex_code
from pages.shared.accepts import Accepts, one_of
from pages.shared.dtypes.number_slider import slider_for, with_number
from pages.shared.inputs import Inputs, pick

ASK: Final = Inputs("bits")
DEFAULT_FORMAT: Final = "float16"
_MAX_CODE_CHARS: Final = 20
FIELD_NAMES: Final[Mapping[Field, str]] = {
    "sign": N_("sign"),
    "exponent": N_("exponent"),
    "mantissa": N_("mantissa"),
}


@dataclass(frozen=True, slots=True)
class Group:
    """Formats to compare: a label to translate, their names, and those that a headline names."""

    label: str
    names: tuple[str, ...]
    told: tuple[str, ...]


GROUPS: Final[Mapping[str, Group]] = {
    "training": Group(
        N_("Training"),
        ("float32", "bfloat16", "tf32", "float16", "float8_e4m3fn", "float8_e5m2"),
        ("float16", "bfloat16", "float8_e4m3fn"),
    ),
    "eight": Group(
        N_("8 bits"),
        ("float8_e4m3fn", "float8_e5m2", "float8_e4m3fnuz", "float8_e5m2fnuz",
         "float8_e4m3", "float8_e3m4", "float8_e8m0fnu", "int8"),
        ("float8_e4m3fn", "float8_e5m2", "float8_e5m2fnuz"),
    ),
    "small": Group(
        N_("6, 4, 2 bits"),
        ("float6_e2m3fn", "float6_e3m2fn", "float4_e2m1fn", "nf4", "int4", "uint4", "int2"),
        ("float6_e2m3fn", "float4_e2m1fn", "nf4"),
    ),
    # bfloat16 right below float32, whose upper half it is.
    "all": Group(
        N_("All"),
        tuple(dict.fromkeys(("float64", "float32", "bfloat16", *FORMATS))),
        ("float32", "float16", "bfloat16"),
    ),
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Number:
    """A number of a format: the one that a code means."""

    fmt: Format
    code: int


def choose_group() -> Group:
    chosen = ASK.selectbox(
        "group",
        _("Formats"),
        list(GROUPS),
        default="training",
        labels=lambda group: _(GROUPS[group].label),
    )
    return GROUPS[chosen]


def choose_number() -> Number:
    """Ask for a format and one of its numbers: dragged here, or made of its bits."""
    place = st.container()
    fmt = _choose_format()
    code = choose_code(fmt)
    with place:
        _slide_through(fmt, code)
    return Number(fmt, code)


def _slide_through(fmt: Format, code: int) -> None:
    value = float(fmt.decode([code])[0])
    stops, at = with_number(_numbers_of(fmt), hex_code(fmt, code), value)
    slider_for(
        ASK, "code", _("Number"), list(stops), at=at,
        labels=lambda each: written_value(fmt, int(each, 16)),
    )  # fmt: skip


@lru_cache(maxsize=64)
def _numbers_of(fmt: Format) -> Mapping[str, Fraction]:
    numbers = ((hex_code(fmt, code), fmt.exact(code)) for code in codes_in_order(fmt))
    return {code: exact for code, exact in numbers if isinstance(exact, Fraction)}


def _choose_format() -> Format:
    """Ask for a format; the number on show goes with the reader into the new one."""

    def draw(
        *, key: str, disabled: bool, on_change: Callable[..., None], args: tuple[Any, ...]
    ) -> str:
        def change() -> None:
            before = find_format(st.session_state[ASK.key("format")])
            on_change(*args)
            take_along(before, find_format(st.session_state[ASK.key("format")]))

        return st.selectbox(
            _("Format"), list(FORMATS), key=key, disabled=disabled, on_change=change
        )

    return FORMATS[ASK.choose("format", one_of(list(FORMATS), DEFAULT_FORMAT), draw)]


def take_along(before: Format, after: Format, name: str = "code") -> None:
    """Rewrite the code on show: the same number in another format."""
    key = ASK.key(name)
    written = _read_code(before, st.session_state.get(key, ""))
    if not written:
        return
    st.session_state[f"{key}_before"] = st.session_state[key]
    exact = before.exact(int(written, 16))
    number = float(exact) if isinstance(exact, str) else exact
    sign = -1 if before.is_negative(int(written, 16)) and isinstance(exact, str) else 1
    ASK.write(name, hex_code(after, explain_cast(after, sign * number).code))


def choose_code(fmt: Format, name: str = "code") -> int:
    """Return the code that the address or the grid says; that of 1.0 where neither does."""
    key = ASK.key(name)
    # The address is a run behind: a code of the format before is no mistake of the reader's.
    before = st.session_state.get(f"{key}_before") if key in st.session_state else None
    accepted = Accepts(
        read=lambda text: _read_code(fmt, st.session_state[key] if text == before else text),
        write=str,
        allowed=lambda: _("a code from {first} to {last}, or nothing for that of 1").format(
            first=hex_code(fmt, 0), last=hex_code(fmt, fmt.num_codes - 1)
        ),
        default="",
    )

    def show(*, key: str, disabled: bool) -> str:
        with st.container(key=f"bound_{key}"):
            text = st.text_input(
                key,
                "",
                key=key,
                max_chars=_MAX_CODE_CHARS,
                label_visibility="collapsed",
                disabled=disabled,
                bind="query-params",
                persist_state="session",
            )
        return _read_code(fmt, text) or ""

    written = pick(ASK.page, name, accepted, show)
    return int(written, 16) if written else explain_cast(fmt, "1").code


def _read_code(fmt: Format, text: str) -> str | None:
    """Return a code in the way that the address writes it; "" for "", None for no code of `fmt`.

    >>> _read_code(FORMATS["float16"], "0x3c00"), _read_code(FORMATS["float16"], "0x13c00")
    ('0x3C00', None)
    >>> _read_code(FORMATS["float16"], "0b101")
    '0x0005'
    """
    if not text:
        return ""
    try:
        code = int(text, 2 if text.lower().startswith("0b") else 16)
    except ValueError:
        return None
    return hex_code(fmt, code) if 0 <= code < fmt.num_codes else None
