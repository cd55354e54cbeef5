"""The tab of training time by the rule: 70 B parameters, 15 T tokens, 1,024 H100."""

from typing import Final

from streamlit.delta_generator import DeltaGenerator

from core.budget.compute.cost import cost
from core.budget.compute.training_time import seconds_item
from core.budget.rules import flops_rule
from core.figures.budget.training_days import (
    training_days,
    training_days_alt,
    training_days_table,
)
from core.language import _
from pages.panels.budget import flops_places
from pages.panels.budget.flops_places import DTYPE_NAMES, PAGE
from pages.shared import pickers
from pages.shared.charts import show_chart
from pages.shared.header import headline
from pages.shared.settings import presenting, theme_mode

DAY: Final = 86_400
CODE: Final = """
from core.budget.catalogue.devices import DEVICES, custom_device, local_device
from core.budget.compute.training_time import training_seconds
from core.machine import probe_machine

peak = {device}.peak[{dtype!r}]
seconds = training_seconds({params}, {tokens}, {devices}, peak, mfu={mfu})
print(f"{{seconds / 86_400:,.1f}} days")
"""


def show_time(row: DeltaGenerator) -> str:
    """Show the tab and return the code of its number."""
    with row:
        billions = pickers.number(
            PAGE, "params", _("Parameters in B"), 0.001, 100_000.0, default=70.0, step=1.0
        )
        trillions = pickers.number(
            PAGE, "tokens", _("Tokens in T"), 0.000_001, 10_000.0, default=15.0, step=1.0
        )
        count = pickers.number(PAGE, "devices", _("Devices"), 1, 1_000_000, default=1024, step=8)
        with flops_places.aside() as box:
            device = flops_places.device()
            mfu = pickers.slider(PAGE, "mfu", _("MFU"), 0.01, 1.0, default=0.5, step=0.01)
        with flops_places.settings(box):
            dtype = flops_places.dtype_of(device.device)
            price = pickers.number(
                PAGE, "price", _("Your price of one device and hour, in USD"), 0.0, 1000.0,
                default=2.0, step=0.1,
            )  # fmt: skip
    params, tokens = round(billions * 1e9), round(trillions * 1e12)
    peak = device.device.peak.get(dtype, 0.0)
    if not peak:
        headline(_("{device} has no known peak: no time").format(device=device.device.name))
        return ""
    time = seconds_item(params, tokens, count, peak, mfu)
    headline(
        _(
            "{params} B parameters on {tokens} T tokens with {count} × {device} in {dtype} at an "
            "MFU of {mfu}: {days} days"
        ).format(
            params=f"{billions:,g}",
            tokens=f"{trillions:,g}",
            count=f"{count:,}",
            device=device.device.name,
            dtype=DTYPE_NAMES.get(dtype, dtype),
            mfu=f"{mfu:g}",
            days=f"{time.amount / DAY:,.1f}",
        )
    )
    at_peak = float(seconds_item(params, tokens, 1, peak, 1.0).amount)
    picture, numbers = flops_places.picture_and_numbers()
    with picture:
        show_chart(
            training_days(at_peak, mfu, count, theme_mode(), present=presenting()),
            key="flops_time_chart",
            alt=training_days_alt(at_peak, mfu, count),
            table=training_days_table(at_peak, mfu, count),
            file_name="training-days",
        )
    flops_places.show_numbers(
        numbers,
        [
            (_("Time"), time),
            (_("6ND"), flops_rule(params, tokens)),
            (_("Cost"), cost(count, float(time.amount), price)),
        ],
    )
    return CODE.format(
        device=device.code, dtype=dtype, params=params, tokens=tokens, devices=count, mfu=mfu
    )
