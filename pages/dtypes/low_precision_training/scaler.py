"""The lab of the gradient scaler: one optimizer step after the other."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

import numpy as np
import streamlit as st

from core.dtypes import FORMATS
from core.dtypes.labs import ScalerRule, ScalerStep, gradient_peaks, run_scaler
from core.dtypes.labs.grad_scaler import SPIKE
from core.figures.dtypes.low_precision_training.lab_frame import LabDrawing
from core.figures.dtypes.written import number, power_of_two
from core.figures.picture import Look, Picture, Table
from core.language import N_, _
from pages.dtypes.low_precision_training.inputs import ASK
from pages.shared.questions import Choice, predict_then_reveal
from pages.shared.settings import is_hidden, locked, look, presenting
from pages.shared.tabbed_page import Chart, Shown

PEAK: Final = 10.0  # of the gradients of every step; no step of the lab's slider
NAME: Final = "float16"
NUM_STEPS: Final = 60
SPIKE_STEP: Final = 40
FIRST: Final = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 3, 5, 10, 20, 30)
INTERVALS: Final = (2, 3, 4, 5, 7, 10, 15, 20, 2000)
CODE: Final = """
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
class Asked:
    """Which step is looked at, and how the gradients and the rule are."""

    step: int
    first: float
    interval: int
    spike: int


@st.cache_data(max_entries=64, show_spinner=False)
def computed(first: float, interval: int, spike: int) -> tuple[ScalerStep, ...]:
    peaks = gradient_peaks(NUM_STEPS, first, spike)
    return run_scaler(peaks, FORMATS[NAME], ScalerRule(growth_interval=interval))


def choose_scaler() -> Asked:
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
    return Asked(step=step, first=float(first), interval=interval, spike=spike)


def scaler(asked: Asked) -> Shown:
    """Show the scale over all steps, and the calls of one of them."""
    steps = computed(asked.first, asked.interval, asked.spike)
    now = steps[asked.step - 1]
    picture = scaler_picture(steps, asked.step, NAME, look())
    return Shown(
        headline=_headline(now, asked.interval),
        beside_headline=None if presenting() else partial(_say_phases, now),
        charts=[Chart(picture=picture, file_name="grad-scaler")],
        code=code_of(asked),
    )


def code_of(asked: Asked) -> str:
    spike = f"\npeaks[{asked.spike - 1}] *= {SPIKE}" if asked.spike else ""
    return CODE.format(
        step=asked.step,
        first=asked.first,
        interval=asked.interval,
        count=NUM_STEPS,
        last=NUM_STEPS - 1,
        spike=spike,
    )


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


def _headline(now: ScalerStep, interval: int) -> str:
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
    """Return the scale over the steps, and the largest scaled gradient beside the format's end.

    Args:
        steps: The whole series.
        current: The step that is marked, from 1.
        fmt_name: The format of the backward pass.
        look: How the reader wants to see.
    """
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
    return Picture(figure=figure, alt=_sentence(steps, current), table=_table(steps))


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
        x=[each.step for each in steps],
        y=[each.scale for each in steps],
        name=_("loss scale"),
        mode="lines",
        line={"shape": "hvh", "color": look.color("accent"), "width": 3},
        hovertemplate=hover,
    )
    for change, name, color, symbol in (
        ("halved", _("step skipped, scale halved"), "overflow", "x"),
        ("grew", _("scale doubled"), "exact", "triangle-up"),
    ):
        drawing.scatter(
            x=[each.step for each in steps if each.change == change],
            y=[each.scale for each in steps if each.change == change],
            name=name,
            mode="markers",
            marker={"symbol": symbol, "size": 13, "color": look.color(color)},
            hovertemplate=hover,
        )


def _draw_gradients(
    drawing: LabDrawing, steps: Sequence[ScalerStep], products: Sequence[float]
) -> None:
    look = drawing.look
    drawing.scatter(
        x=[each.step for each in steps],
        y=products,
        yaxis="y2",
        mode="markers+lines",
        showlegend=False,
        line={"color": look.color("muted"), "width": 1.5},
        marker={
            "size": [13 if each.found_inf else 8 for each in steps],
            "symbol": ["x" if each.found_inf else "circle" for each in steps],
            "color": [look.color("overflow" if each.found_inf else "format_a") for each in steps],
            "opacity": 1,
        },
        hovertemplate="%{x}: %{y:,.6g}<extra></extra>",
    )


def _sentence(steps: Sequence[ScalerStep], current: int) -> str:
    skipped = sum(each.found_inf for each in steps)
    grew = sum(each.change == "grew" for each in steps)
    now = steps[current - 1]
    return _(
        "The loss scale over {count} steps begins at {first} and ends at {last}; {skipped} steps "
        "are skipped and the scale doubles {grew} times. At step {step} it is {scale}."
    ).format(
        count=len(steps),
        first=number(steps[0].scale),
        last=number(steps[-1].next_scale),
        skipped=skipped,
        grew=grew,
        step=now.step,
        scale=number(now.scale),
    )


def _table(steps: Sequence[ScalerStep]) -> Table:
    return {
        _("step"): [each.step for each in steps],
        _("largest gradient"): [number(each.peak, 4) for each in steps],
        _("loss scale"): [number(each.scale) for each in steps],
        _("as stored"): [number(each.stored, 5) for each in steps],
        _("optimizer"): [_("skipped") if each.found_inf else _("stepped") for each in steps],
        _("scale after it"): [_(CHANGES[each.change]) for each in steps],
    }


@st.cache_data(max_entries=1, show_spinner=False)
def _skipped_steps() -> tuple[int, float]:
    steps = run_scaler([PEAK] * 20, FORMATS["float16"])
    count = next(place for place, each in enumerate(steps) if not each.found_inf)
    return count, steps[count].scale


def ask_scaler() -> None:
    count, scale = _skipped_steps()
    first, largest = 2.0**16, float(FORMATS["float16"].max)
    predict_then_reveal(
        "lowp_skipped",
        _(
            "The largest gradient of every step is {peak}, and GradScaler begins at a scale of "
            "{first}. How many steps does it skip in float16 before the first one counts?"
        ).format(peak=number(PEAK), first=number(first)),
        [
            Choice(
                "0",
                _("{peak} × {first} = {product} is beyond {largest}.").format(
                    peak=number(PEAK),
                    first=number(first),
                    product=number(PEAK * first),
                    largest=number(largest),
                ),
            ),
            Choice(
                "1",
                _("After one halving it is {product}, still beyond {largest}.").format(
                    product=number(PEAK * first / 2), largest=number(largest)
                ),
            ),
            Choice(f"{count}"),
            Choice(
                "16",
                _("That is down to a scale of 1; it stops as soon as the product fits."),
            ),
        ],
        _(
            "Each skipped step halves the scale once: at {scale} the product is {product}, the "
            "first one that fits below {largest}."
        ).format(scale=number(scale), product=number(PEAK * scale), largest=number(largest)),
    )
