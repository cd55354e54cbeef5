"""The same choice at 7B and 70B, computed: what a device holds, and how long a step takes."""

from collections.abc import Sequence
from typing import Final

from core.budget.budget import at_peak
from core.figures.budget.device_bars import DeviceBar, bar_picture
from core.language import N_, _
from core.train.recipes.scale import BATCH, DEVICE, MFU, SEQ_LEN, SIZES, Scaled, at_scale
from core.units import format_percent, format_seconds
from pages.shared.settings import look
from pages.shared.tabbed_page import Chart, Shown, Tab
from pages.train.compare_recipes.code import code_at_scale
from pages.train.compare_recipes.inputs import ASK, Case


def choose_size() -> str:
    return ASK.segmented("size", _("Size"), tuple(SIZES), default="7B")


def scale_tab(case: Case, size: str) -> Shown:
    """Show a device's bytes and a step's seconds for each recipe, and for FP8 beside formats."""
    rows = at_scale(case.comparison, size)
    bars = [
        DeviceBar(label=row.label, parts=at_peak(row.memory.largest), low=row.memory.item.low,
                  high=row.memory.item.high, beside=[format_seconds(row.seconds.amount)])
        for row in rows
    ]  # fmt: skip
    picture = bar_picture(bars, DEVICE.memory_usable, look(), named_above=True)
    return Shown(
        headline=_headline(rows, size, len(case.comparison.values)), notes=_notes(case, rows, size),
        charts=[Chart(picture=picture, file_name="recipes-at-size")],
        code=code_at_scale(case.comparison, size),
    )  # fmt: skip


def _headline(rows: Sequence[Scaled], size: str, num_compared: int) -> str:
    first, last = rows[0], rows[num_compared - 1]
    return _(
        "{size}: “{name}” takes {bytes}, {seconds} a step; “{other}” {other_bytes}, {other_seconds}"
    ).format(
        size=size, name=last.label, bytes=look().format_bytes(last.memory.item.amount),
        seconds=format_seconds(last.seconds.amount), other=first.label,
        other_bytes=look().format_bytes(first.memory.item.amount),
        other_seconds=format_seconds(first.seconds.amount),
    )  # fmt: skip


def _notes(case: Case, rows: Sequence[Scaled], size: str) -> list[str]:
    _key, num_devices = SIZES[size]
    notes = [
        _("Computed, not trained: {count} {device}, everything sharded by FSDP2, {batch} sequences "
          "of {length} tokens a device and step for all, products at {share} of the peak of their "
          "format. Blocks are recomputed unless that is what is compared.").format(
            count=num_devices, device=DEVICE.name, batch=BATCH, length=SEQ_LEN,
            share=format_percent(MFU))
    ]  # fmt: skip
    if len(rows) > len(case.comparison.values):
        fp8 = rows[-1].seconds
        notes.append(
            _("FP8 training is trained nowhere here. torchao multiplies the blocks' linear layers "
              "in fp8 and keeps weights, moments and saved inputs as they were: no byte less, "
              "{low} to {high} a step.").format(
                low=format_seconds(fp8.low), high=format_seconds(fp8.high))
        )  # fmt: skip
    if not rows[-1].is_counted:
        notes.append(_("What differs changes neither the bytes nor the FLOPs of a step."))
    if case.comparison.axis == "optimizer":
        notes.append(_("The optimizer's own products, Muon's above all, are not in the seconds."))
    return notes


TAB: Final = Tab(label=N_("At 7B and 70B"), show=scale_tab, choose=choose_size, unseen=("over",))
