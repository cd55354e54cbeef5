"""Tensors of a run, from a separate process, so that torch stays outside of who asks for them.

python -m core.train.learning.tensors weight CHECKPOINT NAME   # a matrix, to stdout as .npy
python -m core.train.learning.tensors gradients [RUN_DIRECTORY]  # of the next step, as .npz
"""

import io
import json
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import numpy.typing as npt

from core.language import N_, _
from core.train.child import child_answer
from core.train.config import TrainConfig, config_of_run
from core.train.learning.lora import merged
from core.train.learning.schedule import batch_positions
from core.train.run.directory import CHECKPOINT_FORMAT, checkpoints, read_info
from core.train.run.shelf import run_names
from core.train.text.dataset import Dataset, build_dataset, load_dataset

if TYPE_CHECKING:
    from torch import Tensor

    from core.models.gpt import GPT

WEIGHT_SECONDS: Final = 120
GRADIENT_SECONDS: Final = 180
MAX_VALUES: Final = 65_536  # of one tensor; larger ones are thinned evenly
MAX_SEQUENCES: Final = 16

# Key in an address -> (what it is, its name in the checkpoint; `last` is the number of the layer).
MATRICES: Final[Mapping[str, tuple[str, str]]] = {
    "tokens": (N_("token embedding"), "tokens.weight"),
    "qkv": (N_("attention of the first layer"), "blocks.0.attention.qkv.weight"),
    "up": (N_("feed-forward of the first layer"), "blocks.0.feed_forward.up.weight"),
    "out": (N_("output of the last layer"), "blocks.{last}.feed_forward.out.weight"),
}

# The same fresh model on every machine: the reference model of a one-minute run.
FRESH: Final = TrainConfig(name="fresh")
HIDDEN: Final = "hidden."
_FACTS: Final = "facts"


def runs_with_weights(directory: Path) -> tuple[str, ...]:
    """Return the names of the runs in `directory` that have a checkpoint, newest first."""
    return tuple(name for name in run_names(directory) if checkpoints(directory / name))


def newest_checkpoint(run: Path) -> Path:
    """Return the newest checkpoint of a run directory."""
    found = checkpoints(run)
    if not found:
        config_of_run(read_info(run))  # a loop of the reader's own never has one, and says so
        raise ValueError(
            _("Run {run} has no checkpoint yet; wait for its first one.").format(run=run.name)
        )
    return found[-1]


def read_weight(run: Path, matrix: str) -> npt.NDArray[np.float64]:
    """Return a matrix of `MATRICES` from the newest checkpoint, (rows, columns); takes seconds."""
    path = newest_checkpoint(run)
    config = read_info(run)["config"]
    refuse_other_families(config.get("family", "gpt"))
    last = int(config.get("num_layers", 1)) - 1
    written = child_answer(
        "core.train.learning.tensors",
        ["weight", str(path), MATRICES[matrix][1].format(last=last)],
        seconds=WEIGHT_SECONDS,
        too_late=_(
            "{file} was not read within {seconds} s; try again when the machine is free."
        ).format(file=path.name, seconds=WEIGHT_SECONDS),
        failed=partial(
            _("{file} cannot be read ({reason}); let the run write a new checkpoint.").format,
            file=path.name,
        ),
    )
    weight: npt.NDArray[np.float64] = np.load(io.BytesIO(written), allow_pickle=False)
    return weight


def _weight_bytes(path: str, name: str) -> bytes:
    import torch

    file = io.BytesIO()
    try:
        # weights_only: a pickle that wants to run code is refused
        contents: dict[str, Any] = torch.load(path, map_location="cpu", weights_only=True)
        np.save(file, merged(contents["model"])[name].double().numpy(), allow_pickle=False)
    except Exception as error:
        raise SystemExit(type(error).__name__) from error  # torch's own text is a page long
    return file.getvalue()


