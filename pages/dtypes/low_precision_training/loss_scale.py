"""The lab of loss scaling: a factor that lifts small gradients into the range of the format.

Real gradients come from a separate process, once for all readers.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, cast

import numpy as np
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
from core.figures.dtypes.low_precision_training.lab_frame import LabDrawing, hatched
from core.figures.dtypes.written import number, percent, power_of_two, short
from core.figures.picture import Look, Picture, Table
from core.language import N_, _
from core.train.learning.tensors import (
    HIDDEN,
    measure_gradients,
    newest_checkpoint,
    runs_with_weights,
)
from core.train.run.directory import runs_directory
from pages.dtypes.low_precision_training.inputs import ASK, cast_code, choose_format
from pages.dtypes.low_precision_training.scaler import Asked as ScalerAsked
from pages.dtypes.low_precision_training.scaler import ask_scaler, choose_scaler, scaler
from pages.server.background import jobs
from pages.shared.questions import Choice, predict_then_reveal
from pages.shared.settings import look
from pages.shared.tabbed_page import Chart, Shown, Tab

MAX_POWER: Final = 32
SOURCES: Final = {"synthetic": N_("σ = 1e-6"), "single": "1e-8", "real": N_("a GPT")}
SINGLE: Final = 1e-8
WAYS: Final = {"static": N_("static"), "scaler": "GradScaler"}
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


def _choose_loss_scale() -> Asked:
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
    gradients, tensor = _gradients_of(source), ALL
    if gradients.tensors:
        names = [ALL, *gradients.tensors]
        tensor = ASK.selectbox(
            "scale_tensor", _("Tensor"), names, default=ALL, labels=_tensor_label
        )
    st.caption(_source_sentence(gradients, source))
    return Asked(name=name, power=power, source=source, gradients=gradients, tensor=tensor)


def loss_scale(asked: Asked) -> Shown:
    histogram = asked.gradients.tensors.get(asked.tensor, asked.gradients.histogram)
    fmt = cast("FloatFormat", FORMATS[asked.name])
    bands = loss_scale_bands(histogram, fmt, 2.0**asked.power)
    return Shown(
        headline=_one_gradient(bands) if asked.source == "single" else _headline(bands),
        charts=[
            Chart(picture=loss_scale_picture(histogram, bands, look()), file_name="loss-scale")
        ],
        code=code_of(asked),
    )


def _headline(bands: GradientBands) -> str:
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


def _one_gradient(bands: GradientBands) -> str:
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


def _tensor_label(tensor: str) -> str:
    if tensor == ALL:
        return _("all tensors together")
    if tensor.startswith(HIDDEN):
        return _("activations behind layer {layer}").format(layer=tensor.removeprefix(HIDDEN))
    return tensor


def code_of(asked: Asked) -> str:
    """Return Python for the four shares and for the first gradient as it is stored."""
    return CODE.format(
        gradients=_source_code(asked),
        cast=cast_code(asked.name, "double"),
        name=asked.name,
        power=asked.power,
    )


def _source_code(asked: Asked) -> str:
    if asked.source == "single":
        return SINGLE_CODE.format(gradient=SINGLE)
    if not asked.gradients.tensors:
        return MADE_UP_CODE.format(std=SYNTHETIC_STD, count=NUM_SYNTHETIC)
    run = f"runs_directory() / {asked.gradients.run!r}" if asked.gradients.run else "None"
    values = "values()" if asked.tensor == ALL else f"tensors[{asked.tensor!r}]"
    return REAL_CODE.format(run=run, values=values)


def _source_sentence(gradients: Gradients, source: str) -> str:
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


def _gradients_of(source: str) -> Gradients:
    """Return the gradients; a real GPT that cannot be asked is replaced, and says so."""
    if source == "single":
        return Gradients(histogram=gradient_histogram([SINGLE]))
    if source == "real":
        try:
            return _real_gradients()
        except ValueError as error:
            instead = _("Synthetic gradients are shown instead.")
            st.warning(f"{error} {instead}")
    return made_up()


@st.cache_resource(show_spinner=False)
def made_up() -> Gradients:
    return Gradients(histogram=gradient_histogram(synthetic_gradients()))


def _real_gradients() -> Gradients:
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
    names = runs_with_weights(runs_directory())
    return runs_directory() / names[0] if names else None


@st.cache_resource(show_spinner=False)
def _kept() -> dict[str, Gradients]:
    return {}


# Name, colour and hatching of each band.
BANDS: Final = (
    (N_("becomes zero"), "underflow", "x"),
    (N_("subnormal"), "estimated", "/"),
    (N_("full precision"), "exact", ""),
    (N_("overflows"), "overflow", "\\"),
)
_LOW, _HIGH = -44.0, 22.0  # log2|g| that is always on the picture
_TINT: Final = 0.16


def band_counts(bands: GradientBands) -> tuple[int, int, int, int]:
    """Return the counts in the order of `BANDS`."""
    return (bands.num_zero, bands.num_subnormal, bands.num_normal, bands.num_overflow)


def loss_scale_picture(histogram: GradientHistogram, bands: GradientBands, look: Look) -> Picture:
    """Return bars of log2|g| on the four bands; the bars never move, the bands do."""
    drawing = LabDrawing(look=look)
    low, high = min(_LOW, histogram.edges[0]), max(_HIGH, histogram.edges[-1])
    inner = [math.log2(each) for each in (bands.zero_below, bands.normal_from, bands.overflow_from)]
    _draw_bars(drawing, histogram, inner)
    borders = [low, *inner, high]
    for place, count in enumerate(band_counts(bands)):
        left, right = max(borders[place], low), min(borders[place + 1], high)
        if left < right:
            _draw_band(drawing, BANDS[place], (left, right), bands.share(count))
    powers = range(math.ceil(low / 8) * 8, math.floor(high / 8) * 8 + 1, 8)
    layout = drawing.layout(
        x={
            "title": _("|gradient|, before scaling"),
            "range": [low, high],
            "tickvals": list(powers),
            "ticktext": [power_of_two(power) for power in powers],
        },
        y={"title": _("gradients"), "showgrid": False},
    )
    margin = layout["margin"] | {"t": 96 if look.present else 72}
    figure = drawing.figure(layout | {"margin": margin, "bargap": 0, "showlegend": False})
    return Picture(figure=figure, alt=_sentence(bands), table=_table(bands))


def _draw_bars(drawing: LabDrawing, histogram: GradientHistogram, borders: Sequence[float]) -> None:
    centers = (histogram.edges[:-1] + histogram.edges[1:]) / 2
    rows = [BANDS[int(np.searchsorted(borders, center))] for center in centers]
    drawing.bar(
        x=centers,
        y=histogram.counts,
        width=np.diff(histogram.edges),
        marker={
            "color": [drawing.look.color(color) for _name, color, _shape in rows],
            "pattern": hatched([shape for _name, _color, shape in rows]),
            "line": {"width": 0},
        },
        customdata=[f"2^{center:.2f}" for center in centers],
        hovertemplate="|g| ≈ %{customdata}: %{y:,}<extra></extra>",
    )


def _draw_band(
    drawing: LabDrawing, row: tuple[str, str, str], ends: tuple[float, float], share: float
) -> None:
    name, color, _shape = row
    (left, right), look = ends, drawing.look
    drawing.shape(
        type="rect", x0=left, x1=right, yref="paper", y0=0, y1=1, layer="below",
        fillcolor=look.color(color), opacity=_TINT, line={"width": 0},
    )  # fmt: skip
    drawing.note(
        x=(left + right) / 2, yref="paper", y=1, yanchor="bottom",
        text=f"{_(name)}<br><b>{percent(share)}</b>", font={"color": look.color("text")},
    )  # fmt: skip


def _sentence(bands: GradientBands) -> str:
    parts = [
        _("{count} {band}").format(count=f"{count:,}", band=_(name))
        for count, (name, _color, _shape) in zip(band_counts(bands), BANDS, strict=True)
    ]
    return _("Of {total} gradients times {scale} in {format}: {parts}.").format(
        total=f"{bands.num_gradients:,}",
        scale=f"{bands.scale:,g}",
        format=short(bands.format),
        parts=_(", ").join(parts),
    )


def _table(bands: GradientBands) -> Table:
    borders = (0.0, bands.zero_below, bands.normal_from, bands.overflow_from)
    return {
        _("band"): [_(name) for name, _color, _shape in BANDS],
        _("from |g|"): [f"{border:.4g}" for border in borders],
        _("gradients"): [f"{count:,}" for count in band_counts(bands)],
        _("share"): [percent(bands.share(count)) for count in band_counts(bands)],
    }


@st.cache_data(max_entries=1, show_spinner=False)
def _least_scales() -> tuple[int, int]:
    histogram = gradient_histogram([SINGLE])
    half = cast("FloatFormat", FORMATS["float16"])
    bands = [loss_scale_bands(histogram, half, 2.0**power) for power in range(33)]
    kept = next(power for power, each in enumerate(bands) if not each.num_zero)
    whole = next(power for power, each in enumerate(bands) if each.num_normal)
    return 2**kept, 2**whole


def _ask_loss_scale() -> None:
    kept, whole = _least_scales()
    first, half = 2**16, FORMATS["float16"]
    stored = float(half.round(SINGLE * kept))
    predict_then_reveal(
        "lowp_least_scale",
        _(
            "A gradient of 1e-8 is lost in float16. What is the smallest power of two as a loss "
            "scale under which it keeps full precision?"
        ),
        [
            Choice(
                f"{kept:,}",
                _(
                    "Then it is no longer zero, but {stored}, the smallest number: {error} off."
                ).format(stored=number(stored, 4), error=percent(stored / (SINGLE * kept) - 1)),
            ),
            Choice(f"{whole:,}"),
            Choice(
                f"{first:,}",
                _("GradScaler begins with it, and it is enough; {least} is so too.").format(
                    least=f"{whole:,}"
                ),
            ),
            Choice(
                f"{2**32:,}",
                _("float16 still holds the product, {product}; far less is enough.").format(
                    product=number(SINGLE * 2**32, 3)
                ),
            ),
        ],
        _(
            "1e-8 × {scale} = {product} is the first product beyond {normal}, the smallest normal "
            "number of float16. Below it numbers are subnormal and have fewer bits."
        ).format(
            scale=f"{whole:,}",
            product=number(SINGLE * whole, 4),
            normal=number(float(half.smallest_normal), 4),
        ),
    )


def _choose_scaling() -> Asked | ScalerAsked:
    way = ASK.segmented(
        "scale_by",
        _("Scaling"),
        tuple(WAYS),
        default="static",
        labels=lambda way: _(WAYS[way]),
    )
    return choose_scaler() if way == "scaler" else _choose_loss_scale()


def scaling(asked: Asked | ScalerAsked) -> Shown:
    return scaler(asked) if isinstance(asked, ScalerAsked) else loss_scale(asked)


def _ask_scaling() -> None:
    if ASK.used("scale_by") == "scaler":
        ask_scaler()
    else:
        _ask_loss_scale()


TAB: Final = Tab(
    label=N_("Loss scaling"),
    show=scaling,
    choose=_choose_scaling,
    question=_ask_scaling,
    reading="scale",
)
