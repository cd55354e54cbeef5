"""MFU: what a measured training speed, or a matrix product timed here, makes of the peak."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Final

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from core.budget.catalogue.devices import DEVICES
from core.budget.compute.conventions import mfu_conventions
from core.budget.compute.least_times import (
    CLAIMED_SIZE,
    CLAIMS,
    LAUNCH_SECONDS,
    SHOWN,
    least_seconds,
    read_without_waiting,
)
from core.budget.item import Item
from core.figures.budget.frames import hatched, rows_of_bars
from core.figures.budget.least_times import Least, Mark, least_times_picture
from core.figures.picture import Drawing, Look, Picture
from core.language import N_, _
from core.machine.matmul_timing import CallKind, MatmulCall, MatmulTiming, num_runs, time_matmul
from core.units import format_flops, format_flops_per_second, format_percent, format_seconds
from pages.plan.flops_and_time.breakdown import one_sequence
from pages.plan.flops_and_time.inputs import (
    ASK,
    DTYPE_NAMES,
    choose_dtype,
    compared,
    dtype_name,
    in_python,
    known_peak,
    possible_dtype,
)
from pages.plan.flops_and_time.question import ask_about_the_claim
from pages.shared.beside import Compared
from pages.shared.job import run_job
from pages.shared.plan.choices import stops
from pages.shared.plan.plan import Chosen, arguments, choose_plan
from pages.shared.settings import look
from pages.shared.tabbed_page import Chart, Shown, Tab

_CONVENTIONS: Final[Mapping[str, tuple[str, str]]] = {
    "hardware (HFU), causal": ("backward", "/"),
    "sparse peak": ("norms", "x"),
}
_USUAL: Final = ("forward", "")
_BEYOND: Final = 1.0  # nothing runs faster than its peak


def mfu_picture(shares: Sequence[Item], look: Look) -> Picture:
    """Return one bar a convention and the line that none may cross."""
    drawing, color = Drawing(), look.color("refused")
    written = {_(share.name): format_percent(share.amount) for share in shares}
    meanings, patterns = zip(
        *(_CONVENTIONS.get(share.name, _USUAL) for share in shares), strict=True
    )
    drawing.bar(
        orientation="h", x=[share.amount for share in shares], y=list(written),
        marker=hatched(list(map(look.color, meanings)), patterns),
        customdata=list(written.values()), hovertemplate="%{y}: %{customdata}<extra></extra>",
        showlegend=False,
    )  # fmt: skip
    for (name, amount), share in zip(written.items(), shares, strict=True):
        text = f" {amount}" + (" ✗" if share.amount > _BEYOND else "")
        drawing.note(x=share.amount, y=name, text=text, xanchor="left")
    line = {"color": color, "width": 2, "dash": "dash"}
    drawing.shape(type="line", x0=1, x1=1, y0=0, y1=1, yref="paper", line=line)
    peak = {"text": _("the peak"), "font": {"color": color}}
    drawing.note(x=1, y=1, yref="paper", yanchor="bottom", **peak)
    end = max(1.0, *(share.amount for share in shares)) * 1.15
    x = {"range": [0, end], "tickformat": ".3~%", "title": _("share of the peak")}
    said = _(", ").join(f"{name} {amount}" for name, amount in written.items())
    return Picture(
        figure=rows_of_bars(drawing, look, num_rows=len(shares), x=x),
        alt=_("The same speed as a share of the peak: {shares}.", shares=said),
        table={
            _("convention"): list(written),
            _("share of the peak"): list(written.values()),
            _("formula"): [share.formula for share in shares],
            _("source"): [_(share.source) for share in shares],
        },
    )


TORCHTITAN: Final = 5762  # tokens/s of Llama 3.1 8B on one of 8 H100, docs/performance
CODE_OF_MFU: Final = """
from core.budget.catalogue.models import MODELS
from core.budget.catalogue.devices import DEVICES, custom_device, local_device
from core.budget.catalogue.hf_config import read_config
from core.budget.compute.conventions import mfu_conventions
from core.budget.recipe import TrainingRecipe
from core.machine import probe_machine

device = {device}
peak = device.peak[{dtype!r}]
for item in mfu_conventions({model}, TrainingRecipe({recipe}), {speed}, peak, sparsity={sparsity}):
    print(f"{{item.name:18}} {{item.amount:7.1%}} = {{item.formula}}")
