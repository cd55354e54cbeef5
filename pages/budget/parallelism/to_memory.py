"""The way from the rank grid to the memory page, in the same state."""

import streamlit as st

from core.budget.recipe import TrainingRecipe
from core.language import _
from pages.budget.parallelism.inputs import PAGE, Case
from pages.shared import link
from pages.shared.budget.choices import SAME_CHOICES
from pages.shared.navigation import page_row


def memory_query(case: Case) -> dict[str, str]:
    """Return the settings of the memory page that mean the same."""
    cluster, chosen = case.cluster, link.values()
    settings = {
        **{name: chosen[f"{PAGE}_{name}"] for name in SAME_CHOICES if f"{PAGE}_{name}" in chosen},
        "replicas": str(cluster.data),
        "tensor": str(cluster.tensor),
        "stages": str(cluster.pipeline),
        "expert": str(cluster.expert),
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
    """Show a link that opens the memory page in this state."""
    page = page_row("budget/training_memory")
    label = _("Open in Training memory →")
    st.page_link(page.file, label=label, query_params=memory_query(case))
