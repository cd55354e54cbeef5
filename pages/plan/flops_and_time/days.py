"""Training time by the rule: 70 B parameters, 15 T tokens, 1,024 H100."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from core.budget.by_hand.rules import flops_rule
from core.budget.item import Item
from core.budget.training.duration import cost, seconds_item
from core.figures.budget.flops_and_time.days import DAY, days_picture
from core.figures.budget.flops_frame import scientific
from core.language import _
from core.units import format_percent, format_seconds
from pages.plan.flops_and_time.inputs import (
    ASK,
    COUNTS,
    Exact,
    choose_dtype,
    decades,
    dtype_name,
    in_python,
    plain,
    settings,
    tell_other_dtype,
)
from pages.shared.beside import Compared, shown, two_names
from pages.shared.plan.choices import ChosenDevice, choose_device
from pages.shared.settings import look
from pages.shared.tabbed_page import Chart, Shown

SIZES: Final = decades(-1, 3)  # billions of parameters
TEXTS: Final = decades(-2, 1)  # trillions of tokens
CODE: Final = """
num_params = {params}
num_tokens = {tokens}
flops = 6 * num_params * num_tokens

num_devices = {devices}
peak = {peak}  # FLOP/s of one {device}, {dtype} without sparsity: its data sheet
mfu = {mfu}
seconds = flops / (num_devices * peak * mfu)

print(f"{{flops:.4g}} FLOPs")
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
    params, tokens, count = _numbers()
    places = [each.place() for each in (params, tokens, count)]
    mfu = ASK.slider("mfu", _("MFU (model FLOPs utilization)"), 0.01, 1.0, default=0.5, step=0.01)
    with settings():
        device = choose_device(ASK)
        dtype = choose_dtype(device.device)
        billions = params.choose(places[0], step=1.0)
        trillions = tokens.choose(places[1], step=1.0)
        num_devices = count.choose(places[2], step=8)
        price = ASK.number("price", _("USD per device-hour"), 0.0, 1000.0, default=2.0, step=0.1)
    tell_other_dtype(device.device, dtype)
    return Run(
        params=round(billions * 1e9), tokens=round(trillions * 1e12), count=num_devices,
        device=device, dtype=dtype, mfu=mfu, price=price,
    )  # fmt: skip


def _numbers() -> tuple[Exact[float], Exact[float], Exact[int]]:
    """Return what is dragged and can be typed: parameters, tokens, devices."""
    return (
        Exact(
            name="params", label=_("Parameters"), typed=_("Parameters (B)"), low=0.001,
            high=100_000.0, default=70.0, stops=SIZES, written=lambda size: f"{plain(size)} B",
        ),
        Exact(
            name="tokens", label=_("Tokens"), typed=_("Tokens (T)"), low=0.000_001,
            high=10_000.0, default=15.0, stops=TEXTS, written=lambda size: f"{plain(size)} T",
        ),
        Exact(
            name="devices", label=_("Devices"), typed=_("Devices"), low=1, high=1_000_000,
            default=1024, stops=COUNTS, written="{:,}".format,
        ),
    )  # fmt: skip


def days(run: Run) -> Shown:
    """Show the days over the number of devices.

    Raises:
        ValueError: If nobody knows the peak of the device.
    """
    peak = _peak(run)
    time = _time(run)
    flops, seconds = flops_rule(run.params, run.tokens), float(time.amount)
    at_peak = float(seconds_item(run.params, run.tokens, 1, peak, 1.0).amount)
    picture = days_picture(at_peak, run.mfu, run.count, look())
    return Shown(
        headline=sentence(run, float(flops.amount), seconds),
        charts=[Chart(picture=picture, file_name="training-days")],
        numbers=[
            (_("Time"), time),
            (_("6ND"), flops),
            (_("Cost"), cost(run.count, seconds, run.price)),
        ],
        widths=(4, 1),
        code=_code(run),
    )


def _time(run: Run) -> Item:
    known = run.device.device.known_of(run.dtype)
    return seconds_item(run.params, run.tokens, run.count, _peak(run), run.mfu, known=known)


def _peak(run: Run) -> float:
    """Return the peak of a device, which somebody has to know."""
    device = run.device.device
    if peak := device.peak.get(run.dtype, 0.0):
        return peak
    raise ValueError(_("{device} has no known peak: no time").format(device=device.name))


def _code(run: Run) -> str:
    return CODE.format(
        params=f"{run.params:_}", tokens=f"{run.tokens:_}", devices=run.count,
        peak=in_python(_peak(run)), device=run.device.device.name, dtype=dtype_name(run.dtype),
        mfu=run.mfu,
    )  # fmt: skip


def two_runs(a: Sequence[Run], b: Sequence[Run]) -> Shown:
    """Show how long two plans take, their FLOPs and what they cost."""
    runs = (*a, *b)
    return shown(*map(_side, runs, two_names(*map(_words, runs))))


def _words(run: Run) -> list[str]:
    """Return a plan word by word: what tells two of them apart."""
    return [
        f"{plain(run.params / 1e9)} B",
        dtype_name(run.dtype),
        f"{run.count:,} × {run.device.device.name}",
        _("{count} T tokens").format(count=plain(run.tokens / 1e12)),
        _("{mfu} MFU").format(mfu=format_percent(run.mfu)),
    ]


def _side(run: Run, name: str) -> Compared:
    time = _time(run)
    price = cost(run.count, float(time.amount), run.price)
    rows = [(_("Time"), time), (_("6ND"), flops_rule(run.params, run.tokens)), (_("Cost"), price)]
    return Compared(name=name, rows=rows, code=_code(run))


def sentence(run: Run, flops: float, seconds: float) -> str:
    """Return the headline: how many FLOPs, how long, and of which plan."""
    days = seconds / DAY
    return _(
        "Training {params} B parameters on {tokens} T tokens takes {time} on {count} × {device}: "
        "{flops} FLOPs at {mfu} MFU"
    ).format(
        flops=scientific(flops),
        time=_("{days} days").format(days=f"{days:,.1f}") if days >= 2 else format_seconds(seconds),
        params=plain(run.params / 1e9),
        tokens=plain(run.tokens / 1e12),
        count=f"{run.count:,}",
        device=run.device.device.name,
        mfu=format_percent(run.mfu),
    )