@dataclass(frozen=True, kw_only=True, slots=True)
class GradientSample:
    """What a backward pass left in some tensors of a run's model, or of a fresh one at step 0.

    Attributes:
        loss: Of the batch, in nats per token.
        tensors: Name -> gradients as float32, flat; "hidden.<layer>" is the gradient of the
            activations behind a layer, which a 16-bit backward pass stores in 16 bits.
    """

    run: str
    step: int
    loss: float
    tensors: Mapping[str, npt.NDArray[np.float32]]

    def values(self) -> npt.NDArray[np.float32]:
        """Return all gradients in one flat array."""
        return np.concatenate(list(self.tensors.values()))


def measure_gradients(run: Path | None = None) -> GradientSample:
    """Return gradients of a run's newest checkpoint, or of a fresh model; takes seconds."""
    if run is not None:
        newest_checkpoint(run)  # says so at once if there is none
    written = child_answer(
        "core.train.learning.tensors",
        ["gradients", *([] if run is None else [str(run)])],
        seconds=GRADIENT_SECONDS,
        too_late=_(
            "No gradients came within {seconds} s; try again when the machine is free."
        ).format(seconds=GRADIENT_SECONDS),
        failed=_("The gradients could not be computed: {reason}").format,
    )
    return from_bytes(written)


def sample_here(run: Path | None = None) -> GradientSample:
    """Compute the gradients in this process; it imports torch."""
    import torch

    from core.models.gpt import GPT

    if run is not None:
        return _backward(load_trained(run, newest_checkpoint(run)), run.name)
    # The language reference is in Python's own library: the same text wherever this runs.
    dataset = build_dataset(FRESH)
    torch.manual_seed(FRESH.seed)
    model = GPT(FRESH.shape(dataset.tokenizer.vocab_size))
    return _backward(Trained(config=FRESH, dataset=dataset, model=model, step=0), "")


@dataclass(frozen=True, kw_only=True, slots=True)
class Trained:
    """A model with what it learns from; `step` optimizer steps have been done."""

    config: TrainConfig
    dataset: Dataset
    model: "GPT"
    step: int


def load_trained(run: Path, checkpoint: Path) -> Trained:
    """Return the model of a run's checkpoint or milestone, in float32 on the CPU.

    Raises:
        ValueError: The file is torn, of another version of the app, of another vocabulary, or of
            a model that is no GPT.
    """
    from core.models.chance import alone_with_chance
    from core.models.gpt import GPT
    from core.train.learning.mistakes import spoil_model

    contents = read_checkpoint(checkpoint)
    config, dataset = TrainConfig.from_json(contents["config"]), load_dataset(run / "data")
    refuse_other_families(config.family)
    vocab_size, rows = dataset.tokenizer.vocab_size, len(contents["model"]["tokens.weight"])
    if rows != vocab_size:
        raise ValueError(
            _(
                "{file} was trained on {rows} different tokens, the text of its run has "
                "{vocab_size}; the two do not belong together. Choose another step or run."
            ).format(file=checkpoint.name, rows=rows, vocab_size=vocab_size)
        )
    with alone_with_chance():
        model = GPT(config.shape(vocab_size))
        spoil_model(model, config.mistake)
    state = contents["model"]
    model.load_state_dict(merged(state) if config.lora_rank else state)
    return Trained(config=config, dataset=dataset, model=model, step=int(contents["step"]))


def refuse_other_families(family: str) -> None:
    """Say in words that a Llama-like model is not looked into.

    Raises:
        ValueError: If the model is no GPT.
    """
    if family != "gpt":
        raise ValueError(
            _(
                "This run trains a Llama-like model. It is trained, sampled and exported here, but "
                "what looks into a model reads our GPT only; choose a run of the family GPT."
            )
        )


