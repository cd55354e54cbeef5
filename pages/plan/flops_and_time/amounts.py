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
from pages.plan.flops_and_time.inputs import (
    ASK,
    COUNTS,
    Exact,
    choose_dtype,
    dtype_name,
    in_python,
    settings,
    tell_other_dtype,
)
from pages.shared.plan.choices import ChosenDevice, choose_device
from pages.shared.settings import look, presenting
from pages.shared.tabbed_page import Chart, Shown

STATES: Final = ("mixed_bf16", "cs336_12")  # recipes of 16 and of 12 bytes a parameter
DAYS: Final = (
    *(1, 2, 3, 4, 5, 6, 7, 10, 14, 21, 30, 45, 60, 90, 120, 180, 270, 365), *(500, 730, 1000)
)  # fmt: skip
CODE: Final = """
num_devices, days = {count}, {days}
peak = {peak}  # FLOP/s of one {device}, {dtype} without sparsity: its data sheet
mfu = {mfu}
flops = num_devices * days * 24 * 60 * 60 * peak * mfu

tokens_per_param = 20  # Hoffmann et al. 2022
num_params = (flops / (6 * tokens_per_param)) ** 0.5  # flops = 6 * N * D with D = 20 * N
num_tokens = tokens_per_param * num_params

print(f"{{flops:.3e}} FLOPs")
print(f"{{num_params:.3e}} parameters")
print(f"{{num_tokens:.3e}} tokens")
"""
CODE_OF_THE_LADDER: Final = """
rungs = {{
{rungs}
}}
for name, flops in rungs.items():
    print(f"{{flops:10.3g}} FLOPs  {{name}}")
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
    count = Exact(
        name="rented", label=_("Devices"), typed=_("Devices"), low=1, high=1_000_000, default=8,
        stops=COUNTS, written="{:,}".format,
    )  # fmt: skip
    days = Exact(
        name="days", label=_("Days"), typed=_("Days"), low=1, high=10_000, default=14,
        stops=DAYS, written="{:,}".format,
    )  # fmt: skip
    places = count.place(), days.place()
    mfu = ASK.slider("reached", _("MFU"), 0.01, 1.0, default=1.0, step=0.01)
    device = choose_device(ASK)
    with settings():
        dtype = choose_dtype(device.device)
        rented, for_days = count.choose(places[0], step=1), days.choose(places[1], step=1)
    tell_other_dtype(device.device, dtype)
    return Rent(count=rented, device=device, days=for_days, dtype=dtype, mfu=mfu)


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
        _("memory full at 16 bytes/parameter"): float(wide.amount),
        _("memory full at 12 bytes/parameter"): float(narrow.amount),
    }
    return Shown(
        headline=sentence(rent, flops),
        charts=[Chart(picture=loss_picture(spent, limits, look()), file_name="loss-over-size")],
        numbers=[
            (_("FLOPs"), flops),
            (_("Parameters"), best_params(spent)),
            (_("Tokens"), best_tokens(spent)),
            (_("16 bytes/parameter"), wide),
        ],
        widths=(4, 1),
        notes=[] if presenting() else [_why_not_twenty(spent)],
        code=CODE.format(
            count=rent.count, days=rent.days, device=device.name, dtype=dtype_name(rent.dtype),
            peak=in_python(peak), mfu=rent.mfu,
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
        "{flops} from {count} × {device} in {days} day: best spent on {params} parameters and "
        "{tokens} tokens",
        "{flops} from {count} × {device} in {days} days: best spent on {params} parameters and "
        "{tokens} tokens",
        rent.days,
    )
    return text.format(
        count=f"{rent.count:,}",
        device=rent.device.device.name,
        days=f"{rent.days:,}",
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
    """Show amounts of compute from a laptop's matrix product to the largest runs."""
    rungs = flop_ladder()[:count]
    lines = "\n".join(f"    {_(rung.name)!r}: {_expression(rung)}" for rung in rungs)
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
        code=CODE_OF_THE_LADDER.format(rungs=lines),
    )


def _expression(rung: Item) -> str:
    """Return as Python the product behind a rung, or the amount that its source states."""
    text = rung.substituted if rung.rule else f"{rung.amount:,}"
    return f"{text.replace(',', '_')},  # {_(rung.source)}"
