"""From a wish to a plan: which model, how many steps, what they cost; refusing what cannot work."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any, Final, cast

import psutil

from core.budget import Formula, Item
from core.budget.by_hand.gpt import Precision, count_parameters, training_memory
from core.budget.by_hand.peak import step_peak
from core.budget.item import item
from core.language import _
from core.machine import Device, cached_probe, describe_machine
from core.train.config import TrainConfig
from core.train.start.presets import (
    SHARE_OF_STEPS,
    START_UP_SECONDS,
    find_duration,
    fit_steps,
    governed,
    is_ended_by_time,
    predicted_seconds,
    preset_config,
    with_steps,
)
from core.train.start.timing import Timing, predicted_timing
from core.train.text.corpora import check_text
from core.train.text.dataset import Dataset, dataset_of
from core.units import format_bytes

MEMORY_SHARE: Final = 0.8  # of the free memory that a run may be predicted to take
SECONDS = Formula("start_up + num_steps * seconds_per_step / share_of_steps")
SECONDS_ENDED_BY_TIME = Formula("start_up + max_seconds * seconds_per_step / own_seconds_per_step")
INTERVALS: Final = (
    "warmup_steps",
    "eval_interval",
    "sample_interval",
    "checkpoint_interval",
    "memory_interval",
)
_TRAINING_KINDS: Final = {"cuda": "cuda", "rocm": "cuda", "mps": "mps", "cpu": "cpu"}
_NOTHING: Final[Mapping[str, Any]] = MappingProxyType({})


@dataclass(frozen=True, kw_only=True, slots=True)
class Wish:
    """What a reader asks for before a run.

    Attributes:
        duration: Key of a row of `DURATIONS`.
        size: Key of a row of `SIZES`; empty for the one that suits duration and device.
        changes: Fields of `TrainConfig` that differ from the preset. With `num_steps` among them
            the run takes that many steps, however long they last; else the duration ends it.
        upload: The bytes of an uploaded text, for corpus "upload".
    """

    duration: str = "one_minute"
    size: str = ""
    changes: Mapping[str, Any] = field(default_factory=lambda: _NOTHING)
    upload: bytes | None = field(default=None, repr=False)
    upload_name: str = ""


@dataclass(frozen=True, kw_only=True, slots=True)
class Outline:
    """What is true of a run on any machine: of its text the losses in nats of who only counts."""

    config: TrainConfig
    parameters: Item
    vocab_size: int
    ln_vocab: float
    unigram_entropy: float


@dataclass(frozen=True, kw_only=True, slots=True)
class Prepared:
    """What is known of a run before it starts; timing and seconds where this machine was timed.

    `free_bytes` is the memory that the device has to give: what is free, of a GPU all it has.
    """

    config: TrainConfig
    dataset: Dataset
    parameters: Item
    memory: Item
    timing: Timing | None
    seconds: Item | None
    free_bytes: int


def outline_run(wish: Wish) -> Outline:
    """Return what is true of the wished run on any machine, also where it would not fit."""
    config = wished_config(wish)
    dataset = dataset_of(config, wish.upload, wish.upload_name)
    vocab_size = dataset.tokenizer.vocab_size
    return Outline(
        config=config,
        parameters=count_parameters(config.sizes(vocab_size)),
        vocab_size=vocab_size,
        ln_vocab=dataset.entropy.uniform,
        unigram_entropy=dataset.entropy.unigram,
    )


def plan_run(wish: Wish) -> Prepared:
    """Return the run that fulfils the wish and all that is predicted of it; cheap.

    Before this machine was ever timed, the number of steps is that of the preset.

    Raises:
        ValueError: If the settings, the text or the memory forbid it.
    """
    config = wished_config(wish)
    dataset = dataset_of(config, wish.upload, wish.upload_name)
    prepared = predict_run(config, dataset)
    if prepared.timing is None or "num_steps" in wish.changes:
        return prepared
    seconds = find_duration(wish.duration).seconds
    fitted = fit_steps(config, seconds, prepared.timing.seconds_per_step)
    return predict_run(_with_wished_intervals(fitted, wish), dataset)


def prepare(config: TrainConfig) -> Prepared:
    """Return everything that can be said of a run before it starts."""
    return predict_run(config, dataset_of(config))


def predict_run(config: TrainConfig, dataset: Dataset) -> Prepared:
    """Return what can be said now of a run on a text in tokens; cheap enough for a slider.

    Raises:
        ValueError: If the text is too short, or the run does not fit into free memory.
    """
    vocab_size = dataset.tokenizer.vocab_size
    check_text(dataset.text, len(dataset.tokens), vocab_size, config.seq_len)
    timing = predicted_timing(config, vocab_size)
    resolved, num_tokens = timing.precision if timing else "fp32", len(dataset.tokens)
    memory, peak = bytes_of(config, vocab_size, resolved, num_tokens)
    free_bytes = _free_bytes(timing)
    _refuse_if_too_large(max(memory.num_bytes, peak.num_bytes), free_bytes, timing)
    return Prepared(
        config=config,
        dataset=dataset,
        parameters=count_parameters(config.sizes(vocab_size)),
        memory=memory,
        timing=timing,
        seconds=seconds_item(config, timing) if timing else None,
        free_bytes=free_bytes,
    )


def wished_config(wish: Wish) -> TrainConfig:
    """Return the preset with the wish's changes; the cosine ends at a tenth of its peak."""
    changes = dict(wish.changes)
    if "learning_rate" in changes:
        changes.setdefault("min_learning_rate", changes["learning_rate"] / 10)
    if "num_steps" in changes:
        changes.setdefault("max_seconds", None)
    config = replace(preset_of(wish), **changes)
    return _with_wished_intervals(with_steps(config, config.num_steps), wish)


