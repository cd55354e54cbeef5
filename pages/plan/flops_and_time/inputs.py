"""What the tabs of FLOPs and time share: the plan beside what only they ask, and its words."""

from collections.abc import Callable, Sequence
from typing import Any, Final

import streamlit as st

from core.budget.cluster import DeviceSpec
from core.language import _
from core.units import format_percent
from pages.shared.beside import Compared, named_beside
from pages.shared.inputs import Inputs
from pages.shared.plan.choices import CHECKPOINTED
from pages.shared.plan.plan import Chosen
from pages.shared.tabbed_page import Shown

ASK: Final = Inputs("flops")
DTYPE_NAMES: Final = {
    "bfloat16": "BF16",
    "float16": "FP16",
    "fp8": "FP8",
    "tf32": "TF32",
    "float32": "FP32",
}


def choose_dtype() -> str:
    return ASK.selectbox("dtype", _("Matmul precision"), DTYPE_NAMES, default="bfloat16")


def possible_dtype(device: DeviceSpec, wanted: str) -> str:
    """Return in what matrices are multiplied; where a device cannot, its first dtype is told."""
    able = [name for name in (wanted, *DTYPE_NAMES, *device.peak) if device.peak.get(name)]
    used = able[0] if able else wanted
    if used != wanted:
        st.caption(
            _("{device} has no known speed in {wanted}; {used} is used.").format(
                device=device.name, wanted=dtype_name(wanted), used=dtype_name(used)
            )
        )
    return used


def known_peak(device: DeviceSpec, dtype: str) -> float:
    """Return the dense FLOP/s of a device, or raise a sentence where nobody knows them."""
    if peak := device.peak.get(dtype, 0.0):
        return peak
    raise ValueError(_("{device} has no known peak").format(device=device.name))


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


def token_words(num_tokens: float) -> str:
    """Return tokens of a training in trillions, few of them in billions.

    >>> token_words(15e12), token_words(0.3e12), token_words(1e9)
    ('15 T', '0.3 T', '1 B')
    """
    return f"{plain(num_tokens / 1e12)} T" if num_tokens >= 1e11 else f"{plain(num_tokens / 1e9)} B"


def words_of(chosen: Chosen) -> list[str]:
    """Return a plan word by word: what tells two of them apart."""
    plan, cluster, recipe = chosen.plan, chosen.plan.cluster, chosen.plan.recipe
    return [
        plan.spec.name,
        f"{plan.num_devices:,} × {cluster.device.name}",
        f"TP {cluster.tensor} · PP {cluster.pipeline} · ZeRO {cluster.zero_stage}",
        _("{count} tokens").format(count=f"{recipe.seq_len:,}"),
        _("{count} tokens").format(count=token_words(plan.num_tokens)),
        _("checkpointing: {kind}").format(kind=_(CHECKPOINTED[recipe.checkpointing])),
        _("{mfu} MFU").format(mfu=format_percent(plan.mfu) if plan.mfu else _("computed")),
    ]


def compared(
    own_words: Callable[[Any], Sequence[str]], side_of: Callable[[Chosen, str], Compared]
) -> Callable[[Sequence[Any], Sequence[Any]], Shown]:
    """Return what shows two sides, named by the words of the plan and of what a tab asks."""
    return named_beside(lambda chosen: [*words_of(chosen), *own_words(chosen.own)], side_of)


def no_number(why: ValueError) -> Shown:
    return Shown(headline=str(why), notes=[_("There is no number to compute with these settings.")])
