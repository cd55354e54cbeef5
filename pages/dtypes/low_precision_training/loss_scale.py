"""The lab of loss scaling: a factor that lifts small gradients into the range of the format.

Real gradients come from a separate process, once for all readers. The gradient scaler finds the
factor by itself, one optimizer step after the other.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, Final, cast

import numpy as np
import streamlit as st

from core.dtypes import FORMATS, FloatFormat
from core.dtypes.labs.grad_scaler import SPIKE, ScalerStep, gradient_peaks, run_scaler
from core.dtypes.labs.loss_scale import (
    NUM_SYNTHETIC,
    SYNTHETIC_STD,
    GradientBands,
    GradientHistogram,
    gradient_histogram,
    loss_scale_bands,
    synthetic_gradients,
)
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
from pages.server.background import jobs
from pages.shared.questions import Choice, predict_then_reveal
from pages.shared.settings import is_hidden, locked, look, presenting
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
    """A histogram of all gradients, those of each real tensor, and the run and step they are of."""

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
    source = ASK.segmented("scale_source", _("Gradients"), SOURCES, default="synthetic")
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
        normal=percent(bands.shares[2]),
        zero=percent(bands.shares[0]),
        overflow=percent(bands.shares[3]),
    )


def _one_gradient(bands: GradientBands) -> str:
    stored = float(FORMATS[bands.format].round(SINGLE * bands.scale))
    words = {
        "scale": number(bands.scale),
        "format": short(bands.format),
        "stored": number(stored, 4),
    }
    if bands.counts.overflow:
        text = _("1e-8 × {scale} overflows {format}: {stored}.")
    elif bands.counts.zero:
        text = _("1e-8 × {scale} in {format} is {stored}: the gradient is lost.")
    elif bands.counts.subnormal:
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
    """Return those of the newest run with a checkpoint, else of a fresh model; asked once."""
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


def loss_scale_picture(histogram: GradientHistogram, bands: GradientBands, look: Look) -> Picture:
    """Return bars of log2|g| on the four bands; the bars never move, the bands do."""
    drawing = LabDrawing(look=look)
    low, high = min(_LOW, histogram.edges[0]), max(_HIGH, histogram.edges[-1])
    inner = [math.log2(each) for each in bands.borders]
    _draw_bars(drawing, histogram, inner)
    borders = [low, *inner, high]
    for place, share in enumerate(bands.shares):
        left, right = max(borders[place], low), min(borders[place + 1], high)
        if left < right:
            _draw_band(drawing, BANDS[place], (left, right), share)
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
    names, counts = [_(name) for name, _color, _shape in BANDS], [f"{n:,}" for n in bands.counts]
    parts = [
        _("{count} {band}").format(count=count, band=name)
        for count, name in zip(counts, names, strict=True)
    ]
    alt = _("Of {total} gradients times {scale} in {format}: {parts}.").format(
        total=f"{sum(bands.counts):,}",
        scale=f"{bands.scale:,g}",
        format=short(bands.format),
        parts=_(", ").join(parts),
    )
    table = {
        _("band"): names,
        _("from |g|"): [f"{border:.4g}" for border in (0.0, *bands.borders)],
        _("gradients"): counts,
        _("share"): [percent(share) for share in bands.shares],
    }
    return Picture(figure=figure, alt=alt, table=table)


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


@st.cache_data(max_entries=1, show_spinner=False)
def _least_scales() -> tuple[int, int]:
    histogram = gradient_histogram([SINGLE])
    half = cast("FloatFormat", FORMATS["float16"])
    bands = [loss_scale_bands(histogram, half, 2.0**power) for power in range(33)]
    kept = next(power for power, each in enumerate(bands) if not each.counts.zero)
    whole = next(power for power, each in enumerate(bands) if each.counts.normal)
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


NAME: Final = "float16"
NUM_STEPS: Final = 60
SPIKE_STEP: Final = 40
FIRST: Final = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 3, 5, 10, 20, 30)
INTERVALS: Final = (2, 3, 4, 5, 7, 10, 15, 20, 2000)
SCALER_CODE: Final = """
import numpy as np
import torch

peaks = {first!r} * 0.25 ** (np.arange({count}) / {last})  # largest gradients{spike}
weight = torch.zeros(1, requires_grad=True)
optimizer = torch.optim.SGD([weight])
scaler = torch.amp.GradScaler("cpu", growth_interval={interval})
for step, peak in enumerate(peaks[:{step}].tolist(), 1):
    scale = scaler.scale(torch.ones(())).item()
    product = peak * scale
    weight.grad = torch.tensor([product]).half().float()  # what backward() stores in FP16
    scaler.step(optimizer)
    scaler.update()
