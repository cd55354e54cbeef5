"""A model with its tokenizer at one step of its training, ready to be looked into."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import torch

from core.language import N_
from core.models.gpt import GPT
from core.train.learning.tensors import FRESH, load_trained, newest_checkpoint
from core.train.run.directory import checkpoint_path, checkpoint_step, checkpoints
from core.train.text.corpora import CORPORA
from core.train.text.dataset import build_dataset

if TYPE_CHECKING:
    from core.train.text.tokenizers import Tokenizer


@dataclass(frozen=True, kw_only=True, slots=True)
class Opened:
    """A model with its tokenizer."""

    model: GPT
    tokenizer: "Tokenizer"
    step: int
    steps: Sequence[int]
    title: str
    prompt: str
    kind: Literal["shipped", "run", "fresh"]


def shipped_steps() -> tuple[int, ...]:
    """Return the steps of the shipped model."""
    return (0,)


def open_shipped(step: int) -> Opened:
    """Return the shipped model at a step."""
    dataset = build_dataset(FRESH)
    torch.manual_seed(FRESH.seed)
    model = GPT(FRESH.shape(dataset.tokenizer.vocab_size)).eval()
    return Opened(
        model=model, tokenizer=dataset.tokenizer, step=step, steps=shipped_steps(),
        title=N_("Small GPT"), prompt=CORPORA[FRESH.corpus].prompt, kind="shipped",
    )  # fmt: skip


def run_steps(run: Path) -> tuple[int, ...]:
    """Return the steps of a run that can be opened."""
    return tuple(checkpoint_step(path) for path in checkpoints(run))


def open_run(run: Path, step: int) -> Opened:
    """Return a run's model at a step."""
    newest_checkpoint(run)
    trained = load_trained(run, checkpoint_path(run, step))
    return Opened(
        model=trained.model.eval(), tokenizer=trained.dataset.tokenizer, step=step,
        steps=run_steps(run), title=trained.config.name, prompt="", kind="run",
    )  # fmt: skip


def open_fresh(like: Opened, seed: int = 0, init: str = "gpt2") -> Opened:
    """Return a model of that shape that has learned nothing."""
    del init
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        model = GPT(like.model.shape).eval()
    return replace(like, model=model, step=0, steps=(0,), title=N_("Fresh model"), kind="fresh")
