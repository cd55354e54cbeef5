"""Simulated steps that this server has run: one child process a case, kept for every session."""

from collections import OrderedDict
from dataclasses import dataclass, field
from functools import partial
from typing import Final

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from core.budget.simulation.cases import run_simulation, write_case
from core.budget.simulation.timeline import StepReport
from core.budget.training.scenario import Scenario
from core.figures.budget.training_memory.step_marks import PHASE_WORDS
from core.language import _
from pages.server.background import jobs
from pages.server.rate import take_turn

MOST_KEPT: Final = 32


@dataclass
class Shared:
    """Finished reports, the latest last, and where each running simulation stands."""

    reports: OrderedDict[str, StepReport] = field(default_factory=OrderedDict)
    places: dict[str, tuple[str, str]] = field(default_factory=dict)


@st.cache_resource(show_spinner=False)
def shared() -> Shared:
    """Return this server's simulations."""
    return Shared()


def kept_report(case: Scenario) -> StepReport | None:
    """Return the simulation of this very step, if it was run here; never waits."""
    return shared().reports.get(write_case(case.spec, case.recipe))


def simulate(case: Scenario) -> None:
    """Run the simulation in the server's pool and tell how far it is."""
    name = write_case(case.spec, case.recipe)
    with st.status(_("Simulating, in a process of its own …"), expanded=True) as status:
        place = st.empty()
        try:
            take_turn("measure")
            jobs().finish(name, partial(_run, name, case), partial(_tell, place, name))
        except ValueError as error:
            status.update(label=_("The simulation did not run"), state="error")
            st.write(str(error))
            return
    st.rerun()


def _run(name: str, case: Scenario) -> None:
    """Run in a thread of the pool."""
    kept = shared()

    def note(phase: str, module: str) -> None:
        kept.places[name] = (phase, module)

    try:
        report = run_simulation(case.spec, case.recipe, note)
    finally:
        kept.places.pop(name, None)
    kept.reports[name] = report
    while len(kept.reports) > MOST_KEPT:
        kept.reports.popitem(last=False)


def _tell(place: DeltaGenerator, name: str, waiting: int) -> None:
    if waiting:
        place.write(_("{count} measurements come first …").format(count=waiting))
    elif name in shared().places:
        phase, module = shared().places[name]
        place.write(f"{_(PHASE_WORDS[phase])} · `{module or '…'}`")
    else:
        place.write(_("torch is loading …"))