print(step, f"{{peak:.3g}}", scale, f"{{product:.5g}}", scaler.get_scale())
"""


@dataclass(frozen=True, kw_only=True, slots=True)
class AskedScaler:
    """Which step is looked at, and how the gradients and the rule are."""

    step: int
    first: float
    interval: int
    spike: int


@st.cache_data(max_entries=64, show_spinner=False)
def scaler_steps(first: float, interval: int, spike: int) -> tuple[ScalerStep, ...]:
    peaks = gradient_peaks(NUM_STEPS, first, spike)
    return run_scaler(peaks, FORMATS[NAME], interval)


def _choose_scaler() -> AskedScaler:
    step = _choose_step()
    first = ASK.select_slider("scaler_first", _("Largest gradient, step 1"), FIRST, default=3)
    interval = ASK.select_slider(
        "scaler_interval",
        _("Growth interval"),
        INTERVALS,
        default=5,
        labels="{:,}".format,
        help=_("Clean steps in a row after which the scale doubles."),
    )
    with_spike = ASK.toggle(
        "scaler_spike",
        _("Spike at step {step}").format(step=SPIKE_STEP),
        default=True,
        help=_("A gradient {times} times as large.").format(times=SPIKE),
    )
    spike = SPIKE_STEP if with_spike else 0
    return AskedScaler(step=step, first=float(first), interval=interval, spike=spike)


def scaler(asked: AskedScaler) -> Shown:
    """Show the scale over all steps, and the calls of one of them."""
    steps = scaler_steps(asked.first, asked.interval, asked.spike)
    now = steps[asked.step - 1]
    picture = scaler_picture(steps, asked.step, NAME, look())
    return Shown(
        headline=_scaler_headline(now, asked.interval),
        beside_headline=None if presenting() else partial(_say_phases, now),
        charts=[Chart(picture=picture, file_name="grad-scaler")],
        code=scaler_code(asked),
    )


def scaler_code(asked: AskedScaler) -> str:
    spike = f"\npeaks[{asked.spike - 1}] *= {SPIKE}" if asked.spike else ""
    return SCALER_CODE.format(
        step=asked.step, first=asked.first, interval=asked.interval, count=NUM_STEPS,
        last=NUM_STEPS - 1, spike=spike,
    )  # fmt: skip


def _choose_step() -> int:
    current = ASK.slider("scaler_step", _("Step"), 1, NUM_STEPS, default=1, step=1)
    if not is_hidden(ASK.page, "scaler_step"):
        with st.container(horizontal=True, gap="xsmall"):
            _button("back", _("Previous step"), current - 1)
            _button("forward", _("Next step"), current + 1)
    return current


def _button(name: str, label: str, step: int) -> None:
    st.button(
        label,
        key=ASK.key(f"scaler_{name}"),
        disabled=locked() or not 1 <= step <= NUM_STEPS,
        on_click=ASK.set,
        args=("scaler_step", step),
    )


def _scaler_headline(now: ScalerStep, interval: int) -> str:
    words = {
        "step": now.step,
        "peak": number(now.peak, 3),
        "scale": number(now.scale),
        "product": number(now.peak * now.scale, 5),
        "next": number(now.next_scale),
        "clean": now.clean_steps,
        "interval": f"{interval:,}",
    }
    if now.found_inf:
        text = _(
            "Step {step}: {peak} × {scale} = {product} overflows FP16. The step is skipped, the "
            "scale halved to {next}."
        )
    elif now.change == "grew":
        text = _(
            "Step {step}: {peak} × {scale} = {product} fits. {interval} clean steps: the scale "
            "doubles to {next}."
        )
    else:
        text = _(
            "Step {step}: {peak} × {scale} = {product} fits into FP16. Clean steps in a row: "
            "{clean} of {interval}."
        )
    return text.format(**words)


def _say_phases(now: ScalerStep) -> None:
    checked = _("found infinity") if now.found_inf else _("all finite")
    stepped = _("skipped") if now.found_inf else _("weights changed")
    phases = (
        _("`scale(loss)`: × {scale}").format(scale=number(now.scale)),
        _("`backward()`: largest gradient {stored}").format(stored=number(now.stored, 5)),
        _("`unscale_()`: {checked}").format(checked=checked),
        _("`step()`: {stepped}").format(stepped=stepped),
        _("`update()`: scale {scale}").format(scale=number(now.next_scale)),
    )
    with st.container(key="lowp_phases"):
        st.caption(" → ".join(phases))


CHANGES: Final = {"halved": N_("halved"), "grew": N_("doubled"), "kept": N_("kept")}
_UPPER, _LOWER = (0.56, 1.0), (0.0, 0.44)


def scaler_picture(steps: Sequence[ScalerStep], current: int, fmt_name: str, look: Look) -> Picture:
    """Return the scale over the steps, and the largest scaled gradient beside the format's end."""
    drawing, products = LabDrawing(look=look), [each.peak * each.scale for each in steps]
    _draw_scale(drawing, steps)
    _draw_gradients(drawing, steps, products)
    drawing.ceiling([0, len(steps) + 1], fmt_name, width=2, yaxis="y2")
    drawing.shape(
        type="line", x0=current, x1=current, yref="paper", y0=0, y1=1,
        line={"color": look.color("text"), "width": 2},
    )  # fmt: skip
    layout = drawing.layout(
        x={"title": _("step"), "anchor": "y2", "range": [0.2, len(steps) + 0.8]},
        y={"title": _("loss scale"), "domain": _UPPER, **_powers([each.scale for each in steps])},
    )
    below = {
        **layout["yaxis"],
        **_powers([*products, FORMATS[fmt_name].max]),
        "domain": _LOWER,
        "title": {"text": _("gradient × scale")},
        "anchor": "x",
    }
    figure = drawing.figure(layout | {"yaxis2": below})
    return Picture(figure=figure, alt=_scaler_sentence(steps, current), table=_scaler_table(steps))


