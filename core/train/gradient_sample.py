"""The gradients of one real backward pass, from a process of its own: torch stays outside.

python -m core.train.gradient_sample [RUN_DIRECTORY]     # writes them to stdout as .npz
"""

import io
import json
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import numpy.typing as npt

from core.language import _
from core.train.batches import batch_positions
from core.train.child_answer import child_answer
from core.train.config import TrainConfig
from core.train.dataset import Dataset, build_dataset, load_dataset
from core.train.weights import newest_checkpoint

if TYPE_CHECKING:
    from torch import Tensor

    from core.models.gpt import GPT

CHILD_SECONDS: Final = 180
MAX_VALUES: Final = 65_536  # of one tensor; larger ones are thinned evenly
MAX_SEQUENCES: Final = 16
# The same fresh model on every machine: the reference model of a one-minute run.
FRESH: Final = TrainConfig(name="fresh")
HIDDEN: Final = "hidden."
_FACTS: Final = "facts"


@dataclass(frozen=True, kw_only=True, slots=True)
class GradientSample:
    """What a backward pass left in some tensors of a model.

    Attributes:
        run: Name of the run whose checkpoint was loaded; empty for a fresh model.
        step: Optimizer steps that the model had learned; 0 for a fresh one.
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
    """Return gradients of a run's newest checkpoint, or of a fresh model; takes seconds.

    Raises:
        ValueError: If the run has no checkpoint, or the child fails.
    """
    if run is not None:
        newest_checkpoint(run)  # says so at once if there is none
    written = child_answer(
        "core.train.gradient_sample",
        [] if run is None else [str(run)],
        seconds=CHILD_SECONDS,
        too_late=_(
            "No gradients came within {seconds} s; try again when the machine is free."
        ).format(seconds=CHILD_SECONDS),
        failed=lambda reason: _("The gradients could not be computed: {reason}").format(
            reason=reason
        ),
    )
    return from_bytes(written)


def sample_here(run: Path | None = None) -> GradientSample:
    """Compute the gradients in this process; it imports torch.

    Raises:
        ValueError: If the run has no checkpoint.
    """
    import torch

    if run is None:
        torch.manual_seed(FRESH.seed)
        # The language reference is in Python's own library: the same text wherever this runs.
        dataset = build_dataset(FRESH)
        model = _model(FRESH, dataset)
        return _backward(model, FRESH, dataset, run="", step=0)
    path = newest_checkpoint(run)
    # weights_only: a pickle that wants to run code is refused
    contents: dict[str, Any] = torch.load(path, map_location="cpu", weights_only=True)
    config = TrainConfig.from_json(contents["config"])
    dataset = load_dataset(run / "data")
    model = _model(config, dataset)
    model.load_state_dict(contents["model"])
    return _backward(model, config, dataset, run=run.name, step=int(contents["step"]))


def _model(config: TrainConfig, dataset: Dataset) -> "GPT":
    from core.models.gpt import GPT

    return GPT(config.shape(dataset.tokenizer.vocab_size))


def _backward(
    model: "GPT", config: TrainConfig, dataset: Dataset, *, run: str, step: int
) -> GradientSample:
    """Do one forward and one backward pass on the batch of the next step."""
    hidden: dict[str, Tensor] = {}
    for number, block in enumerate(model.blocks):
        block.register_forward_hook(_keeper(hidden, f"{HIDDEN}{number}"))
    token_ids, targets = _batch(config, dataset, step + 1)
    loss = model(token_ids, targets)
    loss.backward()
    weights = {name: weight.grad for name, weight in model.named_parameters()}
    found = {**{name: each.grad for name, each in hidden.items()}, **weights}
    wanted = _names(config.num_layers)
    return GradientSample(
        run=run,
        step=step,
        loss=loss.item(),
        tensors={name: _thinned(found[name]) for name in wanted},
    )


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


def _batch(config: TrainConfig, dataset: Dataset, step: int) -> tuple["Tensor", "Tensor"]:
    """Return token ids and their successors, both (B, T)."""
    import torch

    tokens, count = dataset.training_tokens, min(config.batch_size, MAX_SEQUENCES)
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


def main() -> None:
    """Write the sample of a run, or of a fresh model, to stdout."""
    run = Path(sys.argv[1]) if len(sys.argv) > 1 else None
    sys.stdout.buffer.write(to_bytes(sample_here(run)))


if __name__ == "__main__":
    main()
