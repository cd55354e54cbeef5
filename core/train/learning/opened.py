"""A model to look into: the small one that comes with the app, one of a run, or a fresh one.

Each can be opened at some steps of its training. No file is read that could run code.
"""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal

from core.budget.by_hand.gpt import count_parameters
from core.language import N_, _
from core.train.config import config_of_run
from core.train.learning.recording import SMALL_GPT, read_recording
from core.train.learning.tensors import load_trained, refuse_other_families
from core.train.run.directory import checkpoint_step, checkpoints, milestones, read_info, section
from core.train.run.shelf import summarize
from core.train.text.tokenizers import CharacterTokenizer, Tokenizer
from core.units import format_count

if TYPE_CHECKING:
    from core.models.gpt import GPT

Kind = Literal["shipped", "run", "fresh"]
MAX_PARAMETERS: Final = 15_000_000
MAX_NAMED: Final = 8  # unknown characters that a sentence lists
SHIPPED_TITLE: Final = N_("Small GPT")
FRESH_TITLE: Final = N_("Fresh model")


@dataclass(frozen=True, kw_only=True, slots=True)
class Opened:
    """A model and its vocabulary.

    The model is in float32 on the CPU, in evaluation mode; shared, so leave its weights alone.
    The title is what a run's reader calls it, else a message id.
    """

    model: "GPT"
    tokenizer: Tokenizer
    step: int
    steps: tuple[int, ...]
    title: str
    prompt: str
    kind: Kind

    def encode(self, text: str) -> tuple[int, ...]:
        """Return the token ids of a text.

        Raises:
            ValueError: Some characters are not in the vocabulary; the sentence names them.
        """
        known = self.tokenizer
        if isinstance(known, CharacterTokenizer):
            unknown = list(dict.fromkeys(each for each in text if each not in known.characters))
            if unknown:
                raise ValueError(_unknown(unknown))
        return tuple(int(number) for number in known.encode(text))


def _unknown(characters: list[str]) -> str:
    named = " ".join(repr(each) for each in characters[:MAX_NAMED])
    more = " …" if len(characters) > MAX_NAMED else ""
    return _(
        "This model has never seen {characters}: its vocabulary is the characters of the text that "
        "it learned from. Leave them out, or choose a model with one token a byte."
    ).format(characters=named + more)


def shipped_steps() -> tuple[int, ...]:
    """Return the steps at which the shipped model can be opened."""
    return read_recording(SMALL_GPT).steps


def open_shipped(step: int) -> Opened:
    """Return the model that comes with the app at one of its steps."""
    import torch

    from core.models.chance import alone_with_chance
    from core.models.gpt import GPT

    recording = read_recording(SMALL_GPT)
    _check_step(step, recording.steps)
    with alone_with_chance():
        model = GPT(recording.config.shape(recording.tokenizer.vocab_size)).eval()
    weights = {name: torch.from_numpy(each) for name, each in recording.weights[step].items()}
    weights["head.weight"] = weights["tokens.weight"]  # tied
    model.load_state_dict(weights)
    return Opened(
        model=model,
        tokenizer=recording.tokenizer,
        step=step,
        steps=recording.steps,
        title=SHIPPED_TITLE,
        prompt=recording.prompt,
        kind="shipped",
    )


def run_steps(run: Path) -> tuple[int, ...]:
    """Return the steps at which a run can be opened: its milestones and its checkpoints."""
    return tuple(sorted(_files(run)))


def open_run(run: Path, step: int) -> Opened:
    """Return the model of a run at one of its steps.

    Raises:
        ValueError: The run has no such step, its model is too large, or its file cannot be used;
            the sentence says which.
    """
    files = _files(run)
    if not files:
        config_of_run(read_info(run))  # a loop of the reader's own never has one, and says so
        raise ValueError(
            _("Run {run} has no checkpoint yet; wait for its first one.").format(run=run.name)
        )
    _check_step(step, run_steps(run))
    _refuse_what_cannot_be_opened(run)
    trained = load_trained(run, files[step])
    return Opened(
        model=trained.model.eval(),
        tokenizer=trained.dataset.tokenizer,
        step=step,
        steps=run_steps(run),
        title=summarize(run).title,
        prompt=trained.dataset.prompt,
        kind="run",
    )


def open_fresh(like: Opened, seed: int = 0, init: str = "gpt2") -> Opened:
    """Return a model of the same shape and vocabulary that has learned nothing."""
    from core.models.first_loss import make_fresh

    model = make_fresh(like.model.shape, seed, init)
    return replace(like, model=model, step=0, steps=(0,), title=FRESH_TITLE, kind="fresh")


def _files(run: Path) -> dict[int, Path]:
    """Return the file of every step; of a step that has both, its checkpoint."""
    return {checkpoint_step(path): path for path in (*milestones(run), *checkpoints(run))}


def _check_step(step: int, steps: tuple[int, ...]) -> None:
    if step not in steps:
        raise ValueError(
            _("The weights of step {step} were not kept; choose one of {steps}.").format(
                step=step, steps=_(", ").join(map(str, steps))
            )
        )


def _refuse_what_cannot_be_opened(run: Path) -> None:
    """Refuse before any file is opened a model that is no GPT or that a class has no room for."""
    info = read_info(run)
    config = config_of_run(info)
    vocab_size = section(info, "text", run).get("vocab_size") or 1
    refuse_other_families(config.family)
    num_params = count_parameters(config.shape(vocab_size)).amount
    if num_params > MAX_PARAMETERS:
        raise ValueError(
            _(
                "This model has {count} parameters; a page opens at most {most}. Train a smaller "
                "one to look into it."
            ).format(count=format_count(num_params), most=format_count(MAX_PARAMETERS))
        )
