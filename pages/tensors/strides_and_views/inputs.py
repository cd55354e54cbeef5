"""What the page of strides asks for: a tensor, a program, and which element is looked at."""

import math
import re
from dataclasses import dataclass
from typing import Final

import streamlit as st

from core.expressions.limits import MAX_CHARACTERS
from core.language import _
from core.tensors.presets import BY_KEY, DTYPES, PRESETS, Preset, given
from core.tensors.trace import Trace, trace
from pages.components.tensor_map.tensor_map import MAX_CELLS
from pages.shared.inputs import Inputs
from pages.shared.settings import is_hidden, locked

ASK: Final = Inputs("strides")
START: Final = PRESETS[0]
LENGTHS: Final = (
    *range(1, 17), 18, 20, 24, 32, 48, 64, 96, 128, 256, 512, 768, 1024, 2048, 4096, 8192,
    128256,
)  # fmt: skip
MAX_RANK: Final = 8


@dataclass(frozen=True, kw_only=True, slots=True)
class Case:
    """A program that ran.

    Attributes:
        source: Its text.
        shape, dtype: Of `x`.
        trace: What happened.
        has_data: Whether the tensors hold numbers; large ones do not.
        preset: The example that this is, if it is one.
    """

    source: str
    shape: tuple[int, ...]
    dtype: str
    trace: Trace
    has_data: bool
    preset: Preset | None = None


def choose_case() -> Case:
    """Show the inputs and return the program after it ran."""
    _choose_preset()
    source = _program()
    columns = ASK.select_slider(
        "columns", _("Last dimension of x"), LENGTHS, default=START.shape[-1]
    )
    rows = ASK.select_slider(
        "rows",
        _("Dimension before it"),
        (0, *LENGTHS),
        default=START.shape[-2],
        labels=lambda length: str(length) if length else _("none"),
    )
    with st.popover(_("Settings"), icon=":material/tune:", key=ASK.key("settings")):
        leading = ASK.text(
            "leading",
            _("Dimensions before these two"),
            max_chars=60,
            help=_("Lengths with commas: with 2, 12 and the sliders at 128 and 64, x has the shape "
                   "(2, 12, 128, 64)."),
        )  # fmt: skip
        dtype = ASK.selectbox("dtype", "dtype", tuple(DTYPES), default=START.dtype)
    shape = (*lengths_in(leading), *((rows,) if rows else ()), columns)
    if min(shape) < 0:
        raise ValueError(_("A length is never negative."))
    x, limits = given(shape, dtype)
    ran = trace(source, {"x": x}, limits)
    same = (each for each in PRESETS if (each.source, each.shape) == (source, shape))
    return Case(
        source=source, shape=shape, dtype=dtype, trace=ran, has_data=not limits.on_meta,
        preset=next(same, None),
    )  # fmt: skip


def lengths_in(text: str) -> tuple[int, ...]:
    """Return the lengths in a text.

    Raises:
        ValueError: If there is something else, or too many.
    """
    words = re.split(r"[,\s]+", text.strip()) if text.strip() else []
    if len(words) > MAX_RANK or not all(re.fullmatch(r"-1|\d{1,9}", word) for word in words):
        message = _("{text} is no list of up to {count} lengths, such as 2, 12.")
        raise ValueError(message.format(text=repr(text), count=MAX_RANK))
    return tuple(int(word) for word in words)


def _choose_preset() -> None:
    """Offer the presets; one that is chosen fills the other inputs."""
    key = ASK.key("preset_menu")
    st.menu_button(
        _("Examples"),
        [preset.key for preset in PRESETS],
        format_func=_title,
        key=key,
        disabled=locked(),
        on_click=lambda: open_preset(BY_KEY[str(st.session_state[key])]),
    )


def _title(key: str) -> str:
    preset = BY_KEY[key]
    return f"{_(preset.title)} · {_(preset.of)}" if preset.of else _(preset.title)


def open_preset(preset: Preset) -> None:
    """Write a preset into the inputs."""
    *leading, rows, columns = (0, *preset.shape) if len(preset.shape) == 1 else preset.shape
    ASK.set("code", preset.source)
    ASK.set("leading", ", ".join(map(str, leading)))
    ASK.set("rows", rows)
    ASK.set("columns", columns)
    ASK.set("dtype", preset.dtype)
    ASK.set("at", "")
    if math.prod(preset.shape) > MAX_CELLS:  # nothing is drawn: its steps say more
        ASK.set("tab", "steps")


def _program() -> str:
    """Show the program in a field of several lines; an unseen one holds it for the address."""
    with st.container(key=f"bound_{ASK.key('code')}"):
        source = ASK.text("code", ASK.key("code"), default=START.source, max_chars=MAX_CHARACTERS)
    if not is_hidden(ASK.page, "code"):
        field = ASK.key("field")
        st.session_state[field] = source
        st.text_area(
            _("Program"),
            key=field,
            max_chars=MAX_CHARACTERS,
            height=122,
            on_change=lambda: ASK.set("code", st.session_state[field]),
            help=_(
                "PyTorch and einops as you would type them; x is the tensor. Ctrl + Enter runs it."
            ),
            disabled=locked(),
        )
    return source
