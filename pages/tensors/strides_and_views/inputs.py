"""What the page of strides asks for: a tensor, a program, and which element is looked at."""

from dataclasses import dataclass
from typing import Final

import streamlit as st

from core.budget.catalogue.models import MODELS
from core.language import _
from core.tensors.examples import DTYPES, PRESETS, Preset, given, titles
from core.tensors.shape_text import lengths_in, written_shape
from core.tensors.trace import Trace, trace
from pages.shared.inputs import Inputs
from pages.shared.tensors.examples import offer_examples
from pages.shared.tensors.lengths import LENGTHS, ask_last_lengths, length_settings
from pages.shared.tensors.program import ask_program

ASK: Final = Inputs("strides")
START: Final = PRESETS["transpose"]
ALL_IN_A_ROW: Final = "-1"  # the wanted shape at first


@dataclass(frozen=True, kw_only=True, slots=True)
class Case:
    """A program that ran on `x`, and the example that it is, if it is one."""

    source: str
    shape: tuple[int, ...]
    dtype: str
    trace: Trace
    has_data: bool  # large tensors hold no numbers
    preset: Preset | None = None


def choose_case() -> Case:
    names = titles(PRESETS)
    names |= {
        key: f"{names[key]} · {MODELS[row.model].name}" for key, row in PRESETS.items() if row.model
    }
    offer_examples(ASK, "preset", names, _settings)
    before = ASK.used("code")
    source = ask_program(
        ASK,
        START.source,
        height=122,
        help=_("PyTorch and einops as you would type them; x is the tensor. Ctrl + Enter runs it."),
    )
    last = ask_last_lengths(ASK, LENGTHS, START.shape)
    with st.popover(_("Settings"), icon=":material/tune:", key=ASK.key("settings")):
        leading = ASK.text(
            "leading",
            _("Dimensions before these two"),
            max_chars=60,
            help=_("Lengths with commas: with 2, 12 and the sliders at 128 and 64, x has the shape "
                   "(2, 12, 128, 64)."),
        )  # fmt: skip
        dtype = ASK.selectbox("dtype", "dtype", tuple(DTYPES), default=START.dtype)
    shape = (*lengths_in(leading), *last)
    if min(shape) < 0:
        raise ValueError(_("A length is never negative."))
    x, limits = given(shape, dtype)
    ran = trace(source, {"x": x}, limits)
    if ASK.used("tab") == "why":
        _follow_the_program(ran, is_new=before not in {"", source})
    same = (each for each in PRESETS.values() if (each.source, each.shape) == (source, shape))
    return Case(
        source=source, shape=shape, dtype=dtype, trace=ran, has_data=not limits.on_meta,
        preset=next(same, None),
    )  # fmt: skip


def _follow_the_program(ran: Trace, *, is_new: bool) -> None:
    """Bring the shape that the program was refused into the field of the wanted shape."""
    if is_new:
        ASK.write("target", ALL_IN_A_ROW)
    key = ASK.key("target")
    held = st.session_state.get(key, st.query_params.get(key, ALL_IN_A_ROW))
    if ran.refused_shape is not None and str(held).strip() in {"", ALL_IN_A_ROW}:
        ASK.write("target", written_shape(ran.refused_shape))


def _settings(key: str) -> dict[str, object]:
    preset = PRESETS[key]
    return length_settings(preset.shape) | {
        "code": preset.source,
        "leading": written_shape(preset.shape[:-2]) if len(preset.shape) > 2 else "",
        "dtype": preset.dtype,
        "at": "",
    }
