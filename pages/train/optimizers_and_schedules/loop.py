"""The training loop, its five statements in the reader's order."""

from dataclasses import dataclass
from typing import Final

import streamlit as st

from core.figures.train.curves import Axes, curves_picture
from core.language import N_, _
from core.train.optimizers.loop import ORDERS, STATEMENTS, USUAL, Learned, run_loop
from pages.shared.settings import look
from pages.shared.tabbed_page import Chart, Shown
from pages.train.optimizers_and_schedules.inputs import ASK

RATES: Final = (0.001, 0.003, 0.01, 0.03, 0.05, 0.1, 0.2, 0.5, 1.0)
PROBLEMS: Final = {"line": "y = 2x + 1", "sixteen": N_("16 weights, 0 to 15")}
COMPARED: Final = (0.01, 0.1)
_DATA: Final = {
    "line": """x = torch.tensor([[1.0], [2.0], [3.0], [4.0]])
y = 2 * x + 1
model = torch.nn.Linear(1, 1)""",
    "sixteen": """x = torch.randn(64, 16, generator=torch.Generator().manual_seed(0))
y = (x @ torch.arange(16.0)).unsqueeze(1)
model = torch.nn.Linear(16, 1, bias=False)""",
}
_CODE: Final = """
import torch

{data}
for each in model.parameters():
    torch.nn.init.zeros_(each)
optimizer = torch.optim.SGD(model.parameters(), lr={lr})
try:
    for _ in range({steps}):
{body}
    print([f"{{w:.2f}}" for p in model.parameters() for w in p.flatten().tolist()])
except (NameError, RuntimeError) as error:
    print(error)
"""


@dataclass(frozen=True, kw_only=True, slots=True)
class Loop:
    """What the reader has chosen."""

    order: tuple[str, ...]
    num_steps: int
    lr: float
    problem: str


def choose_loop() -> Loop:
    """Show the order of the statements, the steps and the rate."""
    words = {"-".join(order): order for order in ORDERS}
    order = ASK.selectbox(
        "order", _("Order of the statements"), tuple(words), default="-".join(USUAL),
        labels=lambda word: " → ".join(words[word]),
    )  # fmt: skip
    steps = ASK.slider("iterations", _("Iterations"), 1, 3000, default=100, step=1)
    lr = ASK.select_slider("loop_lr", _("Learning rate"), RATES, default=0.01)
    problem = ASK.segmented(
        "problem", _("What is learned"), tuple(PROBLEMS), default="line",
        labels=lambda key: _(PROBLEMS[key]),
    )  # fmt: skip
    return Loop(order=words[order], num_steps=steps, lr=lr, problem=problem)


@st.cache_data(max_entries=256, show_spinner=False)
def _learned(order: tuple[str, ...], num_steps: int, lr: float, problem: str) -> Learned:
    return run_loop(order, num_steps, lr, problem)


def loop_tab(loop: Loop) -> Shown:
    """Run the loop and draw its loss, beside that of the usual order."""
    learned = _learned(loop.order, loop.num_steps, loop.lr, loop.problem)
    usual = _learned(USUAL, loop.num_steps, loop.lr, loop.problem)
    curves = {_("this order"): learned.losses}
    if loop.order != USUAL:
        curves[_("usual order")] = usual.losses
    if loop.problem == "sixteen":
        for rate in COMPARED:
            if rate != loop.lr:
                there = _learned(loop.order, loop.num_steps, rate, loop.problem)
                curves[f"lr {rate}"] = there.losses
    axes = Axes(x=_("iteration"), y=_("loss"), log=True)
    return Shown(
        headline=_headline(loop, learned),
        charts=[
            Chart(picture=curves_picture(curves, axes, look(), first=1), file_name="loop")
        ],
        notes=[f"`{' → '.join(loop.order)}`", _consequence(loop, learned, usual)],
        code=_code(loop),
    )  # fmt: skip


def _headline(loop: Loop, learned: Learned) -> str:
    count = len(learned.losses)
    if learned.error:
        return _("Iteration {count} fails: {error}").format(
            count=count + 1, error=f"`{learned.error}`"
        )
    if count < loop.num_steps:
        return _("The loss grows without end: {loss} at iteration {count}").format(
            loss=f"{learned.losses[-1]:.3g}", count=count
        )
    if loop.problem == "line":
        slope, offset = learned.weights[-1]
        return _("After {count} iterations: y = {slope}x {sign} {offset}").format(
            count=count, slope=f"{slope:.2f}", sign="-" if offset < 0 else "+",
            offset=f"{abs(offset):.2f}",
        )  # fmt: skip
    return _("After {count} iterations at lr {lr} the loss is {loss}").format(
        count=count, lr=loop.lr, loss=f"{learned.losses[-1]:.3g}"
    )


def _consequence(loop: Loop, learned: Learned, usual: Learned) -> str:
    """Say what this order does, as it was seen."""
    if learned.error:
        return _("A name is used before it is made: the first iteration ends there.")
    if loop.order == USUAL:
        return _("Forward, loss, zero_grad, backward, step. zero_grad may stand anywhere between "
                 "a step and the next backward.")  # fmt: skip
    if learned.weights == usual.weights:
        return _("Every weight is the same as in the usual order, bit for bit.")
    if not learned.has_moved:
        return _("Nothing is learned: whenever step is called, there is no gradient, or step is "
                 "never called.")  # fmt: skip
    if "zero_grad" not in loop.order:
        return _("The gradients of all iterations add up: each step also repeats the earlier ones.")
    return _("The weights are others than in the usual order: a step uses gradients that are an "
             "iteration old.")  # fmt: skip


def _code(loop: Loop) -> str:
    return _CODE.format(
        data=_DATA[loop.problem], lr=loop.lr, steps=loop.num_steps,
        body="\n".join(f"        {STATEMENTS[name]}" for name in loop.order),
    )  # fmt: skip
