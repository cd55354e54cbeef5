"""A fork: a new run that goes on from a checkpoint of another one, with a few settings changed."""

import shutil
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, Final

from core.language import _
from core.train.config import TrainConfig, config_of_run
from core.train.learning.tensors import read_checkpoint
from core.train.run.directory import (
    PARENT_FILE,
    checkpoint_step,
    checkpoints,
    read_info,
    runs_directory,
    section,
)
from core.train.run.disk import storage_error
from core.train.start.launch import create_run, launch, timing_for
from core.train.start.plan import Prepared, predict_run
from core.train.start.timing import Timing
from core.train.text.dataset import build_dataset, load_dataset

# What the weights, their tokens and the order of the data are made of.
STRUCTURE: Final = (
    *("tokenizer", "bpe_vocab_size", "num_layers", "hidden_dim", "num_heads", "num_kv_heads"),
    *("seq_len", "family", "seed"),
)


@dataclass(frozen=True, kw_only=True, slots=True)
class Parent:
    """A checkpoint to fork from.

    Attributes:
        config: Of its run; the precision is what "auto" came to.
        trained_seconds: That its run had trained by then.
    """

    run: Path
    checkpoint: Path
    config: TrainConfig
    trained_seconds: float

    @property
    def step(self) -> int:
        """The steps that are done."""
        return checkpoint_step(self.checkpoint)

    def to_json(self) -> dict[str, Any]:
        """Return what run.json of a fork says of its parent."""
        seconds = self.trained_seconds
        return {"run": self.run.name, "step": self.step, "trained_seconds": seconds}


def find_parent(run: Path, step: int | None = None) -> Parent:
    """Return the checkpoint of a step, or the newest.

    Raises:
        ValueError: The run has none of that step, or its file cannot be read.
    """
    steps = {checkpoint_step(path): path for path in checkpoints(run)}
    if not steps:
        config_of_run(read_info(run))  # refuses a loop that will never have one
        message = _("Run {run} has no checkpoint yet; wait for its first one.")
        raise ValueError(message.format(run=run.name))
    chosen = max(steps) if step is None else step
    if chosen not in steps:
        message = _("The weights of step {step} were not kept; choose one of {steps}.")
        raise ValueError(message.format(step=chosen, steps=_(", ").join(map(str, steps))))
    contents = read_checkpoint(steps[chosen])
    resolved = section(read_info(run), "resolved", run)
    config = TrainConfig.from_json({**contents["config"], "device": resolved["device"]})
    seconds = float(contents.get("trained_seconds", 0.0))
    return Parent(run=run, checkpoint=steps[chosen], config=config, trained_seconds=seconds)


def fork_config(parent: Parent, changes: Mapping[str, Any]) -> TrainConfig:
    """Return the parent's config with the changes.

    Raises:
        ValueError: A change is one that its weights do not allow, or leaves nothing to train.
    """
    config = TrainConfig.from_json({**parent.config.to_json(), **changes})
    different = [
        name for name in STRUCTURE if getattr(config, name) != getattr(parent.config, name)
    ]
    if parent.config.lora_rank not in (0, config.lora_rank):
        different.append("lora_rank")
    if different:
        message = _(
            "A fork goes on with its parent's weights and data, so it cannot change {names}: leave "
            "that out, or start a new run."
        )
        raise ValueError(message.format(names=_(", ").join(different)))
    if config.lora_rank and config.family != "gpt":
        message = _("LoRA adapters are made for the family GPT here; fork with lora_rank=0.")
        raise ValueError(message)
    if config.lora_rank > config.hidden_dim:
        message = _(
            "lora_rank is {rank}, and the matrices are {width} wide; choose from 1 to {width}."
        )
        raise ValueError(message.format(rank=config.lora_rank, width=config.hidden_dim))
    _refuse_if_done(parent, config)
    return config


def _refuse_if_done(parent: Parent, config: TrainConfig) -> None:
    if config.num_steps <= parent.step:
        message = _(
            "Step {step} of {num_steps} is done already, so nothing is left to train: set "
            "num_steps above {step}."
        )
        raise ValueError(message.format(step=parent.step, num_steps=config.num_steps))
    if config.max_seconds is not None and config.max_seconds <= parent.trained_seconds:
        message = _(
            "The run had trained {seconds:.0f} s by step {step}, and max_seconds is {limit:.0f}: "
            "set it higher, or to none and let num_steps end the fork."
        )
        told = {"step": parent.step, "seconds": parent.trained_seconds}
        raise ValueError(message.format(**told, limit=config.max_seconds))


def prepare_fork(
    parent: Parent, changes: Mapping[str, Any], upload: bytes | None = None, upload_name: str = ""
) -> Prepared:
    """Return what can be said of a fork before it starts: its settings, text, bytes and seconds.

    It learns from the parent's own text, or from another one in the parent's tokens.

    Raises:
        ValueError: The weights do not allow a change, or the text has characters that the parent's
            tokenizer does not know.
    """
    config, dataset = fork_config(parent, changes), load_dataset(parent.run / "data")
    if upload is not None or config.corpus != parent.config.corpus:
        dataset = build_dataset(config, upload, upload_name, tokenizer=dataset.tokenizer)
    return predict_run(config, dataset)


def start_fork(
    parent: Parent, prepared: Prepared, *, runs_dir: Path | None = None, wait: bool = False
) -> Path:
    """Make the fork's run directory and start its worker; return the directory.

    Raises:
        DeviceBusyError: If the device is taken.
        TimingError: If the device cannot be timed.
        RunStorageError: If the directory cannot be written to.
    """
    timing = timing_for(prepared, wait=wait)
    begin = partial(write_fork, parent, prepared, timing, runs_dir or runs_directory())
    return launch(begin, timing.device, prepared.config.gpu, wait=wait)


def write_fork(parent: Parent, prepared: Prepared, timing: Timing, runs_dir: Path) -> Path:
    """Write the fork's run directory, ready for its worker; return it."""
    # Where its parent says "auto" the fork does too: they differ in what was changed, not in that.
    asked = read_info(parent.run)["config"]
    kept = {
        name: asked.get(name, "auto")
        for name in ("precision", "device")
        if getattr(prepared.config, name) == getattr(parent.config, name)
    }
    prepared = replace(prepared, config=replace(prepared.config, **kept))
    directory = create_run(prepared, timing, runs_dir, parent=parent.to_json())
    try:
        shutil.copyfile(parent.checkpoint, directory / PARENT_FILE)
    except OSError as error:  # the parent may train on and have let go of this checkpoint
        shutil.rmtree(directory, ignore_errors=True)
        raise storage_error(parent.checkpoint, error) from error
    return directory
