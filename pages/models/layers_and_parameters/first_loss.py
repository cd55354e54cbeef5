"""The loss of a model that has learned nothing, and of one that cannot: two views of a first draw.

A tied embedding that is drawn too wide makes the first loss far larger than ln V; labels that are
drawn at random keep a classifier at ln 3.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from statistics import fmean
from typing import Any, Final

import streamlit as st

from core.budget.by_hand.gpt import nats
from core.figures.picture import Drawing, Look, Picture
from core.language import N_, _
from core.language.listing import followed_by
from core.models.first_loss import (
    GPT2_INITS,
    GPT2_SMALL,
    INITS,
    STDS,
    FirstLoss,
    first_loss_of_gpt2,
    first_loss_on_random_text,
)
from core.models.small import CLASSES, SMALL, losses_on_random_labels
from core.models.spec import GPTShape
from core.train.learning.opened import open_shipped, shipped_steps
from core.units import format_exact
from pages.models.layers_and_parameters.inputs import ASK, layout_with
from pages.server.background import jobs
from pages.shared.job import run_job
from pages.shared.settings import locked, look, presenting
from pages.shared.tabbed_page import Chart, Shown

NUM_STEPS: Final = 60
NUM_LAST: Final = 20  # of the steps: a batch's own loss leaps
_TICKS: Final = (0.001, 0.01, 0.1, 1, 5, 10, 20, 50, 100, 500)
_LARGE: Final = N_("GPT-2 small, {init}")
_CODE: Final = """
import torch
from core.models.gpt import GPT
from core.models.spec import GPTShape

torch.manual_seed(0)
model = GPT({shape})
with torch.no_grad():
    model.tokens.weight.mul_({std} / 0.02)  # the head is the same matrix
    text = torch.randint({vocab_size}, (1, {length}), generator=torch.Generator().manual_seed(0))
    loss = model(text[:, :-1], text[:, 1:])
print(f"{{loss:.2f}} nats, ln V = {{torch.tensor({vocab_size}.0).log():.2f}}")
"""
_LABELS_CODE: Final = """
import math

import torch
from torch import nn

torch.manual_seed(0)
model = {code}
optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
losses = []
for step in range({steps}):
    x, labels = torch.randn(128, 50), torch.randint({classes}, (128,))
    loss = nn.functional.cross_entropy(model(x), labels)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    losses.append(loss.item())
