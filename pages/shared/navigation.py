"""The menu: every page once, in the order of the house."""

from dataclasses import dataclass
from pathlib import Path
from typing import Final

import streamlit as st
from streamlit.navigation.page import StreamlitPage

from core.language import N_, _

PAGES_FOLDER: Final = Path(__file__).parents[1]


@dataclass(frozen=True, kw_only=True, slots=True)
class PageRow:
    """One page: `key` is its folder under pages, `address` the fixed word in the link."""

    key: str
    section: str
    title: str
    address: str

    @property
    def file(self) -> Path:
        return PAGES_FOLDER / self.key / "page.py"


# The first row is the default page and lives at "/". An address, once public, is never renamed.
PAGES: Final = (
    PageRow(key="start/home", section=N_("Start"), title=N_("Home"), address="home"),
    PageRow(key="start/lessons", section=N_("Start"), title=N_("Lessons"), address="lessons"),
    PageRow(key="start/machine", section=N_("Start"), title=N_("This machine"), address="machine"),
    PageRow(
        key="start/spot_the_bug",
        section=N_("Start"),
        title=N_("Spot the bug"),
        address="spot-the-bug",
    ),
    PageRow(
        key="dtypes/bit_layouts",
        section=N_("Number formats"),
        title=N_("Bit layouts"),
        address="bit-layouts",
    ),
    PageRow(
        key="dtypes/rounding_and_overflow",
        section=N_("Number formats"),
        title=N_("Rounding and overflow"),
        address="rounding-and-overflow",
    ),
    PageRow(
        key="dtypes/low_precision_training",
        section=N_("Number formats"),
        title=N_("Low-precision training"),
        address="low-precision-training",
    ),
    PageRow(
        key="dtypes/quantization",
        section=N_("Number formats"),
        title=N_("Quantization"),
        address="quantization",
    ),
    PageRow(
        key="tensors/strides_and_views",
        section=N_("Tensors"),
        title=N_("Strides and views"),
        address="strides-and-views",
    ),
    PageRow(
        key="tensors/indexing_and_sharing",
        section=N_("Tensors"),
        title=N_("Indexing and sharing"),
        address="indexing-and-sharing",
    ),
    PageRow(
        key="tensors/broadcasting",
        section=N_("Tensors"),
        title=N_("Broadcasting"),
        address="broadcasting",
    ),
    PageRow(
        key="tensors/rearrange_and_einsum",
        section=N_("Tensors"),
        title=N_("Rearrange and einsum"),
        address="rearrange-and-einsum",
    ),
    PageRow(
        key="autograd/computation_graph",
        section=N_("Gradients"),
        title=N_("Computation graph"),
        address="computation-graph",
    ),
    PageRow(
        key="autograd/accumulation_and_recomputation",
        section=N_("Gradients"),
        title=N_("Accumulation and recomputation"),
        address="accumulation",
    ),
    PageRow(
        key="models/layers_and_parameters",
        section=N_("Models"),
        title=N_("Layers and parameters"),
        address="layers-and-parameters",
    ),
    PageRow(
        key="models/inside_gpt", section=N_("Models"), title=N_("Inside GPT"), address="inside-gpt"
    ),
    PageRow(
        key="train/live_run", section=N_("Training"), title=N_("Live training"), address="live-run"
    ),
    PageRow(
        key="train/data_and_batches",
        section=N_("Training"),
        title=N_("Data and batches"),
        address="data-and-batches",
    ),
    PageRow(
        key="train/optimizers_and_schedules",
        section=N_("Training"),
        title=N_("Optimizers and schedules"),
        address="optimizers",
    ),
    PageRow(
        key="plan/what_fits",
        section=N_("Sizing"),
        title=N_("What fits"),
        address="what-fits",
    ),
    PageRow(
        key="plan/training_memory",
        section=N_("Sizing"),
        title=N_("Training memory"),
        address="training-memory",
    ),
    PageRow(
        key="plan/flops_and_time",
        section=N_("Sizing"),
        title=N_("FLOPs and time"),
        address="flops-and-time",
    ),
    PageRow(
        key="plan/serving",
        section=N_("Sizing"),
        title=N_("Serving"),
        address="serving",
    ),
    PageRow(
        key="plan/parallelism",
        section=N_("Sizing"),
        title=N_("Parallelism"),
        address="parallelism",
    ),
    PageRow(
        key="plan/model_sizes",
        section=N_("Sizing"),
        title=N_("Model sizes and dtypes"),
        address="model-sizes",
    ),
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