def read_checkpoint(checkpoint: Path) -> dict[str, Any]:
    """Return what a file says, if it is one of this version; a pickle runs no code."""
    import torch

    try:
        contents = torch.load(checkpoint, map_location="cpu", weights_only=True, mmap=True)
        version, _config, _weights = contents["format"], contents["config"], contents["model"]
    except Exception as error:  # torch has a dozen of them, and a text of a page
        raise ValueError(
            _("{file} cannot be read ({reason}); it is damaged. Choose another step.").format(
                file=checkpoint.name, reason=type(error).__name__
            )
        ) from error
    if version != CHECKPOINT_FORMAT:
        raise ValueError(
            _(
                "{file} has format {version}; this version of the app reads format {known}. "
                "Train the model again."
            ).format(file=checkpoint.name, version=version, known=CHECKPOINT_FORMAT)
        )
    return dict(contents)


def _backward(trained: Trained, run: str) -> GradientSample:
    """Do one forward and one backward pass on the batch of the next step."""
    model, config = trained.model, trained.config
    hidden: dict[str, Tensor] = {}
    for number, block in enumerate(model.blocks):
        block.register_forward_hook(_keeper(hidden, f"{HIDDEN}{number}"))
    token_ids, targets = next_batch(config, trained.dataset, trained.step + 1)
    loss = model(token_ids, targets)
    loss.backward()
    weights = {name: weight.grad for name, weight in model.named_parameters()}
    found = {**{name: each.grad for name, each in hidden.items()}, **weights}
    tensors = {name: _thinned(found[name]) for name in _names(config.num_layers)}
    return GradientSample(run=run, step=trained.step, loss=loss.item(), tensors=tensors)


def _names(num_layers: int) -> tuple[str, ...]:
    """Return the tensors of the sample: the embedding, and of the first and last layer three."""
    layers = sorted({0, num_layers - 1})
    parts = ("blocks.{}.attention.qkv.weight", "blocks.{}.feed_forward.up.weight", HIDDEN + "{}")
    return ("tokens.weight", *(part.format(layer) for layer in layers for part in parts))


def _keeper(hidden: dict[str, "Tensor"], name: str) -> Any:  # noqa: ANN401  torch's hook type
    def keep(_module: object, _inputs: object, output: "Tensor") -> None:
        output.retain_grad()
        hidden[name] = output

    return keep


def next_batch(
    config: TrainConfig, dataset: Dataset, step: int, most: int = MAX_SEQUENCES
) -> tuple["Tensor", "Tensor"]:
    """Return token ids and their successors, both (B, T): a step's first sequences."""
    import torch

    tokens, count = dataset.training_tokens, min(config.batch_size, most)
    starts = batch_positions(config.seed, step, count, len(tokens), config.seq_len)
    cut = tokens[starts[:, None] + np.arange(config.seq_len + 1)]  # (B, T + 1)
    ids = torch.from_numpy(cut.astype(np.int64))
    return ids[:, :-1].contiguous(), ids[:, 1:].contiguous()


def _thinned(gradient: "Tensor | None") -> npt.NDArray[np.float32]:
    assert gradient is not None  # noqa: S101  a backward pass has just been here
    flat: npt.NDArray[np.float32] = gradient.detach().float().flatten().numpy()
    return flat[:: -(-flat.size // MAX_VALUES)].copy()


def to_bytes(sample: GradientSample) -> bytes:
    """Return the sample as the bytes of an .npz file."""
    facts = json.dumps({"run": sample.run, "step": sample.step, "loss": sample.loss})
    file = io.BytesIO()
    arrays: dict[str, Any] = {_FACTS: np.array(facts), **sample.tensors}
    np.savez(file, **arrays)
    return file.getvalue()


def from_bytes(written: bytes) -> GradientSample:
    """Return the sample that `to_bytes` wrote."""
    with np.load(io.BytesIO(written), allow_pickle=False) as file:
        tensors = {name: file[name] for name in file.files if name != _FACTS}
        return GradientSample(**json.loads(str(file[_FACTS])), tensors=tensors)


def main(what: str, *arguments: str) -> None:
    """Write to stdout a "weight", or the "gradients" of a run or of a fresh model."""
    if what == "weight":
        written = _weight_bytes(*arguments)
    else:
        written = to_bytes(sample_here(*map(Path, arguments)))
    sys.stdout.buffer.write(written)


if __name__ == "__main__":
    main(*sys.argv[1:])
