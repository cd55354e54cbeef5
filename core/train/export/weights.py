"""The weights of a checkpoint as safetensors: a file that holds numbers and no code."""

import json
from pathlib import Path

from core.train.config import TrainConfig
from core.train.learning.lora import merged
from core.train.learning.tensors import read_checkpoint
from core.train.run.disk import write_atomically


def weights_as_safetensors(run: Path, checkpoint: Path) -> bytes:
    """Return a checkpoint's weights; its metadata say step, settings and tokenizer.

    The head shares its matrix with the token embedding, which stands there once. LoRA adapters are
    added to the matrices beside which they were trained.

    Raises:
        ValueError: The checkpoint cannot be read.
    """
    from safetensors.torch import save

    contents = read_checkpoint(checkpoint)
    config = TrainConfig.from_json(contents["config"])
    state = merged(contents["model"]) if config.lora_rank else dict(contents["model"])
    state.pop("head.weight")  # tied
    vocabulary = (run / "data" / "vocabulary.json").read_text(encoding="utf-8")
    facts = {
        "format": "pt",
        "step": str(contents["step"]),
        "config": json.dumps(config.to_json()),
        "tied": "head.weight = tokens.weight",
        "vocabulary": vocabulary,
    }
    return save({name: each.contiguous() for name, each in state.items()}, metadata=facts)


def write_safetensors(run: Path, checkpoint: Path, target: Path) -> int:
    """Write a checkpoint's weights into a file; return its bytes.

    Raises:
        RunStorageError: The file cannot be written to.
    """
    content = weights_as_safetensors(run, checkpoint)
    write_atomically(target, content)
    return len(content)