def _powers(values: Sequence[float]) -> dict[str, Any]:
    logs = np.log2([value for value in values if 0 < value < np.inf])
    low, high = int(np.floor(logs.min())) - 1, int(np.ceil(logs.max())) + 1
    stride = -(-(high - low) // 4)  # at most five: more would run into each other
    marks = range(low, high + 1, stride)
    return {
        "type": "log",
        "range": [low * np.log10(2), high * np.log10(2)],
        "tickvals": [2.0**mark for mark in marks],
        "ticktext": [power_of_two(mark) for mark in marks],
    }


def _draw_scale(drawing: LabDrawing, steps: Sequence[ScalerStep]) -> None:
    look = drawing.look
    hover = "%{x}: %{y:,}<extra>%{fullData.name}</extra>"
    drawing.scatter(
        x=[each.step for each in steps], y=[each.scale for each in steps], name=_("loss scale"),
        mode="lines", line={"shape": "hvh", "color": look.color("accent"), "width": 3},
        hovertemplate=hover,
    )  # fmt: skip
    for change, name, color, symbol in (
        ("halved", _("step skipped, scale halved"), "overflow", "x"),
        ("grew", _("scale doubled"), "exact", "triangle-up"),
    ):
        found = [each for each in steps if each.change == change]
        drawing.scatter(
            x=[each.step for each in found], y=[each.scale for each in found], name=name,
            mode="markers", marker={"symbol": symbol, "size": 13, "color": look.color(color)},
            hovertemplate=hover,
        )  # fmt: skip


def _draw_gradients(
    drawing: LabDrawing, steps: Sequence[ScalerStep], products: Sequence[float]
) -> None:
    look = drawing.look
    drawing.scatter(
        x=[each.step for each in steps], y=products, yaxis="y2", mode="markers+lines",
        showlegend=False, line={"color": look.color("muted"), "width": 1.5},
        marker={
            "size": [13 if each.found_inf else 8 for each in steps],
            "symbol": ["x" if each.found_inf else "circle" for each in steps],
            "color": [look.color("overflow" if each.found_inf else "format_a") for each in steps],
            "opacity": 1,
        },
        hovertemplate="%{x}: %{y:,.6g}<extra></extra>",
    )  # fmt: skip


def _scaler_sentence(steps: Sequence[ScalerStep], current: int) -> str:
    skipped = sum(each.found_inf for each in steps)
    grew = sum(each.change == "grew" for each in steps)
    now = steps[current - 1]
    return _(
        "The loss scale over {count} steps begins at {first} and ends at {last}; {skipped} steps "
        "are skipped and the scale doubles {grew} times. At step {step} it is {scale}."
    ).format(
        count=len(steps), first=number(steps[0].scale), last=number(steps[-1].next_scale),
        skipped=skipped, grew=grew, step=now.step, scale=number(now.scale),
    )  # fmt: skip


def _scaler_table(steps: Sequence[ScalerStep]) -> Table:
    return {
        _("step"): [each.step for each in steps],
        _("largest gradient"): [number(each.peak, 4) for each in steps],
        _("loss scale"): [number(each.scale) for each in steps],
        _("as stored"): [number(each.stored, 5) for each in steps],
        _("optimizer"): [_("skipped") if each.found_inf else _("stepped") for each in steps],
        _("scale after it"): [_(CHANGES[each.change]) for each in steps],
    }


def _choose_scaling() -> Asked | AskedScaler:
    way = ASK.segmented("scale_by", _("Scaling"), WAYS, default="static")
    return _choose_scaler() if way == "scaler" else _choose_loss_scale()


def scaling(asked: Asked | AskedScaler) -> Shown:
    return scaler(asked) if isinstance(asked, AskedScaler) else loss_scale(asked)


TAB: Final = Tab(
    label=N_("Loss scaling"),
    show=scaling,
    choose=_choose_scaling,
    question=_ask_loss_scale,
    reading="scale",
)
