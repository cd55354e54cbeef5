"""Inputs that several tabs of FLOPs and time share, and where on a projector they go."""

from contextlib import AbstractContextManager, nullcontext
from typing import Final

import streamlit as st

from core.budget.cluster import DeviceSpec
from core.budget.recipe import Checkpointing
from core.language import N_, _
from pages.shared.budget.choices import ChosenModel, choose_model
from pages.shared.inputs import Inputs
from pages.shared.settings import presenting
from pages.shared.tabbed_page import Shown

ASK: Final = Inputs("flops")
CONTEXTS: Final[tuple[int, ...]] = tuple(2**power for power in range(8, 21))
DTYPE_NAMES: Final = {
    "bfloat16": "BF16",
    "float16": "FP16",
    "fp8": "FP8",
    "tf32": "TF32",
    "float32": "FP32",
}
CHECKPOINTING: Final[dict[Checkpointing, str]] = {
    "none": N_("none"), "selective": N_("selective"), "full": N_("full")
}  # fmt: skip


def aside() -> AbstractContextManager[object]:
    """Put inputs in the row itself; on a projector, which is narrow, into the settings."""
    return _popover() if presenting() else nullcontext()


def settings() -> AbstractContextManager[object]:
    """Put inputs that few readers need into the settings; it stands inside `aside`."""
    return nullcontext() if presenting() else _popover()


def _popover() -> AbstractContextManager[object]:
    return st.popover(_("Settings"), icon=":material/tune:", key="flops_settings", width="content")


def choose_the_model() -> ChosenModel:
    """Show the list of models."""
    return choose_model(ASK, default="llama-3.1-8b")


def choose_context() -> int:
    """Show the slider of the context."""
    return ASK.select_slider(
        "context", _("Context in tokens"), CONTEXTS, default=8192, labels="{:,}".format
    )


def choose_checkpointing() -> Checkpointing:
    """Show which activations are recomputed."""
    return ASK.segmented(
        "checkpointing",
        _("Activation checkpointing"),
        tuple(CHECKPOINTING),
        default="none",
        labels=lambda name: _(CHECKPOINTING[name]),
    )


def choose_dtype(device: DeviceSpec) -> str:
    """Show in what the products are computed; where a device cannot, its first dtype is used."""
    wanted = ASK.selectbox(
        "dtype",
        _("Products in"),
        tuple(DTYPE_NAMES),
        default="bfloat16",
        labels=DTYPE_NAMES.__getitem__,
    )
    if device.peak.get(wanted):
        return wanted
    able = [name for name in (*DTYPE_NAMES, *device.peak) if device.peak.get(name)]
    if able:
        st.caption(
            _("{device} has no known speed in {wanted}; {used} is used.").format(
                device=device.name, wanted=DTYPE_NAMES[wanted], used=dtype_name(able[0])
            )
        )
    return able[0] if able else wanted


def dtype_name(dtype: str) -> str:
    """Return a dtype as data sheets write it."""
    return DTYPE_NAMES.get(dtype, dtype)


def plain(amount: float) -> str:
    """Return a number as a person types it: no exponent, no zeros behind.

    >>> plain(1e-06), plain(15.0), plain(10_000.0)
    ('0.000001', '15', '10,000')
    """
    return f"{amount:,.6f}".rstrip("0").rstrip(".")


def no_number(why: ValueError) -> Shown:
    """Show the sentence why there is nothing to compute."""
    return Shown(headline=str(why), notes=[_("There is no number to compute with these settings.")])
