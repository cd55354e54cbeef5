"""The tab of MFU: one measured speed, several conventions."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, cast

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from core.budget.compute.conventions import mfu_conventions
from core.budget.item import Item
from core.budget.recipe import Checkpointing, TrainingRecipe
from core.figures.budget.flops_and_time.mfu_bars import mfu_alt, mfu_bars, mfu_table
from core.language import _
from core.units import format_percent
from pages.budget.flops_and_time import places
from pages.budget.flops_and_time.places import DTYPE_NAMES, PAGE
from pages.shared import pickers
from pages.shared.budget.choices import ChosenDevice, ChosenModel
from pages.shared.charts import show_chart
from pages.shared.header import headline
from pages.shared.settings import presenting, theme_mode

TORCHTITAN: Final = 5762  # tokens/s of Llama 3.1 8B on one of 8 H100, docs/performance
CODE: Final = """
from core.budget.catalogue.models import MODELS
from core.budget.catalogue.devices import DEVICES, custom_device, local_device
from core.budget.catalogue.hf_config import read_config
from core.budget.compute.conventions import mfu_conventions
from core.budget.recipe import TrainingRecipe
from core.machine import probe_machine

device = {device}
recipe = TrainingRecipe(seq_len={context}, checkpointing={checkpointing!r})
peak = device.peak[{dtype!r}]
for item in mfu_conventions({model}, recipe, {speed}, peak, sparsity={sparsity}):
    print(f"{{item.name:18}} {{item.amount:7.1%}} = {{item.formula}}")
"""


@dataclass(frozen=True, kw_only=True, slots=True)
class Measured:
    """What the reader measured, and on what.

    Attributes:
        model: The model.
        device: The device.
        recipe: Length and checkpointing.
        speed: Tokens/s of one device.
        dtype: What the products are in.
    """

    model: ChosenModel
    device: ChosenDevice
    recipe: TrainingRecipe
    speed: int
    dtype: str


def choose_measured(row: DeltaGenerator) -> Measured:
    """Show the inputs and return what was measured."""
    with row:
        chosen = places.model()
        speed = pickers.number(
            PAGE, "speed", _("Tokens/s of one device"), 1, 10_000_000, default=TORCHTITAN,
            step=100, help=_("Measured while training; the default is torchtitan's on 8 H100."),
        )  # fmt: skip
        with places.aside() as box:
            device = places.device()
        with places.settings(box):
            context = places.context()
            checkpointing = places.checkpointing()
            dtype = places.dtype_of(device.device)
    recipe = TrainingRecipe(seq_len=context, checkpointing=cast("Checkpointing", checkpointing))
    return Measured(model=chosen, device=device, recipe=recipe, speed=speed, dtype=dtype)


def show_mfu(row: DeltaGenerator) -> str:
    """Show the tab and return the code of its number."""
    measured = choose_measured(row)
    device, recipe, dtype = measured.device.device, measured.recipe, measured.dtype
    peak = device.peak.get(dtype, 0.0)
    if not peak:
        headline(_("{device} has no known peak: MFU is n/a").format(device=device.name))
        return ""
    sparsity = device.has_sparse_peak(dtype)
    spec = measured.model.spec
    shares = mfu_conventions(spec, recipe, measured.speed, peak, sparsity=sparsity)
    headline(sentence(measured.speed, device.name, dtype, shares))
    _show(shares)
    return CODE.format(
        device=measured.device.code, context=recipe.seq_len, checkpointing=recipe.checkpointing,
        model=measured.model.code, speed=measured.speed, dtype=dtype, sparsity=sparsity,
    )  # fmt: skip


def _show(shares: Sequence[Item]) -> None:
    picture, numbers = places.picture_and_numbers()
    with picture:
        show_chart(
            mfu_bars(shares, theme_mode(), present=presenting()),
            key="flops_mfu_chart",
            alt=mfu_alt(shares),
            table=mfu_table(shares),
            file_name="mfu-conventions",
        )
        if any(share.amount > 1 for share in shares):
            st.caption(
                _("More than 100 % cannot be: look at the speed, the dtype, the model, the device.")
            )
    places.show_numbers(numbers, [(_(share.name), share) for share in shares[1:4]])


def sentence(speed: int, device: str, dtype: str, shares: Sequence[Item]) -> str:
    """Return the headline: one speed, and the shares of a peak that people call MFU."""
    by_name = {share.name: format_percent(share.amount) for share in shares}
    if "sparse peak" in by_name:
        text = _(
            "{speed} tokens/s on {device} in {dtype}: MFU {full} with full attention, {causal} "
            "causal; against the sparse peak it would look like {sparse}"
        )
    else:
        text = _(
            "{speed} tokens/s on {device} in {dtype}: MFU {full} with full attention, {causal} "
            "causal"
        )
    return text.format(
        speed=f"{speed:,}",
        device=device,
        dtype=DTYPE_NAMES.get(dtype, dtype),
        full=by_name["full attention"],
        causal=by_name["causal attention"],
        sparse=by_name.get("sparse peak", ""),
    )
