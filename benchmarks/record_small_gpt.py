"""Train the small GPT that comes with the app again, and write its recording.

python -m benchmarks.record_small_gpt        # minutes on two cores; then commit the file
"""

import sys
from dataclasses import replace
from pathlib import Path
from typing import Final

import torch

from core.train.config import TrainConfig
from core.train.learning.recording import SMALL_GPT, Recording, rounded, to_bytes
from core.train.learning.sampler import Sampler
from core.train.learning.schedule import milestone_steps
from core.train.learning.trainer import Trainer
from core.train.start.presets import preset_config, with_steps
from core.train.text.dataset import Dataset, build_dataset
from core.train.text.tokenizers import CharacterTokenizer

NUM_STEPS: Final = 8000
TEXT_CHARACTERS: Final = 8193  # 128 contexts of 64 tokens, and the token after the last


def small_config(num_steps: int = NUM_STEPS) -> TrainConfig:
    """Return the one-minute preset of a CPU, with as many steps as make words."""
    config = with_steps(preset_config("one_minute"), num_steps)
    return replace(config, name="small-gpt", precision="fp32", device="cpu", max_seconds=None)


def record(config: TrainConfig, dataset: Dataset) -> Recording:
    """Train and return what the model was at its milestones; tells each one on stderr."""
    tokenizer = CharacterTokenizer.of(dataset.text)
    trainer = Trainer.of(config, dataset, torch.device("cpu"))
    sampler = Sampler(dataset.text, tokenizer, dataset.prompt, config.seed, "fp32")
    weights, losses = {}, {}
    for step in milestone_steps(config.num_steps):
        while trainer.step < step:
            trainer.train_step()
        weights[step] = rounded(trainer.model.state_dict())
        losses[step] = trainer.validation_loss()
        written = sampler.sample(trainer.model, config.sample_length).text
        sys.stderr.write(f"step {step}: loss {losses[step]:.3f}, writes {written!r}\n")
    return Recording(
        config=config,
        tokenizer=tokenizer,
        prompt=dataset.prompt,
        text=dataset.text[-len(dataset.validation_tokens) :][:TEXT_CHARACTERS],
        losses=losses,
        weights=weights,
    )


def main(path: Path = SMALL_GPT) -> None:
    """Write the recording."""
    config = small_config()
    written = to_bytes(record(config, build_dataset(config)))
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(written)
    sys.stderr.write(f"{path.name}: {len(written):,} bytes\n")


if __name__ == "__main__":
    main()
