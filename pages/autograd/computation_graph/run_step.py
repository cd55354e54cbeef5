"""The step of a run that this server has: which checkpoint, and the graph that a child captures."""

from dataclasses import dataclass
from functools import partial
from pathlib import Path

import streamlit as st

from core.autograd.graph import Capture
from core.language import _
from core.train.learning.step_graph import graph_of_step, sequences_that_fit
from core.train.learning.tensors import newest_checkpoint
from core.train.run.directory import checkpoint_step, open_run_directory, runs_directory
from core.train.run.shelf import summarize
from core.train.start.presets import preset_title
from pages.server.background import jobs
from pages.server.rate import take_turn
from pages.shared.page_links import show_link


@dataclass(frozen=True, kw_only=True, slots=True)
class RunStep:
    """The newest checkpoint of a run."""

    directory: Path  # the run directory
    title: str  # what the reader calls the run
    step: int  # optimizer steps that its model had learned
    batch_size: int  # sequences of one of its forward passes

    @property
    def words(self) -> str:
        return _("{run} after step {step}").format(run=self.title, step=f"{self.step:,}")


def newest_step(name: str) -> RunStep:
    """Return the newest checkpoint of the run of that name, which a link may have made up."""
    try:
        run = summarize(open_run_directory(runs_directory(), name))
    except FileNotFoundError as error:
        raise ValueError(str(error)) from error
    if run.error:
        raise ValueError(run.error)
    return RunStep(
        directory=run.directory,
        title=preset_title(run.title),
        step=checkpoint_step(newest_checkpoint(run.directory)),
        batch_size=int(run.info["config"].get("batch_size", 1)),
    )


def captured_step(run: RunStep) -> Capture:
    """Return the capture of a run's step; sessions share it, and wait for one child together."""
    with st.spinner(_("Capturing a step of the run in a separate process…")):
        return _captured(str(run.directory), run.step)


@st.cache_resource(max_entries=16, show_spinner=False)
def _captured(directory: str, step: int) -> Capture:
    path = Path(directory)
    sequences_that_fit(path)  # refuses in the reader's language: a job's thread has none
    take_turn("measure")
    return jobs().finish(f"step graph {directory} {step}", partial(graph_of_step, path, step))


def show_run(run: RunStep) -> None:
    st.markdown(f"**{run.words}**")
    show_link("train/live_run", _("The run →"), {"run": run.directory.name})


def about_the_batch(run: RunStep, capture: Capture) -> str:
    token_ids = capture.leaves["token_ids"].value
    message = _(
        "The next step's forward and backward pass, in float32 on the CPU: {count} of the batch's "
        "{all} sequences of {tokens} tokens."
    )
    count, tokens = token_ids.shape
    return message.format(count=count, all=run.batch_size, tokens=tokens)