def _with_wished_intervals(config: TrainConfig, wish: Wish) -> TrainConfig:
    return replace(
        config, **{name: wish.changes[name] for name in INTERVALS if name in wish.changes}
    )


def preset_of(wish: Wish) -> TrainConfig:
    """Return the preset that the wish starts from."""
    return preset_config(wish.duration, device_in_use()[0], wish.size)


def device_in_use() -> tuple[str, str]:
    """Return kind and name of the device that a run will use, as far as known without torch.

    The kind is "cuda", "mps" or "cpu": torch calls AMD's cards CUDA too, and Intel's are not
    trained on.
    """
    probe = cached_probe()
    if probe is None:
        return "cpu", describe_machine().processor
    able = [device for device in probe.devices if _can_train_on(device)]
    best = next((device for device in able if device.kind != "cpu"), able[0])
    return _TRAINING_KINDS[best.kind], best.name


def _can_train_on(device: Device) -> bool:
    """Say whether torch computes there; a card may be found for which its build has no kernels."""
    tried = [dtype.works for dtype in device.dtypes if dtype.name == "float32"]
    return device.kind == "cpu" or (device.kind in _TRAINING_KINDS and all(tried))


def seconds_item(config: TrainConfig, timing: Timing) -> Item:
    """Return the predicted seconds from the click to the last step."""
    if timing.num_steps_timed:
        source = _("{count} steps timed on {device}")
    else:
        source = _("scaled by FLOPs from configs timed on {device}")
    rule, values = _rule_of_seconds(config, timing.seconds_per_step)
    predicted = item(
        "seconds",
        rule,
        values,
        unit="s",
        kind="estimated",
        source=source.format(count=timing.num_steps_timed, device=timing.device_name),
    )
    spread = [
        predicted_seconds(config, seconds)
        for seconds in (timing.fastest_seconds, timing.seconds_per_step, timing.slowest_seconds)
    ]
    return replace(predicted, low=min(spread), high=max(spread))


def _rule_of_seconds(
    config: TrainConfig, seconds_per_step: float
) -> tuple[Formula, dict[str, Any]]:
    """Return the formula of `predicted_seconds` and its numbers: by the steps or by the time."""
    values: dict[str, Any] = {
        "start_up": START_UP_SECONDS,
        "seconds_per_step": governed(config, seconds_per_step),
    }
    if is_ended_by_time(config, seconds_per_step):
        limit = {"max_seconds": config.max_seconds, "own_seconds_per_step": seconds_per_step}
        return SECONDS_ENDED_BY_TIME, values | limit
    return SECONDS, values | {"num_steps": config.num_steps, "share_of_steps": SHARE_OF_STEPS}


def bytes_of(
    config: TrainConfig, vocab_size: int, resolved: str, num_text_tokens: int = 0
) -> tuple[Item, Item]:
    """Return a run's bytes by category, and the most that a step and its text hold at one time.

    `resolved` is what "auto" comes to; before that is known fp32 is the larger.
    """
    precision = cast("Precision", resolved if config.precision == "auto" else config.precision)
    step = (config.sizes(vocab_size), config.batch_size, precision)
    rows: dict[str, Any] = {
        "optimizer_name": config.optimizer,
        "checkpointing": config.checkpointing,
        "dropout": config.dropout > 0,
    }
    peak = step_peak(*step, num_text_tokens=num_text_tokens, **rows)
    return training_memory(*step, **rows), peak


def _free_bytes(timing: Timing | None) -> int:
    if timing and timing.device_bytes:
        return timing.device_bytes
    return int(psutil.virtual_memory().available)


def _refuse_if_too_large(needed: int, free_bytes: int, timing: Timing | None) -> None:
    allowed = int(free_bytes * MEMORY_SHARE)
    if needed <= allowed:
        return
    if timing and timing.device_bytes:
        message = _(
            "This run needs {needed} by prediction, and {allowed} of the {free} of the GPU's "
            "memory may be used. Choose a smaller batch, context or model."
        )
    else:
        message = _(
            "This run needs {needed} by prediction, and {allowed} of the {free} of free "
            "memory may be used. Choose a smaller batch, context or model."
        )
    sizes = {"needed": needed, "allowed": allowed, "free": free_bytes}
    raise ValueError(message.format(**{name: format_bytes(it) for name, it in sizes.items()}))
