"""Inputs that several tabs of FLOPs and time share, and numbers that are dragged and typed."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final, Generic, TypeVar

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from core.budget.cluster import DeviceSpec
from core.budget.recipe import Checkpointing
from core.language import N_, _
from pages.shared.inputs import Inputs, stand_at
from pages.shared.plan.choices import ChosenModel, choose_model
from pages.shared.settings import is_hidden, locked
from pages.shared.sides import box, reading
from pages.shared.tabbed_page import Shown

N = TypeVar("N", int, float)

ASK: Final = Inputs("flops")


def doublings(first: int, last: int) -> tuple[int, ...]:
    """Return powers of two with one stop between each two of them.

    >>> doublings(1, 16)
    (1, 2, 3, 4, 6, 8, 12, 16)
    """
    stops = {size for power in range(32) for size in (2**power, 3 * 2**power)}
    return tuple(sorted(size for size in stops if first <= size <= last))


def decades(low: int, high: int) -> tuple[float, ...]:
    """Return stops from 10**low to beyond 10**high, eleven to each power of ten.

    >>> decades(0, 0)
    (1.0, 1.2, 1.5, 2.0, 2.5, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0)
    """
    digits = (1, 1.2, 1.5, 2, 2.5, 3, 4, 5, 6, 7, 8)
    return tuple(float(f"{digit}e{power}") for power in range(low, high + 1) for digit in digits)


CONTEXTS: Final = doublings(256, 2**20)
COUNTS: Final = doublings(1, 2**17)  # of devices
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


@dataclass(frozen=True, kw_only=True, slots=True)
class Exact(Generic[N]):
    """A number that the hand drags in the rail and that the settings take exactly."""

    name: str
    label: str
    typed: str
    low: N
    high: N
    default: N
    stops: Sequence[N]
    written: Callable[[N], str]

    def place(self) -> DeltaGenerator:
        """Return the place of the slider, which is filled when the field has been drawn."""
        return box(st.container, key=f"{ASK.key(self.name)}_place")

    def choose(self, place: DeltaGenerator, *, step: N) -> N:
        """Show the field here and the slider in its place, and return their number."""
        number = ASK.number(
            self.name, self.typed, self.low, self.high, default=self.default, step=step
        )
        if not (reading() or is_hidden(ASK.page, self.name)):
            with place:
                self._draw_slider(number)
        return number

    def _draw_slider(self, number: N) -> None:
        seen, between = (f"{ASK.key(self.name)}_{part}" for part in ("dragged", "between"))
        if number not in self.stops:
            st.session_state[between] = number
        extra: Any = st.session_state.get(between, self.default)
        stops = sorted({*self.stops, extra})
        start = stand_at(seen, number, tuple(map(self.written, stops)))
        st.select_slider(
            self.label,
            stops,
            format_func=self.written,
            key=seen,
            disabled=locked(),
            on_change=lambda: ASK.set(self.name, st.session_state[seen]),
            **start,
        )


def settings() -> DeltaGenerator:
    name, icon = _("Settings"), ":material/tune:"
    return box(st.popover, name, icon=icon, key="flops_settings", width="stretch")


def choose_the_model() -> ChosenModel:
    return choose_model(ASK, default="llama-3.1-8b")


def choose_context() -> int:
    return ASK.select_slider(
        "context", _("Sequence length"), CONTEXTS, default=8192, labels="{:,}".format
    )


def choose_checkpointing() -> Checkpointing:
    return ASK.segmented(
        "checkpointing",
        _("Activation checkpointing"),
        tuple(CHECKPOINTING),
        default="none",
        labels=lambda name: _(CHECKPOINTING[name]),
    )


def choose_dtype(device: DeviceSpec) -> str:
    """Show in what matrices are multiplied; where a device cannot, its first dtype is used."""
    wanted = ASK.selectbox(
        "dtype",
        _("Precision"),
        tuple(DTYPE_NAMES),
        default="bfloat16",
        labels=DTYPE_NAMES.__getitem__,
    )
    if device.peak.get(wanted):
        return wanted
    able = [name for name in (*DTYPE_NAMES, *device.peak) if device.peak.get(name)]
    return able[0] if able else wanted


def tell_other_dtype(device: DeviceSpec, dtype: str) -> None:
    """Say so if another dtype is used than the chosen one: its choice is out of sight."""
    wanted = ASK.used("dtype", dtype)
    if wanted != dtype:
        st.caption(
            _("{device} has no known speed in {wanted}; {used} is used.").format(
                device=device.name, wanted=dtype_name(wanted), used=dtype_name(dtype)
            )
        )


def dtype_name(dtype: str) -> str:
    return DTYPE_NAMES.get(dtype, dtype)


def in_python(number: float) -> str:
    """Return a number as Python, short where that loses nothing.

    >>> in_python(989.4e12), in_python(1 / 3)
    ('9.895e14', '0.3333333333333333')
    """
    short = f"{number:g}".replace("e+", "e")
    return short if float(short) == number else repr(number)


def plain(amount: float) -> str:
    """Return a number as a person types it: no exponent, no zeros behind.

    >>> plain(1e-06), plain(15.0), plain(10_000.0)
    ('0.000001', '15', '10,000')
    """
    return f"{amount:,.6f}".rstrip("0").rstrip(".")


def no_number(why: ValueError) -> Shown:
    return Shown(headline=str(why), notes=[_("There is no number to compute with these settings.")])
