"""What a model loses before it has learned anything, and why it can be far above ln V."""

from dataclasses import dataclass, field
from typing import Final

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from core.budget.by_hand.gpt import nats
from core.figures.models.inside_gpt.first_loss import first_loss_picture
from core.language import N_, _
from core.models.first_loss import (
    GPT2_INITS,
    GPT2_SMALL,
    INITS,
    STDS,
    FirstLoss,
    first_loss_of_gpt2,
    first_loss_on_random_text,
    ln_vocab,
)
from core.models.spec import GPTShape
from pages.models.inside_gpt.inputs import ASK, Case
from pages.shared.job import run_job
from pages.shared.settings import locked, look
from pages.shared.tabbed_page import Chart, Shown

DEFAULT_STD: Final = 1.0
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


@dataclass(slots=True)
class _Measured:
    """What the server has measured of GPT-2 small, for all who ask."""

    done: float = 0.0
    losses: dict[str, FirstLoss] = field(default_factory=dict)


@st.cache_resource(show_spinner=False)
def shared() -> _Measured:
    """Return what was measured on this server."""
    return _Measured()


def choose_std() -> float:
    """Show the slider of the spread."""
    return ASK.select_slider(
        "std", _("Standard deviation of the embedding"), STDS, default=DEFAULT_STD,
        help=_("Of every number in the token embedding; the head is the same matrix."),
    )  # fmt: skip


@st.cache_data(max_entries=32, show_spinner=False)
def _losses(shape: GPTShape) -> tuple[FirstLoss, ...]:
    return first_loss_on_random_text(shape)


def loss(case: Case, std: float) -> Shown:
    """Show the first loss over the spread of the tied embedding."""
    shape = case.opened.model.shape
    curve = _losses(shape)
    at = curve[STDS.index(std)]
    large = {
        _(_LARGE).format(init=_(INITS[init])): (each, GPT2_SMALL.vocab_size)
        for init, each in shared().losses.items()
    }
    picture = first_loss_picture(curve, at, shape.vocab_size, large, look())
    own = ln_vocab(shape)
    return Shown(
        headline=_(
            "Embedding drawn with σ = {std}: the first loss is {loss} nats, ln V is {ln_vocab}"
        ).format(std=f"{std:g}", loss=f"{at.loss:.2f}", ln_vocab=f"{own:.2f}"),
        charts=[Chart(picture=picture, file_name="first_loss")],
        numbers=[
            (_("First loss"), nats("first loss", at.loss, is_measured=True)),
            (_("A uniform guess, ln V"), nats("ln V", own)),
        ],
        notes=[_why(at)],
        below=_offer_gpt2,
        code=_CODE.format(
            shape=repr(shape),
            std=std,
            vocab_size=shape.vocab_size,
            length=min(shape.seq_len, 64) + 1,
        ),
    )


def _why(at: FirstLoss) -> str:
    return _(
        "The head compares the last hidden state with every row of the embedding. The logits "
        "spread by {spread}; the token that was just read gets {own} on average, because its own "
        "row went in at the bottom. A model so sure of a wrong answer loses far more than ln V."
    ).format(spread=f"{at.logit_std:.2f}", own=f"{at.own_logit:.2f}")


def _offer_gpt2() -> None:
    """Show the button that measures GPT-2 small, block by block."""
    kept = shared()
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
        tell=_tell,
    ):
        st.rerun()


def _measure() -> None:
    """Measure both initialisations in a thread of the pool."""
    kept = shared()

    def note(share: float) -> None:
        kept.done = share

    kept.done = 0.0
    kept.losses = dict(zip(GPT2_INITS, first_loss_of_gpt2(note), strict=True))


def _tell(place: DeltaGenerator) -> None:
    place.progress(shared().done)
