"""The way from the rank grid to the memory page, in the same state."""

import streamlit as st

from core.budget.recipe import TrainingRecipe
from core.language import _
from pages.panels.budget.choices import SAME_CHOICES
from pages.panels.budget.memory.layout import EXPERTS, REPLICAS, STAGES, TENSOR
from pages.panels.budget.parallel.inputs import PAGE, Case
from pages.shared import link
from pages.shared.navigation import page_row


def memory_query(case: Case) -> dict[str, str]:
    """Return the settings of the memory page that mean the same; none if it has no such layout."""
    cluster = case.cluster
    layout = {
        "replicas": (cluster.data, REPLICAS),
        "tensor": (cluster.tensor, TENSOR),
        "stages": (cluster.pipeline, STAGES),
        "expert": (cluster.expert, EXPERTS),
    }
    if any(value not in options for value, options in layout.values()):
        return {}
    chosen = link.values()
    settings = {
        **{name: chosen[f"{PAGE}_{name}"] for name in SAME_CHOICES if f"{PAGE}_{name}" in chosen},
        **{name: str(value) for name, (value, _options) in layout.items()},
        "zero": str(cluster.zero_stage),
        "sequence": str(cluster.sequence_parallel).lower(),
        **_recipe_settings(case.recipe),
    }
    return {f"memory_{name}": value for name, value in settings.items()}


def _recipe_settings(recipe: TrainingRecipe) -> dict[str, str]:
    return {
        "precision": recipe.precision,
        "checkpointing": recipe.checkpointing,
        "batch": str(recipe.batch_size),
        "seq": str(recipe.seq_len),
        "accumulation": str(recipe.accumulation),
        "step": recipe.step_kind,
        "profile": recipe.profile,
    }


def open_memory_page(case: Case) -> None:
    """Show a link that opens the memory page in this state, if it can be in it."""
    if settings := memory_query(case):
        page = page_row("budget/training_memory")
        st.page_link(page.file, label=_("Open in Training memory →"), query_params=settings)
