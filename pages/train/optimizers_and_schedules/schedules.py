"""How the learning rate changes over a training, by torch's own schedulers."""

from dataclasses import dataclass
from typing import Final

import streamlit as st

from core.figures.train.curves import Axes, curves_picture
from core.language import N_, _
from core.train.optimizers.in_torch import scheduled_rates
from core.units import format_exact
from pages.shared.settings import look
from pages.shared.tabbed_page import Chart, Shown, Tab
from pages.train.optimizers_and_schedules.inputs import ASK
from pages.train.optimizers_and_schedules.question import ask_too_short

KINDS: Final = {"warmup": N_("Warm-up + cosine"), "step": "StepLR", "cosine": "CosineAnnealingLR"}
TOTALS: Final = (1_000, 10_000, 100_000)
WARMUPS: Final = (10, 100, 500, 900)  # steps of a training of 1,000
_MADE: Final = {
    "warmup": """lr_scheduler.SequentialLR(optimizer, [
    lr_scheduler.LinearLR(optimizer, 0.01, 1.0, total_iters={warmup}),
    lr_scheduler.CosineAnnealingLR(optimizer, {rest}, eta_min=1e-5),
], milestones=[{warmup}])""",
    "step": "lr_scheduler.StepLR(optimizer, step_size=10, gamma=0.1)",
    "cosine": "lr_scheduler.CosineAnnealingLR(optimizer, T_max={t_max})",
}
_CODE: Final = """
import torch
from torch.optim import lr_scheduler

optimizer = torch.optim.SGD([torch.nn.Parameter(torch.zeros(1))], lr=1e-3)
scheduler = {made}
for step in range({steps}):
    if step in ({marks},):
        print(step, f"{{scheduler.get_last_lr()[0]:.3g}}")
    optimizer.step()
    scheduler.step()
print({steps}, f"{{scheduler.get_last_lr()[0]:.3g}}")
"""


@dataclass(frozen=True, kw_only=True, slots=True)
class Schedule:
    """What the reader has chosen; `turn` is where the warm-up ends, or T_max."""

    kind: str
    num_steps: int
    turn: int


def choose_schedule() -> Schedule:
    kind = ASK.selectbox("schedule", _("Schedule"), KINDS, default="warmup")
    if kind == "warmup":
        total = ASK.select_slider("total", _("Steps"), TOTALS, default=100_000, labels=format_exact)
        share = (total // TOTALS[0] * each for each in WARMUPS)
        options = tuple(sorted({*share, total // 50}))
        warmup = ASK.select_slider(
            "warmup", _("Warm-up steps"), options, default=total // 50, labels=format_exact
        )
        return Schedule(kind=kind, num_steps=total, turn=warmup)
    epochs = ASK.slider("epochs", _("Epochs"), 1, 100, default=20, step=1)
    t_max = 10
    if kind == "cosine":
        t_max = ASK.slider("t_max", "T_max", 1, 100, default=10, step=1)
    return Schedule(kind=kind, num_steps=epochs, turn=t_max)


@st.cache_data(max_entries=64, show_spinner=False)
def rates_of(kind: str, num_steps: int, turn: int) -> tuple[float, ...]:
    """Return what torch's scheduler gives; 100,000 steps take it seconds."""
    return scheduled_rates(kind, num_steps, turn)


def schedules_tab(chosen: Schedule) -> Shown:
    rates = rates_of(chosen.kind, chosen.num_steps, chosen.turn)
    unit = _("step") if chosen.kind == "warmup" else _("epoch")
    axes = Axes(x=unit, y=_("learning rate"), log=chosen.kind == "step")
    picture = curves_picture({_(KINDS[chosen.kind]): rates}, axes, look())
    return Shown(
        headline=_headline(chosen, rates),
        charts=[Chart(picture=picture, file_name="schedule")],
        notes=[_note(chosen)],
        code=_CODE.format(
            made=_MADE[chosen.kind].format(
                warmup=chosen.turn, rest=chosen.num_steps - chosen.turn, t_max=chosen.turn
            ),
            steps=chosen.num_steps,
            marks=f"0, {chosen.turn}",
        ),
    )


def _headline(chosen: Schedule, rates: tuple[float, ...]) -> str:
    words = {
        "turn": format_exact(chosen.turn),
        "steps": format_exact(chosen.num_steps),
        "peak": f"{max(rates):.3g}",
        "first": f"{rates[0]:.3g}",
        "last": f"{rates[-1]:.3g}",
    }
    if chosen.kind == "warmup":
        return _(
            "From {first} up to {peak} in {turn} steps, then down to {last} at step {steps}"
        ).format(**words)
    if chosen.kind == "cosine" and chosen.turn < chosen.num_steps:
        low = f"{abs(round(rates[chosen.turn], 12)):.3g}"
        return _(
            "The rate is {low} at epoch {turn} and {last} at epoch {steps}: T_max is too short"
        ).format(**words, low=low)
    return _("From {first} down to {last} after {steps} epochs").format(**words)


def _note(chosen: Schedule) -> str:
    if chosen.kind == "warmup":
        return _("LinearLR from a hundredth of the peak, then CosineAnnealingLR with eta_min "
                 "1e-5, one after the other in SequentialLR.")  # fmt: skip
    if chosen.kind == "step":
        return _("StepLR multiplies the rate by 0.1 every 10 epochs.")
    return _("CosineAnnealingLR comes down for T_max epochs, and then climbs again: T_max belongs "
             "to the whole training, in the unit in which scheduler.step() is called.")  # fmt: skip


TAB: Final = Tab(
    label=N_("Schedules"),
    show=schedules_tab,
    choose=choose_schedule,
    with_inputs=False,
    question=ask_too_short,
)
