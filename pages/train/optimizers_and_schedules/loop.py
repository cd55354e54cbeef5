"""The training loop: its five statements in the reader's order, on a line and on a classifier."""

from dataclasses import dataclass
from typing import Final

import streamlit as st

from core.figures.picture import Drawing, Look, Picture
from core.figures.train.curves import Axes, curves_picture
from core.language import N_, _
from core.train.optimizers.digits import (
    LOSS,
    NUM_TEST,
    NUM_TRAINING,
    SIDE,
    Classified,
    classify,
    draw_digits,
)
from core.train.optimizers.loop import ORDERS, STATEMENTS, USUAL, Learned, run_loop
from core.units import format_exact, format_percent
from pages.shared.settings import look, presenting
from pages.shared.tabbed_page import Chart, Shown, Tab
from pages.train.optimizers_and_schedules.inputs import ASK

RATES: Final = (0.001, 0.003, 0.01, 0.03, 0.05, 0.1, 0.2, 0.5, 1.0)
PROBLEMS: Final = {
    "line": "y = 2x + 1",
    "sixteen": N_("16 weights, 0 to 15"),
    "digits": N_("Digits"),
}
COMPARED: Final = (0.01, 0.1)
NUM_IMAGES: Final = 14  # of the test set, drawn
IMAGES_PX: Final = 120
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


_DIGITS_CODE: Final = """
import torch
from torch import nn

from core.train.optimizers.digits import draw_digits  # the images that this app draws

def train_epoch(model, optimizer, images, labels, random):
    for batch in torch.randperm(len(images), generator=random).split(64):
        x, y = images[batch], labels[batch]
{body}

def evaluate(model, images, labels):
    with torch.no_grad():
        return (model(images).argmax(dim=1) == labels).float().mean().item()

training, test = draw_digits({training}, seed=0), draw_digits({test}, seed=1)
mean, deviation = training.images.mean().item(), training.images.std().item()
(x_training, y_training), (x_test, y_test) = (
    (torch.from_numpy((each.images - mean) / deviation), torch.from_numpy(each.labels))
    for each in (training, test)
)
random = torch.Generator().manual_seed(0)
model = nn.Sequential(nn.Flatten(), nn.Linear({pixels}, 64), nn.ReLU(), nn.Linear(64, 10))
for layer in (model[1], model[3]):
    nn.init.normal_(layer.weight, 0, layer.in_features**-0.5, generator=random)
    nn.init.zeros_(layer.bias)
optimizer = torch.optim.SGD(model.parameters(), lr={lr}, momentum=0.9)
try:
    for epoch in range({epochs}):
        train_epoch(model, optimizer, x_training, y_training, random)
        print(epoch + 1, f"{{evaluate(model, x_test, y_test):.1%}}")
except (NameError, RuntimeError) as error:
    print(error)
"""


@dataclass(frozen=True, kw_only=True, slots=True)
class Loop:
    """What the reader has chosen; `num_steps` are epochs where digits are learned."""

    order: tuple[str, ...]
    num_steps: int
    lr: float
    problem: str


def choose_loop() -> Loop:
    """Show what is learned, the order of the statements, the steps and the rate."""
    problem = ASK.segmented("problem", _("What is learned"), PROBLEMS, default="line")
    words = {"-".join(order): order for order in ORDERS}
    order = ASK.selectbox(
        "order", _("Order of the statements"), tuple(words), default="-".join(USUAL),
        labels=lambda word: " → ".join(words[word]),
    )  # fmt: skip
    steps = (
        ASK.slider("digit_epochs", _("Epochs"), 1, 20, default=5, step=1)
        if problem == "digits"
        else ASK.slider("iterations", _("Iterations"), 1, 3000, default=100, step=1)
    )
    lr = ASK.select_slider("loop_lr", _("Learning rate"), RATES, default=0.01)
    return Loop(order=words[order], num_steps=steps, lr=lr, problem=problem)


@st.cache_data(max_entries=256, show_spinner=False)
def _learned(order: tuple[str, ...], num_steps: int, lr: float, problem: str) -> Learned:
    return run_loop(order, num_steps, lr, problem)


