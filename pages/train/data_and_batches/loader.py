"""Does a step wait for its data? Measured with torch's DataLoader, in processes of their own."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Final

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from core.figures.budget.frames import rows_of_bars, text_size
from core.figures.picture import Drawing, Look, Picture
from core.language import _
from core.train.start.loader_speed import (
    BATCH_SIZE,
    NUM_STEPS,
    WORKERS,
    LoaderTiming,
    RecordedTimings,
    measure_loader,
    recorded_timings,
)
from core.train.start.plan import device_in_use
from core.units import format_percent, format_seconds
from pages.shared.job import run_job
from pages.shared.page_links import show_link
from pages.shared.settings import locked, look
from pages.shared.tabbed_page import Chart, Shown, Tab
from pages.train.data_and_batches.inputs import ASK

SIZES_KIB: Final = (16, 64, 256, 512)
PREFETCH: Final = (1, 2, 4, 8)
_CODE: Final = """
import time, zlib
import torch
from torch.utils.data import DataLoader

class Items:
    packed = zlib.compress(bytes(i * i % 128 for i in range({kib} * 1024)))
    def __len__(self):
        return 64
    def __getitem__(self, index):
        return torch.tensor(list(zlib.decompress(self.packed)[:64])) / 128

# In a script also: num_workers=2, prefetch_factor={prefetch}; with CUDA pin_memory=True
begun = time.perf_counter()
for batch in DataLoader(Items(), batch_size={batch}, num_workers=0):
    pass
