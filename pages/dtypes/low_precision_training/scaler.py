"""The lab of the gradient scaler: one optimizer step after the other."""

from pathlib import Path
from typing import Final

import streamlit as st

from core.dtypes import FORMATS
from core.dtypes.labs import ScalerRule, ScalerStep, gradient_peaks, run_scaler
from core.figures.dtypes.lab_frame import number
from core.figures.dtypes.low_precision_training.lab_scaler import (
    scaler_alt,
    scaler_figure,
    scaler_table,
)
from core.language import _
from pages.dtypes.low_precision_training.places import PAGE, lab_places
from pages.shared import pickers
from pages.shared.charts import show_chart
from pages.shared.header import headline
from pages.shared.settings import is_hidden, locked, presenting, theme_mode

STYLE: Final = Path(__file__).with_suffix(".css")
NAME: Final = "float16"
NUM_STEPS: Final = 60
SPIKE_STEP: Final = 40
FIRST: Final = (0.01, 0.1, 1, 3, 30)
INTERVALS: Final = (2, 5, 10, 20, 2000)
CODE: Final = """
from core.dtypes import FORMATS
from core.dtypes.labs import ScalerRule, gradient_peaks, run_scaler

peaks = gradient_peaks({count}, {first!r}, {spike})
steps = run_scaler(peaks, FORMATS["float16"], ScalerRule(growth_interval={interval}))
print(steps[{place}])
"""


@st.cache_data(max_entries=64, show_spinner=False)
def computed(first: float, interval: int, spike: int) -> tuple[ScalerStep, ...]:
    """Return all steps of the scaler on a made-up series of gradients."""
    peaks = gradient_peaks(NUM_STEPS, first, spike)
    return run_scaler(peaks, FORMATS[NAME], ScalerRule(growth_interval=interval))


def show_scaler() -> str:
    """Show the lab and return the code of its number."""
    places = lab_places()
    with places.controls:
        current = _pick_step()
        first = pickers.select_slider(
            PAGE, "scaler_first", _("Largest gradient of the first step"), FIRST, default=3
        )
        interval = pickers.select_slider(
            PAGE, "scaler_interval", _("Clean steps before it grows"), INTERVALS, default=5
        )
        with_spike = pickers.toggle(
            PAGE,
            "scaler_spike",
            _("A gradient 64 times as large at step {step}").format(step=SPIKE_STEP),
            default=True,
        )
    spike = SPIKE_STEP if with_spike else 0
    steps = computed(float(first), interval, spike)
    now = steps[current - 1]
    with places.headline:
        headline(sentence(now, interval))
        if not presenting():
            st.html(STYLE)
            with st.container(key="lowp_phases"):
                st.caption(phases(now))
    with places.picture:
        show_chart(
            scaler_figure(steps, current, NAME, theme_mode(), present=presenting()),
            key="lowp_scaler",
            alt=scaler_alt(steps, current),
            table=scaler_table(steps),
            file_name="grad-scaler",
        )
    return CODE.format(
        count=NUM_STEPS, first=float(first), spike=spike, interval=interval, place=current - 1
    )


def _pick_step() -> int:
    """Show the slider over the steps and the two buttons that move it."""
    current = pickers.slider(PAGE, "scaler_step", _("Step"), 1, NUM_STEPS, default=1, step=1)
    if not is_hidden(PAGE, "scaler_step"):
        with st.container(horizontal=True, gap="xsmall"):
            for name, label, move in (
                ("back", _("Previous step"), -1),
                ("forward", _("Next step"), 1),
            ):
                st.button(
                    label,
                    key=f"lowp_scaler_{name}",
                    disabled=locked() or not 1 <= current + move <= NUM_STEPS,
                    on_click=st.session_state.__setitem__,
                    args=("lowp_scaler_step", min(max(current + move, 1), NUM_STEPS)),
                )
    return current


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


def phases(now: ScalerStep) -> str:
    """Return the five calls of one step as one line, each with its outcome."""
    checked = _("found infinity") if now.found_inf else _("all finite")
    stepped = _("skipped") if now.found_inf else _("weights changed")
    return " → ".join(
        [
            _("`scale(loss)`: × {scale}").format(scale=number(now.scale)),
            _("`backward()`: largest gradient {stored}").format(stored=number(now.stored, 5)),
            _("`unscale_()`: {checked}").format(checked=checked),
            _("`step()`: {stepped}").format(stepped=stepped),
            _("`update()`: scale {scale}").format(scale=number(now.next_scale)),
        ]
    )
