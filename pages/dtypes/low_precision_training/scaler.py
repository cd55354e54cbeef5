"""The lab of the gradient scaler: one optimizer step after the other."""

from dataclasses import dataclass
from functools import partial
from typing import Final

import streamlit as st

from core.dtypes import FORMATS
from core.dtypes.labs import ScalerRule, ScalerStep, gradient_peaks, run_scaler
from core.dtypes.labs.grad_scaler import SPIKE
from core.figures.dtypes.low_precision_training.scaler import scaler_picture
from core.figures.dtypes.written import number
from core.language import _
from pages.dtypes.low_precision_training.inputs import ASK
from pages.shared.settings import is_hidden, locked, look, presenting
from pages.shared.tabbed_page import Chart, Shown

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
    """Return all steps of the scaler on a made-up series of gradients."""
    peaks = gradient_peaks(NUM_STEPS, first, spike)
    return run_scaler(peaks, FORMATS[NAME], ScalerRule(growth_interval=interval))


def choose_scaler() -> Asked:
    """Show the inputs of the lab and return what they say."""
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
        headline=sentence(now, asked.interval),
        beside_headline=None if presenting() else partial(say_phases, now),
        charts=[Chart(picture=picture, file_name="grad-scaler")],
        code=code_of(asked),
    )


def code_of(asked: Asked) -> str:
    """Return Python that lets torch's own scaler walk to the step."""
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
    """Show the slider over the steps and the two buttons that move it."""
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


def sentence(now: ScalerStep, interval: int) -> str:
    """Return what happens in a step."""
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


def say_phases(now: ScalerStep) -> None:
    """Show the five calls of one step in one line, each with its outcome."""
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
