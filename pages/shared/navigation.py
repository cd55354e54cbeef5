"""The menu: every page once, in its order."""

from dataclasses import dataclass
from pathlib import Path
from typing import Final

import streamlit as st
from streamlit.navigation.page import StreamlitPage

from core.language import N_, _

PAGES_FOLDER: Final = Path(__file__).parents[1]


# The folders of the pages, in the order of the menu.
SECTIONS: Final = {
    "start": N_("Start"),
    "dtypes": N_("Number formats"),
    "tensors": N_("Tensors"),
    "autograd": N_("Gradients"),
    "models": N_("Models"),
    "train": N_("Training"),
    "plan": N_("Sizing"),
}


@dataclass(frozen=True, slots=True)
class PageRow:
    """One page: `key` is its folder under pages; `short` its word in the link, if not its name."""

    key: str
    title: str
    short: str = ""

    @property
    def section(self) -> str:
        return SECTIONS[self.key.partition("/")[0]]

    @property
    def address(self) -> str:
        return self.short or self.key.partition("/")[2].replace("_", "-")

    @property
    def file(self) -> Path:
        return PAGES_FOLDER / self.key / "page.py"


# The first row is the default page and lives at "/". An address, once public, is never renamed.
PAGES: Final = (
    PageRow("start/home", N_("Home")),
    PageRow("start/lessons", N_("Lessons")),
    PageRow("start/machine", N_("This machine")),
    PageRow("start/spot_the_bug", N_("Spot the bug")),
    PageRow("dtypes/bit_layouts", N_("Bit layouts")),
    PageRow("dtypes/rounding_and_overflow", N_("Rounding and overflow")),
    PageRow("dtypes/low_precision_training", N_("Low-precision training")),
    PageRow("dtypes/quantization", N_("Quantization")),
    PageRow("tensors/strides_and_views", N_("Strides and views")),
    PageRow("tensors/indexing_and_sharing", N_("Indexing and sharing")),
    PageRow("tensors/broadcasting", N_("Broadcasting")),
    PageRow("tensors/rearrange_and_einsum", N_("Rearrange and einsum")),
    PageRow("autograd/computation_graph", N_("Computation graph")),
    PageRow(
        "autograd/accumulation_and_recomputation",
        N_("Accumulation and recomputation"),
        "accumulation",
    ),
    PageRow("models/layers_and_parameters", N_("Layers and parameters")),
    PageRow("models/inside_gpt", N_("Inside GPT")),
    PageRow("train/live_run", N_("Live training")),
    PageRow("train/compare_recipes", N_("Compare recipes")),
    PageRow("train/data_and_batches", N_("Data and batches")),
    PageRow("train/optimizers_and_schedules", N_("Optimizers and schedules"), "optimizers"),
    PageRow("train/step_profiler", N_("Step profiler")),
    PageRow("train/break_it", N_("Break it")),
    PageRow("plan/what_fits", N_("What fits")),
    PageRow("plan/training_memory", N_("Training memory")),
    PageRow("plan/flops_and_time", N_("FLOPs and time")),
    PageRow("plan/serving", N_("Serving")),
    PageRow("plan/parallelism", N_("Parallelism")),
    PageRow("plan/model_sizes", N_("Model sizes and dtypes")),
    PageRow("plan/diagnose", N_("Diagnose")),
)


def page_row(key: str) -> PageRow:
    """Return the row of a page.

    Raises:
        ValueError: If there is no such page.
    """
    for row in PAGES:
        if row.key == key:
            return row
    known = ", ".join(row.key for row in PAGES)
    raise ValueError(f"page {key!r} does not exist; the pages are: {known}")


def build_menu() -> dict[str, list[StreamlitPage]]:
    """Return the menu in the reader's language: section title -> its pages."""
    menu: dict[str, list[StreamlitPage]] = {}
    for row in PAGES:
        default = row is PAGES[0]
        entry = st.Page(row.file, title=_(row.title), url_path=row.address, default=default)
        menu.setdefault(_(row.section), []).append(entry)
    return menu


def key_of(page: StreamlitPage) -> str:
    """Return the key of the page that the menu chose; the default page has an empty address."""
    return next((row.key for row in PAGES if row.address == page.url_path), PAGES[0].key)
