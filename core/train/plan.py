"""From a wish to a plan: which model, how many steps, what they will cost."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any, Final

from core.budget import Item
from core.budget.gpt import count_parameters
from core.machine import cached_probe, describe_machine
from core.train.config import TrainConfig
from core.train.kept_timings import Timing
from core.train.prepare import Prepared, dataset_of, prepare
from core.train.presets import find_duration, fit_steps, preset_config, with_steps

INTERVALS: Final = (
    "warmup_steps",
    "eval_interval",
    "sample_interval",
    "checkpoint_interval",
    "memory_interval",
)
_NOTHING: Final[Mapping[str, Any]] = MappingProxyType({})


@dataclass(frozen=True, kw_only=True, slots=True)
class Wish:
    """What a reader asks for before a run.

    Attributes:
        duration: Key of a row of `DURATIONS`.
        size: Key of a row of `SIZES`; empty for the one that suits duration and device.
        changes: Fields of `TrainConfig` that differ from the preset. With `num_steps` among them
            the run takes that many steps, however long they last.
        upload: The bytes of an uploaded text, for corpus "upload".
        upload_name: Its file name.
    """

    duration: str = "one_minute"
    size: str = ""
    changes: Mapping[str, Any] = field(default_factory=lambda: _NOTHING)
    upload: bytes | None = field(default=None, repr=False)
    upload_name: str = ""


def preset_of(wish: Wish) -> TrainConfig:
    """Return the preset that the wish starts from."""
    return preset_config(wish.duration, device_in_use()[0], wish.size)


def device_in_use() -> tuple[str, str]:
    """Return kind and name of the device that a run will use, as far as known without torch."""
    probe = cached_probe()
    if probe is None:
        return "cpu", describe_machine().processor
    return probe.best_device.kind, probe.best_device.name


@dataclass(frozen=True, kw_only=True, slots=True)
class Outline:
    """What is true of a run on any machine.

    Attributes:
        config: Its settings.
        parameters: Item in parameters.
        vocab_size: Different tokens of the text, V.
        ln_vocab: Loss of a model that guesses uniformly, in nats per token.
        unigram_entropy: Loss of a model that knows the token frequencies only.
    """

    config: TrainConfig
    parameters: Item
    vocab_size: int
    ln_vocab: float
    unigram_entropy: float


def outline_run(wish: Wish) -> Outline:
    """Return what is true of the wished run on any machine, also where it would not fit.

    Raises:
        ValueError: If the settings or the text forbid it.
    """
    config = wished_config(wish)
    dataset = dataset_of(config.corpus, config.tokenizer, wish.upload, wish.upload_name)
    vocab_size = dataset.tokenizer.vocab_size
    return Outline(
        config=config,
        parameters=count_parameters(config.shape(vocab_size)),
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
    prepared = prepare(config, wish.upload, wish.upload_name)
    if prepared.timing is None:
        return prepared
    return prepare(_fitted(config, wish, prepared.timing), wish.upload, wish.upload_name)


def wished_config(wish: Wish) -> TrainConfig:
    """Return the preset with the wish's changes; the cosine ends at a tenth of its peak."""
    changes = dict(wish.changes)
    if "learning_rate" in changes:
        changes.setdefault("min_learning_rate", changes["learning_rate"] / 10)
    config = replace(preset_of(wish), **changes)
    fixed = {name: changes[name] for name in INTERVALS if name in changes}
    return replace(with_steps(config, config.num_steps), **fixed)


def _fitted(config: TrainConfig, wish: Wish, timing: Timing) -> TrainConfig:
    """Return the config with the steps that fit the duration, unless their number is wished."""
    if "num_steps" in wish.changes:
        return config
    seconds = find_duration(wish.duration).seconds
    fixed = {name: wish.changes[name] for name in INTERVALS if name in wish.changes}
    return replace(fit_steps(config, seconds, timing.seconds_per_step), **fixed)