"""


@dataclass(frozen=True, kw_only=True, slots=True)
class Measured:
    """What the reader measured: tokens/s of one device, and in what it multiplies."""

    speed: int
    dtype: str

    @property
    def words(self) -> list[str]:
        return [_("{count} tokens/s").format(count=f"{self.speed:,}"), dtype_name(self.dtype)]


def choose_measured() -> Chosen:
    speed = ASK.number(
        "speed", _("Tokens/s per device"), 1, 10_000_000, default=TORCHTITAN, step=100
    )
    chosen = choose_plan(
        ("model", "length", "device"), {_("Training"): ("checkpointing",)}, choose_dtype
    )
    dtype = possible_dtype(chosen.device.device, chosen.own)
    return replace(chosen, own=Measured(speed=speed, dtype=dtype))


def mfu(chosen: Chosen) -> Shown:
    shares = shares_of(chosen)
    too_fast = _("More than 100 % cannot be: look at the speed, the dtype, the model, the device.")
    return Shown(
        headline=mfu_sentence(chosen, shares),
        charts=[Chart(picture=mfu_picture(shares, look()), file_name="mfu-conventions")],
        numbers=[(_(share.name), share) for share in shares[1:4]],
        widths=(4, 1),
        notes=[too_fast] if any(share.amount > 1 for share in shares) else [],
        code=_code_of_mfu(chosen),
    )


def shares_of(chosen: Chosen) -> tuple[Item, ...]:
    """Return the shares of the peak that people call MFU."""
    device, own = chosen.device.device, chosen.own
    return mfu_conventions(
        chosen.plan.spec,
        one_sequence(chosen),
        own.speed,
        known_peak(device, own.dtype),
        sparsity=device.has_sparse_peak(own.dtype),
    )


def _code_of_mfu(chosen: Chosen) -> str:
    device, own = chosen.device, chosen.own
    return CODE_OF_MFU.format(
        device=device.code, recipe=arguments(one_sequence(chosen)), dtype=own.dtype,
        model=chosen.model.code, speed=own.speed, sparsity=device.device.has_sparse_peak(own.dtype),
    )  # fmt: skip


def _side(chosen: Chosen, name: str) -> Compared:
    is_run = isinstance(chosen.own, Measured)
    if not is_run:  # a product has no share of a peak that was not timed
        raise ValueError(_("Two training runs can be compared, not a matmul."))
    rows = [(_(share.name), share) for share in shares_of(chosen)[1:]]
    return Compared(name=name, rows=rows, code=_code_of_mfu(chosen))


def mfu_sentence(chosen: Chosen, shares: Sequence[Item]) -> str:
    """Return the headline: one speed, and the shares of a peak that people call MFU."""
    by_name = {share.name: format_percent(share.amount) for share in shares}
    if "sparse peak" in by_name:
        text = _(
            "MFU {full} with full attention, {causal} causal, {sparse} against the sparse peak: "
            "{speed} tokens/s on {device} in {dtype}"
        )
    else:
        text = _(
            "MFU {full} with full attention, {causal} causal: {speed} tokens/s on {device} in "
            "{dtype}"
        )
    return text.format(
        speed=f"{chosen.own.speed:,}",
        device=chosen.device.device.name,
        dtype=dtype_name(chosen.own.dtype),
        full=by_name["full attention"],
        causal=by_name["causal attention"],
        sparse=by_name.get("sparse peak", ""),
    )


SIZES: Final = stops(256, 8192)
DTYPES: Final = ("float32", "bfloat16")
FASTEST: Final = "h100-sxm"  # whose peak a clock that does not wait is held against
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


@dataclass(frozen=True, kw_only=True, slots=True)
class Product:
    """A product of two square matrices; whether the clock waits, whether to time it now."""

    size: int
    dtype: str
    waits: bool
    pushed: bool
    words: Sequence[str] = ()


@dataclass
class Shared:
    """What every session of this server sees: the calls of the running trial, and all results."""

    running: list[MatmulCall] = field(default_factory=list)
    done: dict[tuple[int, str], MatmulTiming] = field(default_factory=dict)


@st.cache_resource(show_spinner=False)
def shared() -> Shared:
    return Shared()


def choose_matmul() -> Product:
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
        "peak of {device} is {peak}. And warm up before you time: the first call loads the "
        "kernels.",
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
    n, flops = f"{product.size:,}", format_flops(2 * product.size**3)
    if timing is None:
        text = _("{n} × {n} × {n} is {flops}: not timed on this machine yet")
        return text.format(n=n, flops=flops)
    kind: CallKind = "waiting" if product.waits else "not waiting"
    low, high = timing.spread(kind)
    return _("{n} × {n} × {n} is {flops}: {time} here ({low} to {high}), {rate}").format(
        n=n, flops=flops, time=format_seconds(timing.seconds(kind)), low=format_seconds(low),
        high=format_seconds(high), rate=format_flops_per_second(timing.flops_per_second(kind)),
    )  # fmt: skip


def choose() -> Chosen:
    """Show whether a training run or one product was measured, and the inputs of that."""
    words = {"run": N_("a training run"), "matmul": N_("a matmul here")}
    what = ASK.segmented("measured", _("Measured"), words, default="run")
    if what == "run":
        return choose_measured()
    product = choose_matmul()
    return replace(choose_plan((), {}), own=product)


TAB: Final = Tab(
    label=N_("MFU"),
    show=lambda case: matmul(case.own) if isinstance(case.own, Product) else mfu(case),
    question=ask_about_the_claim,
    compare=compared(lambda own: own.words, _side),
)
