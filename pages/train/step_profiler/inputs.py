"""What the step profiler asks for: a run or a fresh model; and what this server has measured."""

from dataclasses import dataclass
from functools import partial
from typing import Any, Final

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from core.language import _
from core.train.config import OPTIMIZERS
from core.train.learning.tensors import runs_with_weights
from core.train.profiler.measure import FRESH_PRECISIONS, SIZES, Subject, measure
from core.train.profiler.results import Where, recorded
from core.train.run.directory import is_run_name, runs_directory
from core.train.run.shelf import summarize
from core.train.start.presets import preset_title
from pages.shared import link
from pages.shared.inputs import Inputs
from pages.shared.job import run_job
from pages.shared.settings import locked

RECORDED_STEPS: Final = 3  # of the recording of operators
ASK: Final = Inputs("profile")
_MOST_RUNS: Final = 20
_MOST_KEPT: Final = 40


@dataclass(frozen=True, kw_only=True, slots=True)
class Case:
    """What is profiled, and how it is called."""

    subject: Subject
    title: str


def choose_case() -> Case:
    """Show the inputs and return what is profiled."""
    asked = link.raw_value(ASK.key("model")) or ""
    names = [*runs_with_weights(runs_directory())[:_MOST_RUNS], *filter(is_run_name, [asked])]
    runs = {name: summarize(runs_directory() / name).title for name in dict.fromkeys(names)}
    name = ASK.selectbox(
        "model", _("Model or run"), (*SIZES, *runs), default=SIZES[0],
        labels=lambda each: preset_title(runs[each]) or each if each in runs
        else _("{size}, fresh").format(size=each),
        help=_("A run is measured at its newest checkpoint, in a separate process; the run "
               "itself stays as it is."),
    )  # fmt: skip
    if name in runs:
        try:
            subject = Subject(run=name)
            title = _("{run}, step {step}").format(
                run=preset_title(runs[name]), step=f"{subject.step:,}"
            )
            return Case(subject=subject, title=title)
        except FileNotFoundError as error:
            raise ValueError(str(error)) from error
    with st.popover(_("Settings"), icon=":material/tune:", key=ASK.key("settings")):
        precision = ASK.selectbox("precision", _("Precision"), FRESH_PRECISIONS, default="fp32")
        optimizer = ASK.selectbox("optimizer", _("Optimizer"), OPTIMIZERS, default="adamw")
    subject = Subject(size=name, precision=precision, optimizer=optimizer)
    return Case(subject=subject, title=f"{name}, {precision}, {optimizer}")


@st.cache_resource(show_spinner=False)
def kept() -> dict[tuple[str, str], Any]:
    """Return what this server has measured, by what and by model; a run's by its checkpoint."""
    return {}


def result_of(what: str, case: Case, place: DeltaGenerator, num_steps: int = RECORDED_STEPS) -> Any:  # noqa: ANN401
    """Offer to measure, and return the newest result; else a recording; else nothing."""
    name, subject = f"{what} {num_steps}", case.subject
    found = kept().get((name, subject.key))
    with place:
        pushed = st.button(
            _("Measure again") if found else _("Measure here"),
            key=ASK.key(f"measure_{what}"), icon=":material/timer:", disabled=locked(),
        )  # fmt: skip
    if pushed and run_job(
        f"profile {name} {subject.key}",
        partial(_measure, name, subject, num_steps),
        doing=_("Measuring a step in a separate process …"),
        failed=_("The step was not measured"),
    ):
        st.rerun()
    is_recorded = what != "operators" or num_steps == RECORDED_STEPS
    is_preset = not subject.run and subject.optimizer == "adamw" and is_recorded
    return found or (recorded(what, subject.size, subject.precision) if is_preset else None)


def _measure(name: str, subject: Subject, num_steps: int) -> None:
    result, results = measure(name.split()[0], subject, num_steps), kept()
    key = subject.key
    # What was measured at an older checkpoint is of no use any more.
    stale = [old for old in results if subject.run and subject.run in old[1] and old[1] != key]
    for old in [*stale, *list(results)[: 1 - _MOST_KEPT]]:
        results.pop(old, None)
    results[name, key] = result


def not_measured(case: Case) -> str:
    return _("{model}: not measured on this machine yet").format(model=case.title)


def told_of(where: Where) -> list[str]:
    """Say what was measured and where."""
    text = _("{params} parameters, {precision}, {optimizer}, after {steps} steps; {device}, "
             "threads: {threads}.").format(
        params=f"{where.num_params:,}", precision=where.precision, optimizer=where.optimizer,
        steps=f"{where.step:,}", device=where.device_name, threads=where.threads,
    )  # fmt: skip
    again = _("Recorded on {date} on another machine; Measure here shows this one.")
    return [text, again.format(date=where.date)] if where.date else [text]