print(f"{{sum(losses[-{last}:]) / {last}:.2f}}, ln {classes} = {{math.log({classes}):.4f}}")
"""


@dataclass(slots=True)
class _Measured:
    """What the server has measured of GPT-2 small, for all who ask."""

    done: float = 0.0
    losses: dict[str, FirstLoss] = field(default_factory=dict)


@st.cache_resource(show_spinner=False)
def measured() -> _Measured:
    return _Measured()


@st.cache_resource(show_spinner=False)
def _shape() -> GPTShape:
    return open_shipped(shipped_steps()[-1]).model.shape


_curve = st.cache_data(max_entries=1, show_spinner=False)(first_loss_on_random_text)
_labels = st.cache_data(max_entries=1, show_spinner=False)(losses_on_random_labels)


def choose_std() -> float:
    return ASK.select_slider(
        "std", _("Standard deviation of the embedding"), STDS, default=1.0,
        help=_("Of every number in the token embedding; the head is the same matrix."),
    )  # fmt: skip


def first_loss(std: float) -> Shown:
    """Show the first loss of the small GPT by the spread of its tied embedding."""
    shape = _shape()
    curve, own = _curve(shape), math.log(shape.vocab_size)
    at = curve[STDS.index(std)]
    large = {
        _(_LARGE).format(init=_(INITS[init])): (each, GPT2_SMALL.vocab_size)
        for init, each in measured().losses.items()
    }
    why = _(
        "The head compares the last hidden state with every row of the embedding. The logits "
        "spread by {spread}; the token that was just read gets {own} on average, because its own "
        "row went in at the bottom. A model so sure of a wrong answer loses far more than ln V."
    ).format(spread=f"{at.logit_std:.2f}", own=f"{at.own_logit:.2f}")
    return Shown(
        headline=_(
            "Embedding drawn with σ = {std}: the first loss is {loss} nats, ln V is {ln_vocab}"
        ).format(std=f"{std:g}", loss=f"{at.loss:.2f}", ln_vocab=f"{own:.2f}"),
        charts=[
            Chart(
                picture=first_loss_picture(curve, at, shape.vocab_size, large, look()),
                file_name="first_loss",
                key="first_loss",
            )
        ],
        numbers=[]
        if presenting()
        else [
            (_("First loss"), nats("first loss", at.loss, is_measured=True)),
            (_("A uniform guess, ln V"), nats("ln V", own)),
        ],
        notes=[] if presenting() else [why],
        below=_offer_gpt2,
        code=_CODE.format(
            shape=repr(shape),
            std=std,
            vocab_size=shape.vocab_size,
            length=min(shape.seq_len, 64) + 1,
        ),
    )


def _offer_gpt2() -> None:
    kept = measured()
    pushed = st.button(
        _("Measure GPT-2 small again") if kept.losses else _("Measure GPT-2 small (12 × 768)"),
        key=ASK.key("measure_gpt2"),
        icon=":material/timer:",
        disabled=locked(),
    )
    if pushed and run_job(
        "first loss of gpt-2",
        _measure,
        doing=_("Drawing the weights of GPT-2 small, one block at a time …"),
        failed=_("The first loss was not measured"),
        tell=lambda place: place.progress(measured().done),
    ):
        st.rerun()


def _measure() -> None:
    kept = measured()

    def note(share: float) -> None:
        kept.done = share

    kept.done = 0.0
    kept.losses = dict(zip(GPT2_INITS, first_loss_of_gpt2(note), strict=True))


def first_loss_picture(
    curve: Sequence[FirstLoss],
    at: FirstLoss,
    vocab_size: int,
    large: Mapping[str, tuple[FirstLoss, int]],
    look: Look,
) -> Picture:
    """Return the measured losses of one shape, ln V, and larger models: first loss and V."""
    drawing, ln_v = Drawing(), math.log(vocab_size)
    drawing.scatter(
        x=[each.std for each in curve], y=[each.loss for each in curve], mode="lines+markers",
        line={"color": look.color("measured"), "width": 3}, marker={"size": 7}, name=_("measured"),
        hovertemplate="σ %{x:.3g}: %{y:.2f} nats<extra></extra>",
    )  # fmt: skip
    drawing.scatter(
        x=[at.std], y=[at.loss], mode="markers+text", text=[f"{at.loss:.2f}"],
        textposition="middle left", marker={"size": 16, "color": look.color("validation_loss")},
        hoverinfo="skip", cliponaxis=False,
    )  # fmt: skip
    _draw_line(drawing, ln_v, "ln V", look)
    for name, (each, size) in large.items():
        drawing.scatter(
            x=[each.std], y=[each.loss], mode="markers+text", text=[f"{each.loss:,.2f}"],
            textposition="top left", name=name, showlegend=False,
            marker={"size": 14, "symbol": "diamond", "color": look.color("optimizer")},
            hovertemplate=name + "<br>%{y:.2f} nats<extra></extra>",
        )  # fmt: skip
        _draw_line(drawing, math.log(size), f"ln {size:,}", look)
    ticks = {"type": "log", "tickvals": _TICKS, "ticktext": [f"{tick:g}" for tick in _TICKS]}
    layout = layout_with(
        look,
        xaxis=ticks | {"title": {"text": _("standard deviation of the embedding's rows")}},
        yaxis=ticks | {"title": {"text": _("first loss, nats per token")}},
    )
    room = {"margin": {"l": 8, "r": 8, "t": 16, "b": 8}, "showlegend": False}
    alt = _(
        "With a standard deviation of {std} the first loss is {loss} nats; ln V is {ln_vocab}."
    ).format(std=f"{at.std:.3g}", loss=f"{at.loss:.2f}", ln_vocab=f"{ln_v:.2f}")
    more = [
        _("{name}: {loss} nats.").format(name=name, loss=f"{each.loss:.2f}")
        for name, (each, _size) in large.items()
    ]
    return Picture(
        figure=drawing.figure(layout | room),
        alt=followed_by(alt, *more),
        table=_losses_table(curve, vocab_size, large),
    )


def _losses_table(
    curve: Sequence[FirstLoss], vocab_size: int, large: Mapping[str, tuple[FirstLoss, int]]
) -> dict[str, list[object]]:
    rows = [(_("this model"), each, vocab_size) for each in curve]
    rows += [(name, each, size) for name, (each, size) in large.items()]
    return {
        _("model"): [name for name, _each, _size in rows],
        _("standard deviation"): [each.std for _name, each, _size in rows],
        _("first loss"): [each.loss for _name, each, _size in rows],
        "ln V": [math.log(size) for _name, _each, size in rows],
        _("spread of the logits"): [each.logit_std for _name, each, _size in rows],
        _("logit of the token that was read"): [each.own_logit for _name, each, _size in rows],
    }


def _draw_line(drawing: Drawing, height: float, name: str, look: Look) -> None:
    drawing.shape(
        type="line", xref="paper", x0=0, x1=1, y0=height, y1=height,
        line={"color": look.color("reference"), "width": 2, "dash": "dash"},
    )  # fmt: skip
    drawing.note(
        xref="paper", x=0, xanchor="left", y=math.log10(height), yanchor="bottom",
        text=f"{name} = {height:.2f}",
    )  # fmt: skip


def random_labels() -> Shown:
    """Train the classifier on random labels: nothing is learned."""
    with st.spinner(_("Training on random labels …")):
        losses = jobs().finish("random labels", partial(_labels, NUM_STEPS))
    picture = floor_picture(losses, CLASSES, look())
    return Shown(
        headline=_(
            "Random labels at each of {steps} steps: the loss stays at {loss}; guessing evenly "
            "gives ln {count} = {floor}"
        ).format(
            steps=format_exact(NUM_STEPS), loss=f"{fmean(losses[-NUM_LAST:]):.2f}", count=CLASSES,
            floor=f"{math.log(CLASSES):.4f}",
        ),
        charts=[Chart(picture=picture, file_name="random-labels", key="floor")],
        code=_LABELS_CODE.format(
            code=SMALL["classifier"].code, steps=NUM_STEPS, last=NUM_LAST, classes=CLASSES
        ),
    )  # fmt: skip


def floor_picture(losses: Sequence[float], num_classes: int, look: Look) -> Picture:
    """Return the loss of every step above the floor ln(classes) of random labels."""
    drawing, floor, steps = Drawing(), math.log(num_classes), list(range(1, len(losses) + 1))
    drawing.scatter(
        x=steps, y=list(losses), name=_("training loss"), mode="lines+markers",
        line={"color": look.color("training_loss"), "width": 3},
    )  # fmt: skip
    drawing.scatter(
        x=[steps[0], steps[-1]], y=[floor, floor], name=f"ln {num_classes}", mode="lines",
        line={"color": look.color("reference"), "width": 3, "dash": "dash"},
    )  # fmt: skip
    alt = _("The loss on random labels goes from {first} to {last}; ln {count} is {floor}.").format(
        first=f"{losses[0]:.3f}", last=f"{losses[-1]:.3f}", count=num_classes, floor=f"{floor:.4f}"
    )
    table: dict[str, Sequence[Any]] = {_("step"): steps, _("loss"): list(losses)}
    layout = layout_with(
        look, xaxis={"title": {"text": _("step")}}, yaxis={"title": {"text": _("loss")}}
    )
    return Picture(figure=drawing.figure(layout), alt=alt, table=table)
