"""Amounts of compute: what 8 H100 for two weeks are best spent on, and a ladder of amounts."""

from dataclasses import dataclass
from typing import Final

from core.budget.cluster import pool
from core.budget.compute.chinchilla import (
    BESIROGLU,
    HOFFMANN,
    best_params,
    best_tokens,
    lowest_ratio,
)
from core.budget.compute.flop_ladder import flop_ladder, machine_flops
from core.budget.item import Item
from core.budget.training.states import bytes_per_parameter, largest_by_states
from core.figures.budget.flops_and_time.amounts import ladder_picture, loss_picture
from core.figures.budget.flops_frame import scientific
from core.language import _, ngettext
from core.units import format_count
from pages.budget.flops_and_time.inputs import ASK, aside, choose_dtype, dtype_name, settings
from pages.shared.budget.choices import ChosenDevice, choose_device
from pages.shared.settings import look, presenting
from pages.shared.tabbed_page import Chart, Shown

STATES: Final = ("mixed_bf16", "cs336_12")  # recipes of 16 and of 12 bytes a parameter
CODE: Final = """
from core.budget.compute.chinchilla import best_params, best_tokens
from core.budget.catalogue.devices import DEVICES, custom_device, local_device
from core.budget.compute.flop_ladder import machine_flops
from core.machine import probe_machine

flops = machine_flops({count}, {days}, {device}.peak[{dtype!r}], share={mfu})
print(f"{{flops.amount:.3e}} FLOPs = {{flops.substituted}}")
print(f"{{best_params(flops.amount).amount:.3e}} parameters")
print(f"{{best_tokens(flops.amount).amount:.3e}} tokens")
"""
CODE_OF_THE_LADDER: Final = """
from core.budget.compute.flop_ladder import flop_ladder

for rung in flop_ladder()[:{count}]:
    print(f"{{rung.amount:10.3g}} FLOPs  {{rung.name}} ({{rung.source}})")
"""


@dataclass(frozen=True, kw_only=True, slots=True)
class Rent:
    """What the reader rents: devices for days, used at a share of their peak."""

    count: int
    device: ChosenDevice
    days: int
    dtype: str
    mfu: float


def choose_rent() -> Rent:
    """Show the inputs and return what is rented."""
    count = ASK.number("rented", _("Devices"), 1, 1_000_000, default=8, step=1)
    days = ASK.number("days", _("Days"), 1, 10_000, default=14, step=1)
    mfu = ASK.slider("reached", _("MFU"), 0.01, 1.0, default=1.0, step=0.01)
    with aside():
        device = choose_device(ASK)
        with settings():
            dtype = choose_dtype(device.device)
    return Rent(count=count, device=device, days=days, dtype=dtype, mfu=mfu)


def two_weeks(rent: Rent) -> Shown:
    """Show the loss that the rented compute buys, over the size of the model.

    Raises:
        ValueError: If nobody knows the peak of the device.
    """
    device = rent.device.device
    peak = device.peak.get(rent.dtype, 0.0)
    if not peak:
        raise ValueError(_("{device} has no known peak: no budget").format(device=device.name))
    flops = machine_flops(rent.count, rent.days, peak, share=rent.mfu)
    spent = float(flops.amount)
    wide, narrow = (
        largest_by_states(pool(device, rent.count), bytes_per_parameter(key)) for key in STATES
    )
    limits = {
        _("states of 16 bytes fill the memory"): float(wide.amount),
        _("states of 12 bytes fill it"): float(narrow.amount),
    }
    return Shown(
        headline=sentence(rent, flops),
        charts=[Chart(picture=loss_picture(spent, limits, look()), file_name="loss-over-size")],
        numbers=[
            (_("Compute"), flops),
            (_("Parameters"), best_params(spent)),
            (_("Tokens"), best_tokens(spent)),
            (_("16 bytes a parameter"), wide),
        ],
        widths=(4, 1),
        notes=[] if presenting() else [_why_not_twenty(spent)],
        code=CODE.format(
            count=rent.count, days=rent.days, device=rent.device.code, dtype=rent.dtype,
            mfu=rent.mfu,
        ),
    )  # fmt: skip


def _why_not_twenty(flops: float) -> str:
    """Return why the two laws are lowest at other numbers of tokens than 20."""
    return _(
        "Diamonds: where each law is lowest. Approach 3 of Hoffmann et al., as printed, says "
        "{printed} tokens for each parameter where their approaches 1 and 2 say about 20; "
        "Besiroglu et al. 2024 fitted the same runs again, and {refitted} agrees with those."
    ).format(
        printed=f"{lowest_ratio(flops, HOFFMANN).amount:.3g}",
        refitted=f"{lowest_ratio(flops, BESIROGLU).amount:.3g}",
    )


def sentence(rent: Rent, flops: Item) -> str:
    """Return the headline: what is rented, and the model that it trains best."""
    text = ngettext(
        "{count} × {device} for {days} day in {dtype} at an MFU of {mfu}: {flops}, best spent "
        "on {params} parameters and {tokens} tokens",
        "{count} × {device} for {days} days in {dtype} at an MFU of {mfu}: {flops}, best spent "
        "on {params} parameters and {tokens} tokens",
        rent.days,
    )
    return text.format(
        count=f"{rent.count:,}",
        device=rent.device.device.name,
        days=f"{rent.days:,}",
        dtype=dtype_name(rent.dtype),
        mfu=f"{rent.mfu:g}",
        flops=f"{scientific(flops.amount, 4)} FLOPs",
        params=format_count(best_params(flops.amount).amount),
        tokens=format_count(best_tokens(flops.amount).amount),
    )


def choose_rungs() -> int:
    """Show how many rungs are climbed and return it."""
    most = len(flop_ladder())
    return ASK.slider(
        "rungs", _("Rungs"), 2, most, default=most, step=1,
        help=_("In a class: climb one rung at a time."),
    )  # fmt: skip


def ladder(count: int) -> Shown:
    """Show amounts of compute from a laptop's product to the largest runs."""
    rungs = flop_ladder()[:count]
    first, last = rungs[0], rungs[-1]
    said = _("From {first} to {last} FLOPs, {times} times as many; at the top: {name}")
    return Shown(
        headline=said.format(
            first=scientific(first.amount),
            last=scientific(last.amount),
            times=scientific(last.amount / first.amount),
            name=_(last.name),
        ),
        charts=[Chart(picture=ladder_picture(rungs, look()), file_name="flop-ladder")],
        code=CODE_OF_THE_LADDER.format(count=count),
    )
