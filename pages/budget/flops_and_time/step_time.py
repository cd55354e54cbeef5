"""The tab of training time by the rule: 70 B parameters, 15 T tokens, 1,024 H100."""

from dataclasses import dataclass
from typing import Final

from streamlit.delta_generator import DeltaGenerator

from core.budget.by_hand.rules import flops_rule
from core.budget.item import Item
from core.budget.training.duration import cost, seconds_item
from core.figures.budget.flops_and_time.training_days import (
    training_days,
    training_days_alt,
    training_days_table,
)
from core.language import _
from core.units import format_seconds
from pages.budget.flops_and_time import places
from pages.budget.flops_and_time.places import DTYPE_NAMES, PAGE
from pages.shared import pickers
from pages.shared.budget.choices import ChosenDevice
from pages.shared.charts import show_chart
from pages.shared.header import headline
from pages.shared.settings import presenting, theme_mode

DAY: Final = 86_400
CODE: Final = """
from core.budget.catalogue.devices import DEVICES, custom_device, local_device
from core.budget.training.duration import training_seconds
from core.machine import probe_machine

peak = {device}.peak[{dtype!r}]
seconds = training_seconds({params}, {tokens}, {devices}, peak, mfu={mfu})
print(f"{{seconds / 86_400:,.1f}} days")
"""


@dataclass(frozen=True, kw_only=True, slots=True)
class Plan:
    """What the reader plans: a model of so many parameters on so many tokens and devices."""

    params: int
    tokens: int
    count: int
    device: ChosenDevice
    dtype: str
    mfu: float
    price: float


def choose_plan(row: DeltaGenerator) -> Plan:
    """Show the inputs and return the plan."""
    with row:
        billions = pickers.number(
            PAGE, "params", _("Parameters in B"), 0.001, 100_000.0, default=70.0, step=1.0
        )
        trillions = pickers.number(
            PAGE, "tokens", _("Tokens in T"), 0.000_001, 10_000.0, default=15.0, step=1.0
        )
        count = pickers.number(PAGE, "devices", _("Devices"), 1, 1_000_000, default=1024, step=8)
        with places.aside() as box:
            device = places.device()
            mfu = pickers.slider(PAGE, "mfu", _("MFU"), 0.01, 1.0, default=0.5, step=0.01)
        with places.settings(box):
            dtype = places.dtype_of(device.device)
            price = pickers.number(
                PAGE, "price", _("Your price of one device and hour, in USD"), 0.0, 1000.0,
                default=2.0, step=0.1,
            )  # fmt: skip
    params, tokens = round(billions * 1e9), round(trillions * 1e12)
    return Plan(
        params=params, tokens=tokens, count=count, device=device, dtype=dtype, mfu=mfu, price=price
    )


def show_time(row: DeltaGenerator) -> str:
    """Show the tab and return the code of its number."""
    plan = choose_plan(row)
    peak = plan.device.device.peak.get(plan.dtype, 0.0)
    if not peak:
        headline(_("{device} has no known peak: no time").format(device=plan.device.device.name))
        return ""
    time = seconds_item(plan.params, plan.tokens, plan.count, peak, plan.mfu)
    headline(sentence(plan, float(time.amount)))
    _show(plan, peak, time)
    return CODE.format(
        device=plan.device.code, dtype=plan.dtype, params=plan.params, tokens=plan.tokens,
        devices=plan.count, mfu=plan.mfu,
    )  # fmt: skip


def _show(plan: Plan, peak: float, time: Item) -> None:
    at_peak = float(seconds_item(plan.params, plan.tokens, 1, peak, 1.0).amount)
    picture, numbers = places.picture_and_numbers()
    with picture:
        show_chart(
            training_days(at_peak, plan.mfu, plan.count, theme_mode(), present=presenting()),
            key="flops_time_chart",
            alt=training_days_alt(at_peak, plan.mfu, plan.count),
            table=training_days_table(at_peak, plan.mfu, plan.count),
            file_name="training-days",
        )
    items = [
        (_("Time"), time),
        (_("6ND"), flops_rule(plan.params, plan.tokens)),
        (_("Cost"), cost(plan.count, float(time.amount), plan.price)),
    ]
    places.show_numbers(numbers, items)


def sentence(plan: Plan, seconds: float) -> str:
    """Return the headline: who trains what on what, and how long."""
    text = _(
        "{params} B parameters on {tokens} T tokens with {count} × {device} in {dtype} at an "
        "MFU of {mfu}: {time}"
    )
    days = seconds / DAY
    return text.format(
        params=places.plain(plan.params / 1e9),
        tokens=places.plain(plan.tokens / 1e12),
        count=f"{plan.count:,}",
        device=plan.device.device.name,
        dtype=DTYPE_NAMES.get(plan.dtype, plan.dtype),
        mfu=f"{plan.mfu:g}",
        time=_("{days} days").format(days=f"{days:,.1f}") if days >= 2 else format_seconds(seconds),
    )
