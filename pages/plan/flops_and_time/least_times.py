"""Least times: of a matrix product, timed here too, and of bytes that have to be moved.

Why long: two tabs that share their bars, and plain code that times one of them.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Final

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from core.budget.catalogue.devices import DEVICES
from core.budget.compute.least_times import (
    CLAIMED_SIZE,
    CLAIMS,
    LAUNCH_SECONDS,
    SHOWN,
    least_seconds,
    read_without_waiting,
    transfer_seconds,
)
from core.budget.item import Item
from core.budget.weights.parameters import counts
from core.figures.budget.flops_and_time.least_times import Least, Mark, least_times_picture
from core.language import _
from core.machine.matmul_timing import (
    CallKind,
    MatmulCall,
    MatmulTiming,
    num_runs,
    time_matmul,
)
from core.units import format_flops, format_flops_per_second, format_seconds
from pages.plan.flops_and_time.inputs import (
    ASK,
    DTYPE_NAMES,
    choose_the_model,
    doublings,
    in_python,
)
from pages.shared.job import run_job
from pages.shared.plan.choices import ChosenDevice, ChosenModel, choose_device
from pages.shared.settings import look, presenting
from pages.shared.tabbed_page import Chart, Shown

SIZES: Final = doublings(256, 8192)
DTYPES: Final = ("float32", "bfloat16")
FASTEST: Final = "h100-sxm"  # whose peak a clock that does not wait is held against
BESIDE: Final = ("t4", "rtx-4090", "a100-80gb", "h100-sxm", "b200")
BYTES_EACH: Final = 2  # bf16
WAYS: Final = {
    "from the host": "backward",
    "from another device": "estimated",
    "from its own memory": "forward",
}
"""How bytes come to where they are used -> its colour."""
CODE_OF_A_PRODUCT: Final = """
import time

import torch

n, dtype = {size}, torch.{dtype}
flops = 2 * n**3
print(f"{{flops:,}} FLOPs")

peaks = {{  # FLOP/s in {dtype} without sparsity, of the data sheets
{peaks}
}}
for name, peak in peaks.items():
    print(f"{{name:12}} at least {{flops / peak * 1e3:10.3f}} ms")

gpu = torch.accelerator.is_available()
device = torch.accelerator.current_accelerator() if gpu else torch.device("cpu")
a, b = (torch.randn(n, n, device=device, dtype=dtype) for _ in range(2))


def seconds(waits):
    if gpu:
        torch.accelerator.synchronize()
    start = time.perf_counter()
    a @ b
    if gpu and waits:
        torch.accelerator.synchronize()  # a GPU answers before it is done
    return time.perf_counter() - start


print(f"first call   {{seconds(waits=True) * 1e3:10.3f}} ms: it loads the kernels")
for waits in (False, True):
    best = min(seconds(waits) for _ in range(3))
    word = "waiting" if waits else "not waiting"
    print(f"{{word:12}} {{best * 1e3:10.3f}} ms {{flops / best / 1e9:12,.1f}} GFLOP/s")
"""
CODE_OF_A_TRANSFER: Final = """
num_params = {params}
num_bytes = 2 * num_params  # bf16
links = {{  # bytes/s of {device}: its data sheet
{links}
}}
for name, bytes_per_second in links.items():
    print(f"{{name:20}} {{num_bytes / bytes_per_second * 1e3:12,.2f}} ms")
"""


@dataclass(frozen=True, kw_only=True, slots=True)
class Product:
    """A product of two square matrices; whether the clock waits, whether to time it now."""

    size: int
    dtype: str
    waits: bool
    pushed: bool


@dataclass
class Shared:
    """What every session of this server sees: the calls of the running trial, and all results."""

    running: list[MatmulCall] = field(default_factory=list)
    done: dict[tuple[int, str], MatmulTiming] = field(default_factory=dict)


@st.cache_resource(show_spinner=False)
def shared() -> Shared:
    """Return this server's timings."""
    return Shared()