def loop_tab(loop: Loop) -> Shown:
    """Run the loop and draw its loss, beside that of the usual order."""
    if loop.problem == "digits":
        return _digits(loop)
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
    axes = Axes(x=_("iteration"), y=_("loss"), log=True, first=1)
    return Shown(
        headline=_headline(loop, learned),
        charts=[Chart(picture=curves_picture(curves, axes, look()), file_name="loop")],
        notes=[f"`{' → '.join(loop.order)}`", _consequence(loop, learned, usual)],
        code=_code(loop),
    )  # fmt: skip


@st.cache_data(max_entries=64, show_spinner=False)
def _classified(order: tuple[str, ...], num_epochs: int, lr: float) -> Classified:
    return classify(order, num_epochs, lr)


def _digits(loop: Loop) -> Shown:
    found = _classified(loop.order, loop.num_steps, loop.lr)
    curves = {_("training images"): found.training, _("test images"): found.test}
    axes = Axes(x=_("epoch"), y=_("share named rightly"))
    body = {**STATEMENTS, "loss": LOSS}
    headline = _(
        "After {count} epochs {share} of {test} digits never seen in training are named rightly"
    )
    return Shown(
        headline=_("Epoch {count} fails: {error}").format(
            count=len(found.test), error=f"`{found.error}`"
        )
        if found.error
        else headline.format(
            count=loop.num_steps, share=format_percent(found.test[-1]), test=format_exact(NUM_TEST)
        ),
        charts=[
            Chart(picture=curves_picture(curves, axes, look()), file_name="classifier"),
            *([] if presenting() else [
                Chart(picture=_images_picture(found, look()), file_name="digits", key="images")
            ]),
        ],
        notes=[
            _("`train_epoch` runs the statements once for each batch of 64 of the {training} "
              "training images, shuffled anew in every epoch; `evaluate` counts right answers "
              "without gradients. One of ten would be right by chance.").format(
                training=format_exact(NUM_TRAINING)),
            _("The images are drawn by this app: ten glyphs of 8 × 8 pixels, shifted, of random "
              "strength and with noise; no data set of handwriting. As in the usual script for "
              "MNIST pixels are normalized: minus the mean {mean}, divided by the standard "
              "deviation {deviation}, both of the training images.").format(
                mean=f"{found.mean:.4f}", deviation=f"{found.deviation:.4f}"),
        ],
        code=_DIGITS_CODE.format(
            body="\n".join(f"        {body[name]}" for name in loop.order), lr=loop.lr,
            epochs=loop.num_steps, training=NUM_TRAINING, test=NUM_TEST, pixels=SIDE * SIDE,
        ),
    )  # fmt: skip


def _images_picture(found: Classified, look: Look) -> Picture:
    test, drawing, layout = draw_digits(NUM_TEST, 1), Drawing(), look.layout()
    labels = test.labels[:NUM_IMAGES].tolist()
    row = test.images[:NUM_IMAGES].transpose(1, 0, 2).reshape(SIDE, -1)
    guesses = list(found.guesses[:NUM_IMAGES])
    drawing.trace(
        "heatmap", z=row.round(2).tolist(),
        colorscale=[[0, look.color("background")], [1, look.color("text")]], showscale=False,
        zmin=0, zmax=1, hoverinfo="skip",
    )  # fmt: skip
    for place, (label, guess) in enumerate(zip(labels, guesses, strict=True)):
        drawing.note(
            x=(place + 0.5) * SIDE - 0.5, y=SIDE + 0.5, yanchor="top",
            text=f"{guess}" if guess == label else f"<b>{guess} ≠ {label}</b>",
            font={"color": look.color("text" if guess == label else "gradients")},
        )  # fmt: skip
    still = {"visible": False, "fixedrange": True}
    fields = {
        "height": IMAGES_PX, "margin": {"l": 4, "r": 4, "t": 4, "b": 4},
        "xaxis": still | {"range": [-0.5, NUM_IMAGES * SIDE - 0.5]},
        "yaxis": still | {"range": [SIDE + 5, -0.5]},
    }  # fmt: skip
    return Picture(
        figure=drawing.figure(layout | fields),
        alt=_("The first {count} test images, and what each is taken for: {guesses}; {wrong} of "
              "them wrongly.").format(
            count=NUM_IMAGES, guesses=", ".join(map(str, guesses)),
            wrong=sum(guess != label for guess, label in zip(guesses, labels, strict=True))),
        table={_("digit"): labels, _("taken for"): guesses},
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


TAB: Final = Tab(label=N_("Training loop"), show=loop_tab, choose=choose_loop, with_inputs=False)
