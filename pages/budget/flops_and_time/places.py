"""Where everything stands on the page of FLOPs and time, and the inputs that its tabs share."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Final

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from core.budget.cluster import DeviceSpec
from core.budget.item import Item
from core.language import _
from pages.shared import pickers
from pages.shared.budget.choices import ChosenDevice, ChosenModel, choose_device, choose_model
from pages.shared.inputs import Inputs
from pages.shared.numbers import explained_number
from pages.shared.settings import presenting

PAGE: Final = "flops"
MODEL: Final = "llama-3.1-8b"
CONTEXTS: Final[tuple[int, ...]] = tuple(2**power for power in range(8, 21))
DTYPES: Final = ("bfloat16", "float16", "fp8", "tf32", "float32")
DTYPE_NAMES: Final = {
    "bfloat16": "BF16",
    "float16": "FP16",
    "fp8": "FP8",
    "tf32": "TF32",
    "float32": "FP32",
}
CHECKPOINTING: Final = ("none", "selective", "full")


def inputs() -> DeltaGenerator:
    """Return the row of a tab's inputs."""
    return st.container(key="flops_inputs", horizontal=True, vertical_alignment="bottom")


@contextmanager
def aside() -> Iterator[DeltaGenerator | None]:
    """Put inputs in the row itself; on a projector, which is narrow, into the settings."""
    if not presenting():
        yield None
        return
    box = settings()
    with box:
        yield box


def settings(box: DeltaGenerator | None = None) -> DeltaGenerator:
    """Return a popover for the inputs that few readers need; `box` if there is one already."""
    if box is not None:
        return box
    return st.popover(_("Settings"), icon=":material/tune:", key="flops_settings", width="content")


def model() -> ChosenModel:
    """Show the list of models."""
    return choose_model(Inputs(PAGE), default=MODEL)


def device() -> ChosenDevice:
    """Show the list of devices."""
    return choose_device(Inputs(PAGE))


def context() -> int:
    """Show the slider of the context."""
    return pickers.select_slider(
        PAGE, "context", _("Context in tokens"), CONTEXTS, default=8192,
        labels=lambda tokens: f"{tokens:,}",
    )  # fmt: skip


def checkpointing() -> str:
    """Show which activations are recomputed."""
    return pickers.segmented(
        PAGE, "checkpointing", _("Activation checkpointing"), CHECKPOINTING, default="none",
        labels=lambda name: {
            "none": _("none"), "selective": _("selective"), "full": _("full")
        }[name],
    )  # fmt: skip


def dtype_of(chosen: DeviceSpec) -> str:
    """Show in what the products are computed; where a device cannot, its first dtype is used."""
    wanted = pickers.selectbox(
        PAGE, "dtype", _("Products in"), DTYPES, default="bfloat16", labels=DTYPE_NAMES.__getitem__
    )
    if chosen.peak.get(wanted):
        return wanted
    able = [name for name in (*DTYPES, *chosen.peak) if chosen.peak.get(name)]
    if able:
        st.caption(
            _("{device} has no known speed in {wanted}; {used} is used.").format(
                device=chosen.name,
                wanted=DTYPE_NAMES[wanted],
                used=DTYPE_NAMES.get(able[0], able[0]),
            )
        )
    return able[0] if able else wanted


def plain(amount: float) -> str:
    """Return a number as a person types it: no exponent, no zeros behind.

    >>> plain(1e-06), plain(15.0), plain(10_000.0)
    ('0.000001', '15', '10,000')
    """
    text = f"{amount:,.6f}"
    return text.rstrip("0").rstrip(".")


def picture_and_numbers() -> tuple[DeltaGenerator, DeltaGenerator]:
    """Return the place of the picture and the one of the numbers beside it."""
    if presenting():  # on a projector the numbers stand below
        return st.container(), st.container(horizontal=True)
    left, right = st.columns([4, 1])
    return left, right


def show_numbers(place: DeltaGenerator, items: Sequence[tuple[str, Item]]) -> None:
    """Show explained numbers, each under its translated label."""
    with place:
        for label, item in items:
            explained_number(label, item)