def choose_matmul() -> Product:
    """Show the inputs and the button, and return what they say."""
    size = ASK.select_slider(
        "matmul", _("Matrix size n"), SIZES, default=CLAIMED_SIZE, labels="{:,}".format
    )
    dtype = ASK.segmented(
        "timed", _("Precision"), DTYPES, default="float32", labels=DTYPE_NAMES.__getitem__
    )
    waits = ASK.toggle(
        "waits",
        _("Wait for the device"),
        default=True,
        help=_("torch.accelerator.synchronize(): a GPU answers before it is done."),
    )
    pushed = st.button(
        _("Time it on this machine"), key=ASK.key("time_it"), icon=":material/timer:",
        type="primary", width="stretch",
    )  # fmt: skip
    return Product(size=size, dtype=dtype, waits=waits, pushed=pushed)


def matmul(product: Product) -> Shown:
    """Show how fast the product is here, with and without waiting, beside what can be."""
    size, dtype = product.size, product.dtype
    if product.pushed:
        run_job(
            f"matmul {size} {dtype}",
            partial(_time, size, dtype),
            doing=_("Timing, in a separate process …"),
            failed=_("The product was not timed"),
            done=_("Timed"),
            tell=partial(_tell, size),
        )
    timing = shared().done.get((size, dtype))
    seconds = {item.name: float(item.amount) for item in least_seconds(size, dtype)}
    name = _("at least, by the dense peak")
    bars = [Least(name=name, color="forward", seconds=seconds, opacity=0.45)]
    marks = [*_found(timing, waits=product.waits), *_claims(size)]
    on_a_cpu = _(
        "Here a product runs on the CPU, which answers when it is done: waiting changes "
        "nothing. On a GPU a clock that does not wait sees only how long the call took."
    )
    picture = least_times_picture(bars, marks, look())
    return Shown(
        headline=product_sentence(product, timing),
        charts=[Chart(picture=picture, file_name="matmul-times")],
        notes=[
            _clock_said(product),
            *([on_a_cpu] if timing is not None and timing.device == "cpu" else []),
        ],
        code=CODE_OF_A_PRODUCT.format(size=size, dtype=dtype, peaks=_peaks(dtype)),
    )


def _peaks(dtype: str) -> str:
    """Return as lines of Python what the data sheets say of the devices that are shown."""
    shown = [DEVICES[key] for key in SHOWN if DEVICES[key].peak.get(dtype)]
    return "\n".join(f"    {device.name!r}: {in_python(device.peak[dtype])}," for device in shown)


def _clock_said(product: Product) -> str:
    """Return what a clock shows that does not wait, beside what is possible."""
    device = DEVICES[FASTEST]
    return _(
        "A GPU answers when a product is in its queue, about {launch} after the call. A clock that "
        "does not wait for `torch.accelerator.synchronize()` would read {read} here; the dense "
        "peak of {device} is {peak}. And warm up before you time: the first call loads the kernels."
    ).format(
        launch=format_seconds(LAUNCH_SECONDS),
        read=format_flops_per_second(read_without_waiting(product.size).amount),
        device=device.name,
        peak=format_flops_per_second(device.peak[product.dtype]),
    )


def _time(size: int, dtype: str) -> None:
    kept = shared()
    kept.running = []
    kept.done[size, dtype] = time_matmul(size, dtype, kept.running.append)


def _tell(size: int, place: DeltaGenerator) -> None:
    if calls := shared().running:
        most = 1 + 2 * num_runs(size)
        place.progress(
            min(len(calls) / most, 1.0),
            _("{count} of {most} calls").format(count=len(calls), most=most),
        )


def _found(timing: MatmulTiming | None, *, waits: bool) -> list[Mark]:
    """Return the marks of what was timed here."""
    if timing is None:
        return []
    here = _("here: {device}").format(device=timing.device)
    looks: list[tuple[str, CallKind, str, str]] = [
        (_("median, waiting"), "waiting", "works", "circle")
        if waits
        else (_("median, not waiting"), "not waiting", "refused", "x"),
        (_("first call"), "first", "estimated", "diamond"),
    ]
    return [
        Mark(name=name, color=color, symbol=symbol, seconds={here: timing.seconds(kind)})
        for name, kind, color, symbol in looks
    ]


