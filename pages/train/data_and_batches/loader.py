"""Does a step wait for its data? Measured with torch's DataLoader, in processes of their own."""

from dataclasses import dataclass, field
from functools import partial
from typing import Final

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from core.figures.train.data_and_batches.loader import label, loader_picture
from core.language import _
from core.train.start.loader_speed import (
    BATCH_SIZE,
    NUM_STEPS,
    WORKERS,
    LoaderTiming,
    measure_loader,
)
from core.train.start.plan import device_in_use
from core.units import format_percent, format_seconds
from pages.shared.job import run_job
from pages.shared.page_links import show_link
from pages.shared.settings import locked, look
from pages.shared.tabbed_page import Chart, Shown
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
    """Return what this server measured."""
    return Measured()


def choose_loader() -> Asked:
    """Show how much an item is and how many batches are prefetched."""
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
    timings = measured().timings.get(asked, ())
    pushed = st.button(
        _("Measure again") if timings else _("Measure here"), key=ASK.key("measure"),
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
        charts=[Chart(picture=loader_picture(timings, look()), file_name="loader")]
        if timings else [],
        notes=_notes(timings),
        below=_link,
        code=_CODE.format(kib=asked.item_kib, prefetch=asked.prefetch_factor, batch=BATCH_SIZE),
    )  # fmt: skip


def _measure(asked: Asked) -> None:
    """Measure in a thread of the pool: each loader in a fresh process."""
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