print(f"{{(time.perf_counter() - begun) / 4 * 1e3:.1f}} ms for a batch of {batch}")
"""


@dataclass(frozen=True, slots=True)
class Asked:
    """Which loaders are measured: how long an item takes, and how many batches are made ahead."""

    item_kib: int
    prefetch_factor: int


@dataclass(slots=True)
class Measured:
    """What every session of this server sees: the loaders timed so far."""

    timings: dict[Asked, tuple[LoaderTiming, ...]] = field(default_factory=dict)
    now: str = ""
    done: float = 0.0


@st.cache_resource(show_spinner=False)
def measured() -> Measured:
    return Measured()


def choose_loader() -> Asked:
    kib = ASK.select_slider(
        "item", _("Item (KiB, decompressed)"), SIZES_KIB, default=256,
        help=_("Reading an item means decompressing it, as images and tokenized shards are."),
    )  # fmt: skip
    prefetch = ASK.select_slider(
        "prefetch", "prefetch_factor", PREFETCH, default=2,
        help=_("Batches that each worker makes ahead."),
    )  # fmt: skip
    return Asked(kib, prefetch)


def loader_tab(asked: Asked) -> Shown:
    """Offer to measure, and draw the timelines of the last measurement with these settings."""
    timings, recorded = measured().timings.get(asked, ()), recorded_timings()
    is_here = bool(timings)
    if asked == Asked(recorded.item_kib, recorded.prefetch_factor) and not timings:
        timings = recorded.timings
    pushed = st.button(
        _("Measure again") if is_here else _("Measure here"), key=ASK.key("measure"),
        icon=":material/timer:", disabled=locked(),
    )  # fmt: skip
    if pushed and run_job(
        f"loader {asked}",
        partial(_measure, asked),
        doing=_("Measuring three loaders, each in a separate process …"),
        failed=_("The loaders were not measured"),
        tell=_tell,
    ):
        st.rerun()
    return Shown(
        headline=_headline(timings),
        charts=[Chart(picture=loader_picture(timings, look(), is_here=is_here), file_name="loader")]
        if timings else [],
        notes=[*([_recorded(recorded)] if timings and not is_here else []), *_notes(timings)],
        below=_link,
        code=_CODE.format(kib=asked.item_kib, prefetch=asked.prefetch_factor, batch=BATCH_SIZE),
    )  # fmt: skip


def _recorded(recorded: RecordedTimings) -> str:
    return _("Recorded on {date} on a machine with {cores} CPU cores that had other work too; "
             "Measure here shows this machine.").format(
        date=recorded.date, cores=recorded.num_cores)  # fmt: skip


def _measure(asked: Asked) -> None:
    kept, timings = measured(), list[LoaderTiming]()
    for num_workers in WORKERS:
        kept.now, kept.done = f"num_workers={num_workers}", len(timings) / len(WORKERS)
        timings.append(measure_loader(num_workers, asked.prefetch_factor, asked.item_kib))
    kept.timings[asked] = tuple(timings)


def _tell(place: DeltaGenerator) -> None:
    place.progress(measured().done, measured().now)


def _headline(timings: tuple[LoaderTiming, ...]) -> str:
    if not timings:
        return _("{steps} steps with {workers} workers: not measured on this machine yet").format(
            steps=NUM_STEPS, workers=_(", ").join(map(str, WORKERS))
        )
    first, best = timings[0], min(timings, key=lambda timing: timing.total_seconds)
    return _(
        "Without workers a step waits {share} of the time; {steps} steps take {seconds}, at best "
        "{best} ({name})"
    ).format(
        share=format_percent(first.waited), steps=NUM_STEPS, name=label(best),
        seconds=format_seconds(first.total_seconds), best=format_seconds(best.total_seconds),
    )  # fmt: skip


def _notes(timings: tuple[LoaderTiming, ...]) -> list[str]:
    notes = [
        _("With num_workers=0 the training process reads its items itself: the step waits. Workers "
          "are processes that make up to prefetch_factor batches each ahead, while the step "
          "computes. They need cores of their own, and seconds to start.")
    ]  # fmt: skip
    if timings:
        notes.append(
            _("One item takes {item}. Before the first batch was there: {starts}.").format(
                item=format_seconds(timings[0].item_seconds),
                starts=_("; ").join(
                    f"{label(timing)} {format_seconds(timing.first_seconds)}" for timing in timings
                ),
            )
        )
    if device_in_use()[0] != "cuda":
        notes.append(
            _("pin_memory: n/a on this device. Page-locked memory speeds up the copy to a CUDA "
              "GPU; on a CPU there is nothing to copy.")
        )  # fmt: skip
    return notes


def _link() -> None:
    show_link("plan/flops_and_time", _("What a step takes: FLOPs and time"), {},
              icon=":material/speed:")  # fmt: skip


LINE_PX: Final = 72


def loader_picture(timings: Sequence[LoaderTiming], look: Look, *, is_here: bool = True) -> Picture:
    """Return the timeline of each loader: waiting for a batch, then a step, twelve times."""
    drawing = Drawing()
    for role, color in (("wait", "axis_2"), ("step", "axis_1")):
        spans = [
            (label(timing), begin, length)
            for timing in timings
            for begin, length in _spans(timing)[role]
        ]
        drawing.bar(
            orientation="h", name=_roles()[role], y=[name for name, _b, _l in spans],
            base=[begin * 1e3 for _n, begin, _l in spans],
            x=[length * 1e3 for _n, _b, length in spans],
            marker={"color": look.color(color), "line": {"width": 0.5,
                    "color": look.color("background")},
                    "pattern": {"shape": "/" if role == "wait" else ""}},
            hovertemplate="%{y}: %{x:.2f} ms<extra>" + _roles()[role] + "</extra>",
        )  # fmt: skip
    size = text_size(look)
    figure = rows_of_bars(
        drawing, look, num_rows=0, barmode="overlay", bargap=0.2,
        x={"title": {"text": _("milliseconds")}, "fixedrange": False}, y={"type": "category"},
        height=max(len(timings), 1) * LINE_PX + size * 6,
        margin={"l": 8, "r": 8, "t": size * 2.6, "b": 8},
    )  # fmt: skip
    alt = _sentence(timings, is_here=is_here)
    return Picture(figure=figure, alt=alt, table=_table(timings))


def label(timing: LoaderTiming) -> str:
    return f"num_workers={timing.num_workers}"


def _roles() -> Mapping[str, str]:
    return {"wait": _("waits for the batch"), "step": _("training step")}


def _spans(timing: LoaderTiming) -> dict[str, list[tuple[float, float]]]:
    spans: dict[str, list[tuple[float, float]]] = {"wait": [], "step": []}
    now = 0.0
    for waited, computed in zip(timing.wait_seconds, timing.step_seconds, strict=True):
        spans["wait"].append((now, waited))
        spans["step"].append((now + waited, computed))
        now += waited + computed
    return spans


def _sentence(timings: Sequence[LoaderTiming], *, is_here: bool) -> str:
    one = _("{name}: {seconds} for {steps} steps, {share} of it waiting")
    parts = [
        one.format(name=label(timing), seconds=format_seconds(timing.total_seconds),
                   steps=len(timing.step_seconds), share=format_percent(timing.waited))
        for timing in timings
    ]  # fmt: skip
    told = _("Measured here: {parts}.") if is_here else _("Recorded on another machine: {parts}.")
    return told.format(parts=_("; ").join(parts))


def _table(timings: Sequence[LoaderTiming]) -> dict[str, list[object]]:
    rows = [
        (label(timing), step, waited * 1e3, computed * 1e3)
        for timing in timings
        for step, (waited, computed) in enumerate(
            zip(timing.wait_seconds, timing.step_seconds, strict=True)
        )
    ]
    heads = (_("loader"), _("step"), _("waits (ms)"), _("step (ms)"))
    return {head: [row[place] for row in rows] for place, head in enumerate(heads)}


TAB: Final = Tab(label="DataLoader", show=loader_tab, choose=choose_loader, with_inputs=False)
