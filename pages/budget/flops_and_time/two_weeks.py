"""The tab of a fixed compute: what 8 H100 for two weeks are best spent on."""

from dataclasses import dataclass
from typing import Final

from streamlit.delta_generator import DeltaGenerator

from core.budget.compute.chinchilla import best_params, best_tokens
from core.budget.compute.flop_ladder import machine_flops
from core.budget.fits.solve import largest_by_states
from core.budget.item import Item
from core.figures.budget.flops_and_time.iso_flop import iso_flop, iso_flop_alt, iso_flop_table
from core.figures.budget.flops_frame import scientific
from core.language import _, ngettext
from core.units import format_count
from pages.budget.flops_and_time import places
from pages.budget.flops_and_time.places import DTYPE_NAMES, PAGE
from pages.shared import pickers
from pages.shared.budget.choices import ChosenDevice
from pages.shared.charts import show_chart
from pages.shared.header import headline
from pages.shared.settings import presenting, theme_mode

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


@dataclass(frozen=True, kw_only=True, slots=True)
class Rent:
    """What the reader rents: devices for days, used at a share of their peak."""

    count: int
    device: ChosenDevice
    days: int
    dtype: str
    mfu: float


def choose_rent(row: DeltaGenerator) -> Rent:
    """Show the inputs and return what is rented."""
    with row:
        count = pickers.number(PAGE, "rented", _("Devices"), 1, 1_000_000, default=8, step=1)
        days = pickers.number(PAGE, "days", _("Days"), 1, 10_000, default=14, step=1)
        mfu = pickers.slider(PAGE, "reached", _("MFU"), 0.01, 1.0, default=1.0, step=0.01)
        with places.aside() as box:
            device = places.device()
        with places.settings(box):
            dtype = places.dtype_of(device.device)
    return Rent(count=count, device=device, days=days, dtype=dtype, mfu=mfu)


def show_two_weeks(row: DeltaGenerator) -> str:
    """Show the tab and return the code of its number."""
    rent = choose_rent(row)
    device = rent.device.device
    peak = device.peak.get(rent.dtype, 0.0)
    if not peak:
        headline(_("{device} has no known peak: no budget").format(device=device.name))
        return ""
    flops = machine_flops(rent.count, rent.days, peak, share=rent.mfu)
    headline(sentence(rent, flops))
    _show(rent, flops)
    return CODE.format(
        count=rent.count, days=rent.days, device=rent.device.code, dtype=rent.dtype, mfu=rent.mfu
    )


def _show(rent: Rent, flops: Item) -> None:
    device, spent = rent.device.device, float(flops.amount)
    limits = {
        _("states of 16 bytes fill the memory"): largest_by_states(rent.count, device, 16),
        _("states of 12 bytes fill it"): largest_by_states(rent.count, device, 12),
    }
    amounts = {label: float(item.amount) for label, item in limits.items()}
    picture, numbers = places.picture_and_numbers()
    with picture:
        show_chart(
            iso_flop(spent, amounts, theme_mode(), present=presenting()),
            key="flops_two_weeks_chart",
            alt=iso_flop_alt(spent, amounts),
            table=iso_flop_table(spent),
            file_name="loss-over-size",
        )
    items = [
        (_("Compute"), flops),
        (_("Parameters"), best_params(spent)),
        (_("Tokens"), best_tokens(spent)),
        (_("16 bytes a parameter"), next(iter(limits.values()))),
    ]
    places.show_numbers(numbers, items)


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
        dtype=DTYPE_NAMES.get(rent.dtype, rent.dtype),
        mfu=f"{rent.mfu:g}",
        flops=f"{scientific(flops.amount, 4)} FLOPs",
        params=format_count(best_params(flops.amount).amount),
        tokens=format_count(best_tokens(flops.amount).amount),
    )
