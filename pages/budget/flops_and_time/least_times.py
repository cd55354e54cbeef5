"""Least times: of a product, timed on this machine too, and of bytes that have to be moved."""

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
from pages.budget.flops_and_time.inputs import ASK, aside, choose_the_model
from pages.shared.budget.choices import ChosenDevice, ChosenModel, choose_device
from pages.shared.job import run_job
from pages.shared.settings import look, presenting
from pages.shared.tabbed_page import Chart, Shown

SIZES: Final = (256, 512, 1024, 2048, 4096, 8192)
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
from core.machine.matmul_timing import CALLS, time_matmul

timing = time_matmul({size}, {dtype!r})
print(f"{{timing.flops:,}} FLOPs on {{timing.device}}")
for kind in CALLS:
    seconds = timing.seconds(kind)
    print(f"{{kind:12}} {{seconds * 1e3:10.3f}} ms {{timing.flops / seconds / 1e9:12,.1f}} GFLOP/s")
"""
CODE_OF_A_TRANSFER: Final = """
from core.budget.catalogue.models import MODELS
from core.budget.catalogue.devices import DEVICES, custom_device, local_device
from core.budget.catalogue.hf_config import read_config
from core.budget.weights.parameters import counts
from core.budget.compute.least_times import transfer_seconds
from core.machine import probe_machine

num_bytes = 2 * counts({model}).total
for item in transfer_seconds(num_bytes, {device}):
    print(f"{{item.name:20}} {{item.amount * 1e3:12,.2f}} ms = {{item.substituted}}")
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
        "matmul", _("Rows and columns n"), SIZES, default=CLAIMED_SIZE, labels="{:,}".format
    )
    with aside():
        dtype = ASK.segmented("timed", _("Products in"), DTYPES, default="float32")
    waits = ASK.toggle(
        "waits",
        _("Wait for the device"),
        default=True,
        help=_("torch.accelerator.synchronize(): a GPU answers before it is done."),
    )
    pushed = st.button(
        _("Time it on this machine"), key=ASK.key("time_it"), icon=":material/timer:",
        type="primary",
    )  # fmt: skip
    return Product(size=size, dtype=dtype, waits=waits, pushed=pushed)


def matmul(product: Product) -> Shown:
    """Show how fast the product is here, with and without waiting, beside what can be."""
    size, dtype = product.size, product.dtype
    if product.pushed:
        run_job(
            f"matmul {size} {dtype}",
            partial(_time, size, dtype),
            doing=_("Timing, in a process of its own …"),
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
        code=CODE_OF_A_PRODUCT.format(size=size, dtype=dtype),
    )


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
        code=CODE_OF_A_TRANSFER.format(model=model.code, device=device.code),
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
