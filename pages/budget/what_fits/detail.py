"""The square picked out: what fills the memory line by line, and the page that shows it whole."""

from collections.abc import Mapping, Sequence
from typing import Final

import streamlit as st

from core.budget.fits.jobs import SERVING_FORMATS, Training
from core.budget.fits.matrix import lines, row
from core.budget.formula import Formula
from core.budget.item import Item, item
from core.budget.recipe import TrainingRecipe
from core.language import N_, _
from core.units import format_bytes
from pages.budget.what_fits.device import show_device
from pages.budget.what_fits.inputs import PAGE, Case, Work
from pages.shared import link
from pages.shared.budget.choices import SAME_CHOICES
from pages.shared.budget.offered_sizes import (
    MOST_TRAINED,
    SERVED_CONTEXTS,
    SERVED_SEQUENCES,
    TRAINED_LENGTHS,
)
from pages.shared.navigation import page_row
from pages.shared.numbers import explained_number
from pages.shared.settings import unit_system

_REACH: Final[Mapping[Work, tuple[Sequence[int], int]]] = {
    "serve": (SERVED_CONTEXTS, SERVED_SEQUENCES[-1]),
    "train": (TRAINED_LENGTHS, MOST_TRAINED),
}
"""Work -> the lengths that its own page offers, and the most sequences at once."""
USABLE: Final = Formula("memory_usable")
_BELOW: Final = N_("what the driver reports, less what it keeps for itself")


def show_detail(case: Case) -> None:
    """Show need and capacity with what stands behind them, and the items in order."""
    (cell,) = row(case.model.spec, case.job, [case.device.device])
    if cell.need is None:
        st.caption(cell.sentence)
        return
    with st.container(border=True, key="fits_detail"):
        with st.container(horizontal=True):
            explained_number(_("Needed"), cell.need)
            explained_number(_("Usable"), usable(cell.capacity))
        st.markdown("\n".join(_lines(cell.need, cell.reason)))
        with st.container(horizontal=True):
            open_page(case)
            show_device(case.device.device)


def usable(capacity: float) -> Item:
    """Return the memory that a process can get, as a number that explains itself."""
    return item("usable memory", USABLE, {"memory_usable": capacity}, unit="bytes", source=_BELOW)


def _lines(need: Item, reason: str) -> list[str]:
    """Return one line an item, marked up to the first that fails."""
    found, mark = [], "✓"
    for part in lines(need):
        if part.name == reason:
            mark = "✗"
        size = format_bytes(part.amount, unit_system())
        found.append(f"- {mark} {_(part.name)} {size}")
    return found


def open_page(case: Case) -> None:
    """Show a link that opens the page of this job in this state, once that page exists."""
    key = {"serve": "budget/serving", "train": "budget/training_memory"}[case.work]
    label = {"serve": _("Open in Serving →"), "train": _("Open in Training memory →")}[case.work]
    settings = query(case)
    if not settings:
        st.caption(_("The other page has no setting for so many sequences or tokens."))
        return
    st.page_link(page_row(key).file, label=label, query_params=settings)


def query(case: Case) -> dict[str, str]:
    """Return the settings of the other page that mean the same as this one's; none if none do."""
    lengths, most = _REACH[case.work]
    if case.read_tokens not in lengths or case.sequences > most:
        return {}
    page = {"serve": "serving", "train": "memory"}[case.work]
    settings = link.values()
    found = {
        f"{page}_{name}": settings[f"{PAGE}_{name}"]
        for name in SAME_CHOICES
        if f"{PAGE}_{name}" in settings
    }
    if isinstance(case.job, Training):
        return found | _recipe_settings(case.job.recipe, case.read_tokens)
    return found | {
        "serving_weights": SERVING_FORMATS[case.way],
        "serving_kv": settings[f"{PAGE}_kv"],
        "serving_context": str(case.read_tokens),
        "serving_sequences": str(case.sequences),
    }


def _recipe_settings(recipe: TrainingRecipe, tokens: int) -> dict[str, str]:
    found = {
        "memory_precision": recipe.precision,
        "memory_optimizer": recipe.optimizer,
        "memory_checkpointing": recipe.checkpointing,
        "memory_batch": str(recipe.batch_size),
        "memory_seq": str(tokens),
        "memory_step": recipe.step_kind,
        "memory_profile": recipe.profile,
        "memory_accumulation": str(recipe.accumulation),
        "memory_lora": str(recipe.lora is not None).lower(),
    }
    if recipe.lora is None:
        return found
    return found | {
        "memory_rank": str(recipe.lora.rank),
        "memory_base": recipe.lora.base_format,
    }
