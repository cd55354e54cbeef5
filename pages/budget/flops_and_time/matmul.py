"""The tab of a product timed on this machine: with and without waiting, beside what can be."""

from dataclasses import dataclass, field
from typing import Final

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from core.budget.compute.least_times import CLAIMED_SIZE, CLAIMS, least_seconds
from core.figures.budget.flops_and_time.least_times import (
    Least,
    Mark,
    least_times,
    least_times_alt,
    least_times_table,
)
from core.language import _
from core.machine.matmul_timing import (
    CallKind,
    MatmulCall,
    MatmulTiming,
    num_runs,
    time_matmul,
)
from core.units import format_flops, format_flops_per_second, format_seconds
from pages.budget.flops_and_time import places
from pages.budget.flops_and_time.places import PAGE
from pages.server.background import jobs
from pages.server.rate import take_turn
from pages.shared import pickers
from pages.shared.charts import show_chart
from pages.shared.header import headline
from pages.shared.settings import presenting, theme_mode

SIZES: Final = (256, 512, 1024, 2048, 4096, 8192)
DTYPES: Final = ("float32", "bfloat16")
CODE: Final = """
from core.machine.matmul_timing import CALLS, time_matmul

timing = time_matmul({size}, {dtype!r})
print(f"{{timing.flops:,}} FLOPs on {{timing.device}}")
for kind in CALLS:
    seconds = timing.seconds(kind)
    print(f"{{kind:12}} {{seconds * 1e3:10.3f}} ms {{timing.flops / seconds / 1e9:12,.1f}} GFLOP/s")
"""


@dataclass
class Shared:
    """What every session of this server sees: the calls of the running trial, and all results."""

    running: list[MatmulCall] = field(default_factory=list)
    done: dict[tuple[int, str], MatmulTiming] = field(default_factory=dict)


@st.cache_resource(show_spinner=False)
def shared() -> Shared:
    """Return this server's timings."""
    return Shared()


def show_matmul(row: DeltaGenerator) -> str:
    """Show the tab and return the code of its number."""
    with row:
        size = pickers.select_slider(
            PAGE, "matmul", _("Rows and columns n"), SIZES, default=CLAIMED_SIZE,
            labels=lambda n: f"{n:,}",
        )  # fmt: skip
        with places.aside():
            dtype = pickers.segmented(PAGE, "timed", _("Products in"), DTYPES, default="float32")
        waits = pickers.toggle(
            PAGE, "waits", _("Wait for the device"), default=True,
            help=_("torch.accelerator.synchronize(): a GPU answers before it is done."),
        )  # fmt: skip
        pushed = st.button(
            _("Time it on this machine"), key="flops_time_it", icon=":material/timer:",
            type="primary",
        )  # fmt: skip
    if pushed:
        _time(size, dtype)
    timing = shared().done.get((size, dtype))
    headline(sentence(size, timing, waits=waits))
    _show(size, dtype, timing, waits=waits)
    return CODE.format(size=size, dtype=dtype)


def sentence(size: int, timing: MatmulTiming | None, *, waits: bool) -> str:
    """Return the FLOPs of the product, and how fast it ran here."""
    flops = format_flops(2 * size**3)
    if timing is None:
        return _("{n} × {n} × {n} is {flops}: not timed on this machine yet").format(
            n=f"{size:,}", flops=flops
        )
    kind: CallKind = "waiting" if waits else "not waiting"
    low, high = timing.spread(kind)
    return _("{n} × {n} × {n} is {flops}: {time} here ({low} to {high}), {rate}").format(
        n=f"{size:,}",
        flops=flops,
        time=format_seconds(timing.seconds(kind)),
        low=format_seconds(low),
        high=format_seconds(high),
        rate=format_flops_per_second(timing.flops_per_second(kind)),
    )


def _show(size: int, dtype: str, timing: MatmulTiming | None, *, waits: bool) -> None:
    seconds = {item.name: float(item.amount) for item in least_seconds(size, dtype)}
    name = _("at least, by the dense peak")
    bars = [Least(name=name, color="forward", seconds=seconds, opacity=0.45)]
    marks = [*_found(timing, waits=waits), *_claims(size)]
    show_chart(
        least_times(bars, marks, theme_mode(), present=presenting()),
        key="flops_matmul_chart",
        alt=least_times_alt(bars, marks),
        table=least_times_table(bars, marks),
        file_name="matmul-times",
    )
    if timing is not None and timing.device == "cpu":
        st.caption(
            _(
                "Here a product runs on the CPU, which answers when it is done: waiting changes "
                "nothing. On a GPU a clock that does not wait sees only how long the call took."
            )
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
        Mark(name=name, color=token, symbol=symbol, seconds={here: timing.seconds(kind)})
        for name, kind, token, symbol in looks
    ]


def _claims(size: int) -> list[Mark]:
    """Return the marks of a tutorial's table, which speaks of one size only."""
    if size != CLAIMED_SIZE:
        return []
    claims = {_(label): seconds for label, seconds in CLAIMS.items()}
    name = _("claimed in a tutorial")
    return [Mark(name=name, color="refused", symbol="star", seconds=claims)]


def _time(size: int, dtype: str) -> None:
    with st.status(_("Timing, in a process of its own …"), expanded=True) as status:
        place = st.empty()
        try:
            take_turn("measure")
            jobs().finish(
                f"matmul {size} {dtype}",
                lambda: _run(size, dtype),
                lambda waiting: _tell(place, size, waiting),
            )
        except ValueError as error:
            status.update(label=_("The product was not timed"), state="error")
            st.write(str(error))
            return
        status.update(label=_("Timed"), state="complete", expanded=False)


def _run(size: int, dtype: str) -> None:
    kept = shared()
    kept.running = []
    kept.done[size, dtype] = time_matmul(size, dtype, kept.running.append)


def _tell(place: DeltaGenerator, size: int, waiting: int) -> None:
    if waiting:
        place.write(_("{count} measurements come first …").format(count=waiting))
    elif calls := shared().running:
        most = 1 + 2 * num_runs(size)
        place.progress(
            min(len(calls) / most, 1.0),
            _("{count} of {most} calls").format(count=len(calls), most=most),
        )
