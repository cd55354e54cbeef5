"""The tabs of the page: three planes of the matrix, the solver, the referee."""

from pathlib import Path
from typing import Final

import streamlit as st

from core.language import N_, _
from pages.budget.what_fits.claims import claim_snippet, show_claims
from pages.budget.what_fits.inputs import PAGE, Case
from pages.budget.what_fits.map import show_map
from pages.budget.what_fits.reach import show_reach
from pages.shared import pickers

CSS: Final = Path(__file__).with_name("page.css")
NO_INPUTS: Final = Path(__file__).with_name("without_inputs.css")
REFEREE: Final = "claims"  # a claim has a model and a device of its own
TABS: Final = {
    "models_devices": N_("Models × devices"),
    "ways_devices": N_("Formats × devices"),
    "models_ways": N_("Models × formats"),
    "reach": N_("How far it goes"),
    "claims": N_("Referee"),
}

CODE: Final = """
from core.budget.catalogue.models import MODELS
from core.budget.catalogue.devices import DEVICES, custom_device, local_device
from core.budget.fits.matrix import first_failing
from core.budget.catalogue.hf_config import read_config
from core.budget.fits.jobs import Serving
from core.budget.recipe import LoRA, TrainingRecipe
from core.budget.serving.plan import ServingPlan
from core.budget.fits.jobs import Training
from core.machine import probe_machine

job = {job}
need = job.need({model})
device = {device}
failing = first_failing(need, device.memory_usable)
print(f"{{need.amount / 2**30:.2f}} of {{device.memory_usable / 2**30:.2f}} GiB")
print(f"first that fails: {{failing.name if failing else 'nothing'}}")
"""


def choose_tab() -> str:
    """Show the tabs and return the open one."""
    return pickers.segmented(
        PAGE,
        "tab",
        _("Show"),
        tuple(TABS),
        default="models_devices",
        labels=lambda tab: _(TABS[tab]),
    )


def snippet(tab: str, case: Case) -> str:
    """Return Python that prints what the job needs and the first item that fails, or the ruling."""
    if tab == REFEREE:
        return claim_snippet()
    return CODE.format(job=repr(case.job), model=case.model.code, device=case.device.code)


def show_tab(tab: str, case: Case) -> None:
    """Show the open tab; only that one is computed."""
    if tab == "reach":
        show_reach(case)
    elif tab == REFEREE:
        st.html(NO_INPUTS)
        show_claims()
    elif tab == "ways_devices":
        show_map(case, "ways_devices")
    else:
        show_map(case, "models_ways" if tab == "models_ways" else "models_devices")
