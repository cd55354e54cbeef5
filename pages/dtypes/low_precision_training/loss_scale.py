"""The lab of loss scaling: a factor that lifts small gradients into the range of the format.

Real gradients come from a separate process, once for all readers.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, cast

import streamlit as st

from core.dtypes import FORMATS, FloatFormat
from core.dtypes.labs import (
    GradientBands,
    GradientHistogram,
    gradient_histogram,
    loss_scale_bands,
    synthetic_gradients,
)
from core.dtypes.labs.loss_scale import NUM_SYNTHETIC, SYNTHETIC_STD
from core.figures.dtypes.low_precision_training.loss_scale import loss_scale_picture
from core.figures.dtypes.written import number, percent, power_of_two, short
from core.language import N_, _
from core.train.learning.tensors import (
    HIDDEN,
    measure_gradients,
    newest_checkpoint,
    runs_with_weights,
)
from core.train.run.directory import runs_directory
from pages.dtypes.low_precision_training.inputs import ASK, cast_code, choose_format
from pages.server.background import jobs
from pages.shared.settings import look
from pages.shared.tabbed_page import Chart, Shown

MAX_POWER: Final = 32
SOURCES: Final = {"synthetic": N_("σ = 1e-6"), "single": "1e-8", "real": N_("a GPT")}
SINGLE: Final = 1e-8
ALL: Final = "all"
_MAX_KEPT: Final = 4
CODE: Final = """
{gradients}


def cast(x):
    {cast}


stored = cast(gradients * 2.0**{power}).abs()
zero = stored == 0
subnormal = ~zero & (stored < torch.finfo(torch.{name}).smallest_normal)
overflow = ~stored.isfinite()
full = ~(zero | subnormal | overflow)
for band in (full, subnormal, zero, overflow):
    print(f"{{100 * band.double().mean():.3g}} %")
print(stored[0].item())
"""
SINGLE_CODE: Final = """import torch

gradients = torch.tensor([{gradient!r}], dtype=torch.float64)"""
MADE_UP_CODE: Final = """import numpy as np
import torch

gradients = torch.tensor(np.random.default_rng(0).normal(0, {std!r}, {count}))"""
REAL_CODE: Final = """import torch

from core.train.learning.tensors import measure_gradients
from core.train.run.directory import runs_directory

