"""What the page asks for: a model at a step of its training, a text, a layer and a head."""

from dataclasses import dataclass
from typing import Final

import streamlit as st

from core.language import N_, _
from core.train.learning.opened import Opened
from core.train.text.pieces import last_pieces, vocabulary_signs
from pages.models.inside_gpt.models import FRESH, SMALL, choices, opened_at, opened_fresh, steps_of
from pages.shared.inputs import Inputs

ASK: Final = Inputs("inside")
START: Final = "The value of an expression is the value of the exp"
MAX_TOKENS: Final = 64
MAX_CHARS: Final = 400  # more than enough for 64 tokens; the browser sends the end of a long text
ONE_PASS: Final = ("layer", "head", "with")  # inputs of a single pass, not of every tab
NOTHING: Final = "nothing"
MEAN: Final = "mean"
_NOTHING: Final = N_("nothing")
_MEAN: Final = N_("mean of all heads")
OPEN = {
    "shipped": ("from core.train.learning.opened import open_shipped\n", "open_shipped({step})"),
    "fresh": (
        "from core.train.learning.opened import open_fresh, open_shipped\n",
        "open_fresh(open_shipped(0))",
    ),
    "run": (
        "from core.train.learning.opened import open_run\n"
        "from core.train.run.directory import runs_directory\n",
        'open_run(runs_directory() / "{run}", {step})',
    ),
}


@dataclass(frozen=True, kw_only=True, slots=True)
class Case:
    """A text in a model."""

    opened: Opened  # the model, its tokenizer and its step
    other: Opened | None  # what it is compared with, of the same vocabulary
    text: str  # what the reader wrote, or its end
    token_ids: tuple[int, ...]  # what the model reads: the last tokens, at most 64
    pieces: tuple[str, ...]  # a visible sign for each of them
    layer: int  # the chosen block, from 0
    head: int | None  # the chosen head, from 0; None for the mean of all
    at: int  # the token pointed at, from 0; the last one unless the reader chose
    num_all: int  # tokens of the whole text, those before `token_ids` too
    unknown: tuple[str, ...]  # characters that the model has no token for; they are left out


def choose_case() -> Case:
    text, at = bound("text", MAX_CHARS, START), bound("at", 6)
    opened = _model()
    shape = opened.model.shape
    layer = ASK.slider("layer", _("Layer"), 1, shape.num_layers, default=1, step=1)
    heads = (MEAN, *map(str, range(1, shape.num_heads + 1)))
    head = ASK.selectbox(
        "head", _("Head"), heads, default=MEAN,
        labels=lambda word: _(_MEAN) if word == MEAN else word,
    )  # fmt: skip
    other = _other(opened)
    read = last_pieces(opened.tokenizer, text, min(MAX_TOKENS, shape.seq_len))
    last = len(read.token_ids) - 1
    return Case(
        opened=opened, other=other, text=text, token_ids=read.token_ids,
        pieces=vocabulary_signs(opened.tokenizer, read.token_ids), layer=layer - 1,
        head=None if head == MEAN else int(head) - 1,
        at=min(int(at), last) if at.isdecimal() else last,
        num_all=read.num_all, unknown=read.unknown,
    )  # fmt: skip


def bound(name: str, max_chars: int, default: str = "") -> str:
    """Return a setting that the picture writes; its field is not seen."""
    with st.container(key=f"bound_{ASK.key(name)}"):
        return ASK.text(name, ASK.key(name), default=default, max_chars=max_chars)


def _model() -> Opened:
    titles = choices(ASK.used("run", SMALL))
    name = ASK.selectbox(
        "run", _("Model"), tuple(titles), default=SMALL, labels=lambda word: titles[word]
    )
    if name == FRESH:
        return opened_fresh(opened_at(SMALL, steps_of(SMALL)[-1]))
    steps = steps_of(name)
    step = ASK.select_slider(
        "step", _("Training step"), steps, default=steps[-1], labels=lambda step: f"{step:,}"
    )
    return opened_at(name, step)


def _other(opened: Opened) -> Opened | None:
    """Ask for a second model: the same one before it learned, or at another step."""
    words = {NOTHING: _(_NOTHING)}
    if opened.kind != FRESH:
        steps = [step for step in steps_of(ASK.used("run", SMALL)) if step != opened.step]
        words[FRESH] = _("Fresh model")
        words |= {str(step): _("step {step}").format(step=f"{step:,}") for step in steps}
    name = ASK.selectbox(
        "with", _("Compare with"), tuple(words), default=NOTHING, labels=lambda word: words[word]
    )
    if name == NOTHING:
        return None
    if name == FRESH:
        return opened_fresh(opened)
    return opened_at(ASK.used("run", SMALL), int(name))


def at_the_start() -> tuple[Opened, tuple[int, ...]]:
    """Return the small GPT after its training, and the text at first: what questions ask about."""
    trained = opened_at(SMALL, steps_of(SMALL)[-1])
    return trained, last_pieces(trained.tokenizer, START, len(START)).token_ids


def title_of(opened: Opened) -> str:
    """Return what stands above a model's picture: "Fresh model", "Small GPT, step 800"."""
    if opened.kind == FRESH:
        return _("Fresh model")
    return _("step {step}").format(step=f"{opened.step:,}")


def opening(case: Case) -> dict[str, str]:
    """Return the imports, the call that opens the case's model, and the token ids."""
    imports, opened = OPEN[case.opened.kind]
    return {
        "imports": imports,
        "opened": opened.format(step=case.opened.step, run=ASK.used("run")),
        "ids": ", ".join(map(str, case.token_ids)),
    }
