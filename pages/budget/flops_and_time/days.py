"""Training time by the rule: 70 B parameters, 15 T tokens, 1,024 H100."""

from dataclasses import dataclass
from typing import Final

from core.budget.by_hand.rules import flops_rule
from core.budget.training.duration import cost, seconds_item
from core.figures.budget.flops_and_time.days import DAY, days_picture
from core.language import _
from core.units import format_seconds
from pages.budget.flops_and_time.inputs import (
    ASK,
    aside,
    choose_dtype,
    dtype_name,
    plain,
    settings,
)
from pages.shared.budget.choices import ChosenDevice, choose_device
from pages.shared.settings import look
from pages.shared.tabbed_page import Chart, Shown

CODE: Final = """
from core.budget.catalogue.devices import DEVICES, custom_device, local_device
from core.budget.training.duration import training_seconds
from core.machine import probe_machine

peak = {device}.peak[{dtype!r}]
seconds = training_seconds({params}, {tokens}, {devices}, peak, mfu={mfu})
print(f"{{seconds / 86_400:,.1f}} days")
"""


@dataclass(frozen=True, kw_only=True, slots=True)
class Run:
    """What the reader plans: a model of so many parameters on so many tokens and devices."""

    params: int
    tokens: int
    count: int
    device: ChosenDevice
    dtype: str
    mfu: float
    price: float


def choose_run() -> Run:
    """Show the inputs and return the plan."""
    billions = ASK.number("params", _("Parameters in B"), 0.001, 100_000.0, default=70.0, step=1.0)
    trillions = ASK.number("tokens", _("Tokens in T"), 0.000_001, 10_000.0, default=15.0, step=1.0)
    count = ASK.number("devices", _("Devices"), 1, 1_000_000, default=1024, step=8)
    with aside():
        device = choose_device(ASK)
        mfu = ASK.slider("mfu", _("MFU"), 0.01, 1.0, default=0.5, step=0.01)
        with settings():
            dtype = choose_dtype(device.device)
            price = ASK.number(
                "price", _("Your price of one device and hour, in USD"), 0.0, 1000.0,
                default=2.0, step=0.1,
            )  # fmt: skip
    params, tokens = round(billions * 1e9), round(trillions * 1e12)
    return Run(
        params=params, tokens=tokens, count=count, device=device, dtype=dtype, mfu=mfu, price=price
    )


def days(run: Run) -> Shown:
    """Show the days over the number of devices.

    Raises:
        ValueError: If nobody knows the peak of the device.
    """
    peak = run.device.device.peak.get(run.dtype, 0.0)
    if not peak:
        name = run.device.device.name
        raise ValueError(_("{device} has no known peak: no time").format(device=name))
    time = seconds_item(run.params, run.tokens, run.count, peak, run.mfu)
    seconds = float(time.amount)
    at_peak = float(seconds_item(run.params, run.tokens, 1, peak, 1.0).amount)
    picture = days_picture(at_peak, run.mfu, run.count, look())
    return Shown(
        headline=sentence(run, seconds),
        charts=[Chart(picture=picture, file_name="training-days")],
        numbers=[
            (_("Time"), time),
            (_("6ND"), flops_rule(run.params, run.tokens)),
            (_("Cost"), cost(run.count, seconds, run.price)),
        ],
        widths=(4, 1),
        code=CODE.format(
            device=run.device.code, dtype=run.dtype, params=run.params, tokens=run.tokens,
            devices=run.count, mfu=run.mfu,
        ),
    )  # fmt: skip


def sentence(run: Run, seconds: float) -> str:
    """Return the headline: who trains what on what, and how long."""
    days = seconds / DAY
    return _(
        "{params} B parameters on {tokens} T tokens with {count} × {device} in {dtype} at an "
        "MFU of {mfu}: {time}"
    ).format(
        params=plain(run.params / 1e9),
        tokens=plain(run.tokens / 1e12),
        count=f"{run.count:,}",
        device=run.device.device.name,
        dtype=dtype_name(run.dtype),
        mfu=f"{run.mfu:g}",
        time=_("{days} days").format(days=f"{days:,.1f}") if days >= 2 else format_seconds(seconds),
    )
