"""Where the gradients of the loss-scale lab come from; real ones from a process of their own."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import streamlit as st

from core.dtypes.labs import GradientHistogram, gradient_histogram, synthetic_gradients
from core.language import _
from core.train.learning.tensors import (
    HIDDEN,
    GradientSample,
    measure_gradients,
    newest_checkpoint,
    runs_with_weights,
)
from core.train.run.directory import runs_directory
from pages.dtypes.low_precision_training.places import PAGE
from pages.server.background import jobs
from pages.shared import pickers

SOURCES: Final = ("synthetic", "single", "real")
SINGLE: Final = 1e-8
ALL: Final = "all"
REAL_CODE: Final = """from core.train.learning.tensors import measure_gradients
from core.train.run.directory import runs_directory

run = {run}
gradients = measure_gradients(run).{values}"""
_MAX_KEPT: Final = 4


@dataclass(frozen=True, kw_only=True, slots=True)
class Gradients:
    """A histogram and where it comes from.

    Attributes:
        histogram: Of all gradients.
        tensors: Of each tensor, by its name; empty for made-up gradients.
        run: Name of the run, if it is one's.
        step: Optimizer steps that the run had done.
    """

    histogram: GradientHistogram
    tensors: Mapping[str, GradientHistogram] = field(default_factory=dict)
    run: str = ""
    step: int = 0


def source_label(source: str) -> str:
    """Return the words for a source of gradients."""
    return {
        "synthetic": _("σ = 1e-6"),
        "single": "1e-8",
        "real": _("a GPT"),
    }[source]


def gradients_of(source: str) -> Gradients:
    """Return the gradients; a real GPT that cannot be asked is replaced, and says so."""
    if source == "single":
        return Gradients(histogram=gradient_histogram([SINGLE]))
    if source == "real":
        try:
            return real_gradients()
        except ValueError as error:
            st.warning(f"{error} {_('Made-up gradients are shown instead.')}")
    return made_up()


@st.cache_resource(show_spinner=False)
def made_up() -> Gradients:
    """Return made-up gradients, the same for everybody."""
    return Gradients(histogram=gradient_histogram(synthetic_gradients()))


def real_gradients() -> Gradients:
    """Return those of the newest run with a checkpoint, else of a fresh model; asked once.

    Raises:
        ValueError: If the child process fails, or too much waits for the server.
    """
    run = newest_trained_run()
    name = "gradients of a fresh GPT" if run is None else f"gradients of {newest_checkpoint(run)}"
    kept = _kept()
    if name not in kept:
        note = st.empty()

        def on_wait(place: int) -> None:
            if place:
                note.caption(_("Waiting: {count} jobs come first.").format(count=place))

        with st.spinner(_("Computing real gradients in a process of their own…")):
            sample = jobs().finish(name, lambda: measure_gradients(run), on_wait)
        note.empty()
        kept[name] = _of_sample(sample)
        for old in list(kept)[:-_MAX_KEPT]:
            kept.pop(old, None)
    return kept[name]


def newest_trained_run() -> Path | None:
    """Return the newest run directory that has a checkpoint."""
    names = runs_with_weights(runs_directory())
    return runs_directory() / names[0] if names else None


def picked_histogram(gradients: Gradients) -> GradientHistogram:
    """Return the gradients of the tensor that the reader picks, of all if there is no choice."""
    if not gradients.tensors:
        return gradients.histogram
    picked = pickers.selectbox(
        PAGE, "scale_tensor", _("Tensor"), [ALL, *gradients.tensors], default=ALL, labels=_name
    )
    return gradients.tensors.get(picked, gradients.histogram)


def _name(tensor: str) -> str:
    if tensor == ALL:
        return _("all tensors together")
    if tensor.startswith(HIDDEN):
        return _("activations behind layer {layer}").format(layer=tensor.removeprefix(HIDDEN))
    return tensor


def source_code(gradients: Gradients, source: str) -> str:
    """Return Python that makes these gradients, as lines above the rest of a snippet."""
    if source == "single":
        return f"gradients = [{SINGLE!r}]"
    if not gradients.tensors:
        return (
            "from core.dtypes.labs import synthetic_gradients\n\ngradients = synthetic_gradients()"
        )
    run = f"runs_directory() / {gradients.run!r}" if gradients.run else "None"
    picked = st.session_state.get(f"{PAGE}_scale_tensor_used", ALL)
    values = f"tensors[{picked!r}]" if picked in gradients.tensors else "values()"
    return REAL_CODE.format(run=run, values=values)


def source_sentence(gradients: Gradients, source: str) -> str:
    """Return where the gradients come from, in the reader's language."""
    if source == "single":
        return _("One gradient of 1e-8.")
    if gradients.run:
        return _("Gradients of run {run} at step {step}: one backward pass.").format(
            run=gradients.run, step=f"{gradients.step:,}"
        )
    if gradients is made_up():
        return _("Made-up gradients from N(0, 10⁻¹²): {count} of them.").format(
            count=f"{gradients.histogram.num_gradients:,}"
        )
    return _("Gradients of a fresh small GPT: one backward pass on a real text.")


@st.cache_resource(show_spinner=False)
def _kept() -> dict[str, Gradients]:
    """Return the real gradients that this server has computed: by checkpoint."""
    return {}


def _of_sample(sample: GradientSample) -> Gradients:
    tensors = {name: gradient_histogram(values) for name, values in sample.tensors.items()}
    return Gradients(
        histogram=gradient_histogram(sample.values()),
        tensors=tensors,
        run=sample.run,
        step=sample.step,
    )