run = {run}
gradients = torch.tensor(measure_gradients(run).{values})"""


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


@dataclass(frozen=True, kw_only=True, slots=True)
class Asked:
    """A format, a scale as a power of two, and gradients: of one tensor, or all of them."""

    name: str
    power: int
    source: str
    gradients: Gradients
    tensor: str = ALL


def choose_loss_scale() -> Asked:
    """Show the inputs of the lab and return what they say."""
    power = ASK.select_slider(
        "scale_power", _("Loss scale"), range(MAX_POWER + 1), default=0, labels=power_of_two
    )
    name = choose_format("scale_format", default="float16")
    source = ASK.segmented(
        "scale_source",
        _("Gradients"),
        tuple(SOURCES),
        default="synthetic",
        labels=lambda source: _(SOURCES[source]),
    )
    gradients, tensor = gradients_of(source), ALL
    if gradients.tensors:
        names = [ALL, *gradients.tensors]
        tensor = ASK.selectbox("scale_tensor", _("Tensor"), names, default=ALL, labels=tensor_label)
    st.caption(source_sentence(gradients, source))
    return Asked(name=name, power=power, source=source, gradients=gradients, tensor=tensor)


def loss_scale(asked: Asked) -> Shown:
    """Show how many of the gradients the format keeps."""
    histogram = asked.gradients.tensors.get(asked.tensor, asked.gradients.histogram)
    fmt = cast("FloatFormat", FORMATS[asked.name])
    bands = loss_scale_bands(histogram, fmt, 2.0**asked.power)
    return Shown(
        headline=one_gradient(bands) if asked.source == "single" else sentence(bands),
        charts=[
            Chart(picture=loss_scale_picture(histogram, bands, look()), file_name="loss-scale")
        ],
        code=code_of(asked),
    )


def sentence(bands: GradientBands) -> str:
    """Return how the gradients fare."""
    return _(
        "At a loss scale of {scale}, {normal} of the gradients keep full precision in {format}; "
        "{zero} become zero, {overflow} overflow."
    ).format(
        scale=number(bands.scale),
        format=short(bands.format),
        normal=percent(bands.share(bands.num_normal)),
        zero=percent(bands.share(bands.num_zero)),
        overflow=percent(bands.share(bands.num_overflow)),
    )


def one_gradient(bands: GradientBands) -> str:
    """Return what becomes of the single gradient."""
    stored = float(FORMATS[bands.format].round(SINGLE * bands.scale))
    words = {
        "scale": number(bands.scale),
        "format": short(bands.format),
        "stored": number(stored, 4),
    }
    if bands.num_overflow:
        text = _("1e-8 × {scale} overflows {format}: {stored}.")
    elif bands.num_zero:
        text = _("1e-8 × {scale} in {format} is {stored}: the gradient is lost.")
    elif bands.num_subnormal:
        text = _("1e-8 × {scale} in {format} is {stored}: subnormal, some of its bits are lost.")
    else:
        text = _("1e-8 × {scale} in {format} is {stored}: full precision.")
    return text.format(**words)


def tensor_label(tensor: str) -> str:
    """Return the words for a tensor, or for all of them."""
    if tensor == ALL:
        return _("all tensors together")
    if tensor.startswith(HIDDEN):
        return _("activations behind layer {layer}").format(layer=tensor.removeprefix(HIDDEN))
    return tensor


def code_of(asked: Asked) -> str:
    """Return Python for the four shares and for the first gradient as it is stored."""
    return CODE.format(
        gradients=source_code(asked),
        cast=cast_code(asked.name, "double"),
        name=asked.name,
        power=asked.power,
    )


def source_code(asked: Asked) -> str:
    """Return Python that makes the gradients, as lines above the rest of a snippet."""
    if asked.source == "single":
        return SINGLE_CODE.format(gradient=SINGLE)
    if not asked.gradients.tensors:
        return MADE_UP_CODE.format(std=SYNTHETIC_STD, count=NUM_SYNTHETIC)
    run = f"runs_directory() / {asked.gradients.run!r}" if asked.gradients.run else "None"
    values = "values()" if asked.tensor == ALL else f"tensors[{asked.tensor!r}]"
    return REAL_CODE.format(run=run, values=values)


def source_sentence(gradients: Gradients, source: str) -> str:
    """Return where the gradients come from, in the reader's language."""
    if source == "single":
        return _("One gradient of 1e-8.")
    if gradients.run:
        return _("Gradients of run {run} at step {step}: one backward pass.").format(
            run=gradients.run, step=f"{gradients.step:,}"
        )
    if not gradients.tensors:
        return _("Synthetic gradients: {count} draws from N(0, 10⁻¹²).").format(
            count=f"{gradients.histogram.num_gradients:,}"
        )
    return _("Gradients of a fresh small GPT: one backward pass on a real text.")


def gradients_of(source: str) -> Gradients:
    """Return the gradients; a real GPT that cannot be asked is replaced, and says so."""
    if source == "single":
        return Gradients(histogram=gradient_histogram([SINGLE]))
    if source == "real":
        try:
            return real_gradients()
        except ValueError as error:
            instead = _("Synthetic gradients are shown instead.")
            st.warning(f"{error} {instead}")
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

        with st.spinner(_("Computing real gradients in a separate process…")):
            sample = jobs().finish(name, lambda: measure_gradients(run), on_wait)
        note.empty()
        kept[name] = Gradients(
            histogram=gradient_histogram(sample.values()),
            tensors={each: gradient_histogram(x) for each, x in sample.tensors.items()},
            run=sample.run,
            step=sample.step,
        )
        for old in list(kept)[:-_MAX_KEPT]:
            kept.pop(old, None)
    return kept[name]


def newest_trained_run() -> Path | None:
    """Return the newest run directory that has a checkpoint."""
    names = runs_with_weights(runs_directory())
    return runs_directory() / names[0] if names else None


@st.cache_resource(show_spinner=False)
def _kept() -> dict[str, Gradients]:
    """Return the real gradients that this server has computed: by checkpoint."""
    return {}
