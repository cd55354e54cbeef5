"""What the page of model sizes asks for: a size, a device, how narrow formats are stored."""

from dataclasses import dataclass
from typing import Final

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from core.budget.catalogue.devices import DEVICES
from core.budget.catalogue.sizes import SIZES, Size, size_of
from core.figures.budget.model_sizes.weight_words import Line
from core.language import _
from core.units import format_count
from pages.shared import pickers
from pages.shared.budget.choices import ChosenDevice, choose_device
from pages.shared.budget.own_config import own_model

PAGE: Final = "sizes"
TABS: Final = ("model", "table", "parts", "tensor")
DEFAULT_SIZE: Final = "llama-2-7b"
DEFAULT_DEVICE: Final = "rtx-4090"
_WITHOUT_SIZE: Final = ("table", "tensor")
_LANDMARKS: Final = (
    ("rtx-4090", 1),
    ("h100-sxm", 1),
    ("h100-sxm", 8),
    ("b200", 1),
    ("t4", 1),
    ("mi355x", 1),
    ("a100-40gb", 1),
    ("b200", 8),
)


@dataclass(frozen=True, kw_only=True, slots=True)
class Case:
    """What the pictures of the page speak of.

    Attributes:
        size: The model or the round number.
        device: The device that it is held against.
        rest_in_16_bits: Whether what is not a matrix of a layer stays in 16 bits.
        beside_tabs: A place for the inputs of the open tab.
        messages: A place for sentences about them.
        code: Python that makes the size, for the snippet.
    """

    size: Size
    device: ChosenDevice
    rest_in_16_bits: bool
    beside_tabs: DeltaGenerator
    messages: DeltaGenerator
    code: str

    @property
    def line(self) -> Line:
        """The memory of the device."""
        return Line(self.device.device.name, self.device.device.memory_usable)


def choose_case() -> tuple[str, Case]:
    """Show the inputs in one row and the tabs below; return the open tab and what was chosen."""
    inputs = st.container(key="sizes_inputs", horizontal=True, vertical_alignment="bottom")
    beside_tabs = st.container(key="sizes_tabs", horizontal=True, vertical_alignment="center")
    messages = st.container(key="sizes_messages")
    with beside_tabs:
        tab = choose_tab()
    with inputs:
        slider = st.container(key="sizes_slider")
        device = choose_device(PAGE, default=DEFAULT_DEVICE)
        with st.popover(_("Settings"), icon=":material/tune:", key="sizes_settings"):
            keep = pickers.toggle(
                PAGE,
                "rest",
                _("Embeddings, head and norms stay in 16 bits"),
                default=True,
                help=_("So it is in real checkpoints: only the layers' matrices are quantized."),
            )
        own = own_model(PAGE, messages)
        with slider:
            word = _choose_word(disabled=own is not None or tab in _WITHOUT_SIZE)
    if own is None:
        size, code = SIZES[word], f'SIZES["{word}"]'
    else:
        size, code = size_of("own", own[0]), f'size_of("own", read_config({own[1]!r}))'
    case = Case(
        size=size,
        device=device,
        rest_in_16_bits=keep,
        beside_tabs=beside_tabs,
        messages=messages,
        code=code,
    )
    return tab, case


def _choose_word(*, disabled: bool) -> str:
    return pickers.select_slider(
        PAGE,
        "size",
        _("Parameters"),
        tuple(SIZES),
        default=DEFAULT_SIZE,
        labels=size_label,
        help=_("Every stop is a published model or a round number; the arrow keys step."),
        disabled=disabled,
    )


def size_label(word: str) -> str:
    """Return a stop of the slider in words: a model with its count, or a round number."""
    size = SIZES[word]
    if size.spec is None:
        return _("{count} parameters").format(count=format_count(size.num_params))
    return f"{size.name} · {format_count(size.num_params)}"


def tab_label(tab: str) -> str:
    """Return the word on the switch of a tab."""
    return {
        "model": _("One model"),
        "table": _("7B, 13B, 70B"),
        "parts": _("Parts"),
        "tensor": _("One tensor"),
    }[tab]


def choose_tab() -> str:
    """Show the tabs and return the open one."""
    return pickers.segmented(PAGE, "tab", _("Show"), TABS, default="model", labels=tab_label)


def landmarks() -> tuple[Line, ...]:
    """Return well-known memories, the most welcome in a picture first."""
    return tuple(
        Line(f"{number} × {DEVICES[key].name}" if number > 1 else DEVICES[key].name, size)
        for key, number in _LANDMARKS
        for size in [number * DEVICES[key].memory_usable]
    )
