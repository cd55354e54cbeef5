"""The tab of the roofline: the operations of a block, or five standard examples, below a roof."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final, cast

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from core.budget.compute.block_operations import op_intensities
from core.budget.compute.intensity import (
    ITEM_BYTES,
    PHASES,
    Operation,
    Phase,
    examples,
    ridge,
    together,
)
from core.budget.item import Item
from core.figures.budget.flops_and_time.roofline_plot import (
    roofline_alt,
    roofline_plot,
    roofline_table,
)
from core.figures.budget.flops_frame import intensity_words
from core.language import _, ngettext
from core.units import format_percent
from pages.budget.flops_and_time import places
from pages.budget.flops_and_time.places import DTYPE_NAMES, PAGE
from pages.shared import pickers
from pages.shared.budget.choices import ChosenDevice
from pages.shared.charts import show_chart
from pages.shared.header import headline
from pages.shared.settings import presenting, theme_mode

KINDS: Final = (*PHASES, "examples")
BATCHES: Final = tuple(2**power for power in range(13))
Maker = Callable[[float], tuple[tuple[Operation, ...], str]]  # from the bytes of a number
SIZES: Final = (64, 128, 256, 512, 887, 1024, 2048, 4096, 8192, 16384)
CODE: Final = """
from core.budget.compute.block_operations import op_intensities
from core.budget.catalogue.models import MODELS
from core.budget.catalogue.devices import DEVICES, custom_device, local_device
from core.budget.catalogue.hf_config import read_config
from core.budget.compute.intensity import bound, examples, ridge
from core.machine import probe_machine

device = {device}
peak = device.peak[{dtype!r}]
print(f"{{device.name}} turns at {{ridge(peak, device.bandwidth).amount:,.1f}} FLOPs/byte")
for operation in {operations}:
    share = bound(operation, peak, device.bandwidth).amount
    print(f"{{operation.name:28}} {{operation.intensity.amount:10,.2f}} FLOPs/byte {{share:8.2%}}")
"""


@dataclass(frozen=True, kw_only=True, slots=True)
class Choice:
    """What stands below which roof.

    Attributes:
        kind: One of `KINDS`.
        device: Whose roof it is.
        dtype: What is computed in; it makes the peak, and the bytes of every number.
        operations: The operations.
        code: Python that makes the same operations.
    """

    kind: str
    device: ChosenDevice
    dtype: str
    operations: Sequence[Operation]
    code: str

    @property
    def peak(self) -> float:
        """Dense FLOP/s of the device in the dtype; 0 if it is not known."""
        return self.device.device.peak.get(self.dtype, 0.0)


def choose_operations(row: DeltaGenerator) -> Choice:
    """Show the inputs and return what they say."""
    with row:
        kind = pickers.segmented(
            PAGE, "kind", _("Operations"), KINDS, default="decode", labels=kind_label
        )
        with places.aside() as box:
            make = _examples() if kind == "examples" else _block(cast("Phase", kind))
            device = places.device()
        with places.settings(box):
            dtype = places.dtype_of(device.device)
    operations, code = make(ITEM_BYTES.get(dtype, 2))
    return Choice(kind=kind, device=device, dtype=dtype, operations=operations, code=code)


def show_roofline(row: DeltaGenerator) -> str:
    """Show the tab and return the code of its number."""
    choice = choose_operations(row)
    device, peak = choice.device.device, choice.peak
    if not peak or not device.bandwidth:
        headline(_("{device} has no known speeds: no roof").format(device=device.name))
        return ""
    share = together(choice.operations, peak, device.bandwidth)
    edge = ridge(peak, device.bandwidth)
    headline(sentence(choice, edge, share))
    _show(choice, edge, share)
    return CODE.format(device=choice.device.code, dtype=choice.dtype, operations=choice.code)


def sentence(choice: Choice, edge: Item, share: Item) -> str:
    """Return how many operations wait, where the roof turns, and what all reach together."""
    waiting = sum(each.intensity.amount < edge.amount for each in choice.operations)
    text = _(
        "{kind}: {waiting} of {count} operations wait for memory; {device} turns at {edge} "
        "FLOPs for each byte, all together reach at most {share} of its peak"
    )
    return text.format(
        kind=kind_label(choice.kind),
        waiting=waiting,
        count=len(choice.operations),
        device=choice.device.device.name,
        edge=f"{edge.amount:,.1f}" if 1 <= edge.amount < 1000 else intensity_words(edge.amount),
        share=format_percent(share.amount),
    )


def _show(choice: Choice, edge: Item, share: Item) -> None:
    device, operations, peak = choice.device.device, choice.operations, choice.peak
    picture, numbers = places.picture_and_numbers()
    with picture:
        show_chart(
            roofline_plot(operations, device, peak, theme_mode(), present=presenting()),
            key="flops_roofline_chart",
            alt=roofline_alt(operations, device, peak),
            table=roofline_table(operations, device, peak),
            file_name="roofline",
        )
        _say_bytes(choice.dtype)
    places.show_numbers(numbers, [(_("turns at"), edge), (_("together"), share)])


def _say_bytes(dtype: str) -> None:
    """Say how many bytes a number takes, where it is not the usual two."""
    num_bytes = ITEM_BYTES.get(dtype, 2)
    if num_bytes != 2:
        st.caption(
            ngettext(
                "In {dtype} every number in memory is taken to be {bytes} byte.",
                "In {dtype} every number in memory is taken to be {bytes} bytes.",
                math.ceil(num_bytes),
            ).format(dtype=DTYPE_NAMES.get(dtype, dtype), bytes=f"{num_bytes:g}")
        )


def kind_label(kind: str) -> str:
    """Return what the roofline shows, in words."""
    return {
        "prefill": _("Prefill of a block"),
        "decode": _("Decode of a block"),
        "examples": _("Five examples"),
    }[kind]


def _examples() -> Maker:
    size = pickers.select_slider(
        PAGE, "size", _("Rows and columns n"), SIZES, default=1024, labels=lambda n: f"{n:,}"
    )
    return lambda item_bytes: (
        examples(size, item_bytes),
        f"examples({size}, item_bytes={item_bytes})",
    )


def _block(phase: Phase) -> Maker:
    chosen = places.model()
    batch_size = pickers.select_slider(
        PAGE, "batch", _("Sequences at once"), BATCHES, default=1, labels=lambda n: f"{n:,}"
    )
    context = places.context()

    def make(item_bytes: float) -> tuple[tuple[Operation, ...], str]:
        settings = {"batch_size": batch_size, "phase": phase, "item_bytes": item_bytes}
        written = ", ".join(f"{name}={value!r}" for name, value in settings.items())
        operations = op_intensities(chosen.spec, context, **settings)
        return operations, f"op_intensities({chosen.code}, {context}, {written})"

    return make