def _claims(size: int) -> list[Mark]:
    """Return the marks of a tutorial's table, which speaks of one size only."""
    if size != CLAIMED_SIZE:
        return []
    claims = {_(label): seconds for label, seconds in CLAIMS.items()}
    name = _("claimed in a tutorial")
    return [Mark(name=name, color="refused", symbol="star", seconds=claims)]


def product_sentence(product: Product, timing: MatmulTiming | None) -> str:
    """Return the FLOPs of the product, and how fast it ran here."""
    n, flops = f"{product.size:,}", format_flops(2 * product.size**3)
    if timing is None:
        text = _("{n} × {n} × {n} is {flops}: not timed on this machine yet")
        return text.format(n=n, flops=flops)
    kind: CallKind = "waiting" if product.waits else "not waiting"
    low, high = timing.spread(kind)
    return _("{n} × {n} × {n} is {flops}: {time} here ({low} to {high}), {rate}").format(
        n=n,
        flops=flops,
        time=format_seconds(timing.seconds(kind)),
        low=format_seconds(low),
        high=format_seconds(high),
        rate=format_flops_per_second(timing.flops_per_second(kind)),
    )


def choose_transfer() -> tuple[ChosenModel, ChosenDevice]:
    """Show the inputs and return whose weights are moved to which device."""
    return choose_the_model(), choose_device(ASK)


def transfer(chosen: tuple[ChosenModel, ChosenDevice]) -> Shown:
    """Show the same bytes over the link to the host and from a device's memory."""
    model, device = chosen
    num_bytes = BYTES_EACH * counts(model.spec).total
    beside = [DEVICES[key] for key in BESIDE if key != device.key]
    devices = [device.device, *(beside[-2:] if presenting() else beside)]
    times = {each.name: transfer_seconds(num_bytes, each) for each in devices}
    mine = {item.name: item for item in times[device.device.name]}
    picture = least_times_picture(bars_of(times), [], look())
    return Shown(
        headline=transfer_sentence(model.spec.name, num_bytes, device.device.name, mine),
        charts=[Chart(picture=picture, file_name="transfers")],
        numbers=[(_(name), item) for name, item in mine.items()],
        widths=(4, 1),
        notes=[
            _(
                "The link to the host is that fast from pinned memory alone: `x.pin_memory()`, "
                'then `x.to("cuda", non_blocking=True)`, which returns at once while the bytes '
                "move. From other memory they are first copied into a pinned buffer, and the call "
                "waits."
            )
        ],
        code=CODE_OF_A_TRANSFER.format(
            params=f"{counts(model.spec).total:_}",
            device=device.device.name,
            links="\n".join(
                f"    {_(name)!r}: {in_python(item.values['bytes_per_second'])},"
                for name, item in mine.items()
            ),
        ),
    )


def bars_of(times: Mapping[str, Sequence[Item]]) -> list[Least]:
    """Return the bars of each way, from a device's name to its transfers."""
    return [
        Least(
            name=_(way),
            color=color,
            seconds={
                name: float(item.amount)
                for name, items in times.items()
                for item in items
                if item.name == way
            },
        )
        for way, color in WAYS.items()
    ]


def transfer_sentence(model: str, num_bytes: int, device: str, times: Mapping[str, Item]) -> str:
    """Return how much longer the link to the host takes than the device's own memory."""
    host, own = times.get("from the host"), times.get("from its own memory")
    if host is None or own is None:
        return _("{device} has no known bandwidth").format(device=device)
    if host.amount == own.amount:
        text = _("{model} in 16 bits, {bytes}: {own}; {device} shares its memory with the host")
    else:
        text = _(
            "{model} in 16 bits, {bytes}: {host} over the link to the host, {own} from the "
            "memory of {device}: {times} × longer"
        )
    return text.format(
        model=model,
        bytes=look().format_bytes(num_bytes),
        host=format_seconds(host.amount),
        own=format_seconds(own.amount),
        device=device,
        times=f"{host.amount / own.amount:,.3g}",
    )
