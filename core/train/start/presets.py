"""Durations and sizes to start from: a row each."""

import itertools
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Final, cast

from core.language import N_, _
from core.train.config import TrainConfig

START_UP_SECONDS: Final = 6.0  # a fresh process imports torch and tokenizes the text (measured)
SHARE_OF_STEPS: Final = 0.85  # the rest goes to evaluation, samples and checkpoints (measured)


@dataclass(frozen=True, kw_only=True, slots=True)
class Duration:
    """How long a run may take, and the model that uses the time best on each kind of device."""

    key: str
    seconds: float
    label: str
    cpu_size: str
    gpu_size: str


def _shape(*values: float) -> dict[str, int | float]:
    names = ("num_layers", "hidden_dim", "num_heads", "seq_len", "batch_size", "learning_rate")
    return dict(zip(names, values, strict=True))


# The parameters for a vocabulary of about a hundred tokens, as people say it -> the settings.
SIZES: Final[Mapping[str, Mapping[str, int | float]]] = {
    # The smallest shape that writes words within a minute on two CPU cores.
    "110k": _shape(2, 64, 4, 64, 16, 5e-3),
    # nanoGPT's CPU recipe, first at three quarters of its width.
    "0.5M": _shape(4, 96, 4, 64, 12, 3e-3),
    "0.8M": _shape(4, 128, 4, 64, 12, 2e-3),
    # Between nanoGPT's two recipes: the layers of one, the head width of the other.
    "3.2M": _shape(4, 256, 4, 128, 32, 1.5e-3),
    # nanoGPT's character-level recipe.
    "10.7M": _shape(6, 384, 6, 256, 64, 1e-3),
    # Between that one and GPT-2 small, heads of 64 as in both.
    "25M": _shape(8, 512, 8, 256, 64, 8e-4),
    # GPT-2 small, Radford et al. 2019, with our tokenizers' vocabulary.
    "124M": _shape(12, 768, 12, 1024, 12, 6e-4),
}

DURATIONS: Final = (
    Duration(
        key="one_minute", seconds=60, label=N_("One minute"), cpu_size="110k", gpu_size="0.8M"
    ),
    Duration(
        key="ten_minutes", seconds=600, label=N_("Ten minutes"), cpu_size="0.8M", gpu_size="10.7M"
    ),
    Duration(
        key="class_hour", seconds=2700, label=N_("A class hour"), cpu_size="0.8M", gpu_size="10.7M"
    ),
)


def find_size(key: str) -> Mapping[str, int | float]:
    """Return the settings of the reference model of that name; a ValueError if there is none."""
    if key in SIZES:
        return SIZES[key]
    known = _(", ").join(SIZES)
    raise ValueError(
        _("There is no model size {key!r}; choose {known}.").format(key=key, known=known)
    )


def find_duration(key: str) -> Duration:
    """Return the duration of that name; hyphens count as underscores."""
    by_key = {duration.key: duration for duration in DURATIONS}
    if found := by_key.get(key.replace("-", "_")):
        return found
    known = _(", ").join(by_key)
    raise ValueError(_("There is no preset {key!r}; choose {known}.").format(key=key, known=known))


def preset_config(duration_key: str, device_kind: str = "cpu", size_key: str = "") -> TrainConfig:
    """Return a config for a duration, which ends it whatever the machine does.

    `num_steps` is set once the device has been timed.

    `device_kind`: "cpu" takes the duration's CPU size, anything else its GPU size.
    `size_key`: key of a row of `SIZES` to use instead.
    """
    duration = find_duration(duration_key)
    chosen = size_key or (duration.cpu_size if device_kind == "cpu" else duration.gpu_size)
    size = find_size(chosen)
    ends = {"min_learning_rate": size["learning_rate"] / 10, "max_seconds": duration.seconds}
    return TrainConfig.from_json({"name": _preset_name(duration, chosen), **size, **ends})


def _preset_name(duration: Duration, size: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", f"{duration.key}-{size}".lower())


def preset_title(name: str, translate: Callable[[str], str] = _) -> str:
    """Return the name of a preset's config in the reader's words; any other name as it is.

    `translate` gives the words of one language instead, whoever reads.

    >>> preset_title("one-minute-0-8m"), preset_title("my own")
    ('One minute, 0.8M', 'my own')
    """
    for duration, size in itertools.product(DURATIONS, SIZES):
        if name == _preset_name(duration, size):
            return f"{translate(duration.label)}, {size}"
    return name


def fit_steps(config: TrainConfig, seconds: float, seconds_per_step: float) -> TrainConfig:
    """Return the config with the steps that fit into `seconds`, and intervals that suit them."""
    usable = max(seconds - START_UP_SECONDS, 1.0) * SHARE_OF_STEPS
    return with_steps(config, max(int(usable / governed(config, seconds_per_step)), 10))


def with_steps(config: TrainConfig, num_steps: int) -> TrainConfig:
    """Return the config for `num_steps`, about 40 evaluations and 20 samples over the run."""
    return replace(
        config,
        num_steps=num_steps,
        warmup_steps=min(100, num_steps // 10),
        eval_interval=max(num_steps // 40, 1),
        sample_interval=max(num_steps // 20, 1),
        checkpoint_interval=max(num_steps // 10, 1),
        memory_interval=max(num_steps // 100, 1),
    )


def predicted_seconds(config: TrainConfig, seconds_per_step: float) -> float:
    """Return the seconds from the click to the last step; the inverse of `fit_steps`."""
    step = governed(config, seconds_per_step)
    if is_ended_by_time(config, seconds_per_step):
        # Only the machine's own time counts, not that in which the governor holds it back.
        return START_UP_SECONDS + cast("float", config.max_seconds) * step / seconds_per_step
    return START_UP_SECONDS + config.num_steps * step / SHARE_OF_STEPS


def is_ended_by_time(config: TrainConfig, seconds_per_step: float) -> bool:
    """Say whether the time limit will end the run before its last step."""
    limit = config.max_seconds
    return limit is not None and limit < config.num_steps * seconds_per_step / SHARE_OF_STEPS


def governed(config: TrainConfig, seconds_per_step: float) -> float:
    """Return the seconds of a step when the config's governor may hold it back."""
    limit = config.max_steps_per_second
    return max(seconds_per_step, 1 / limit) if limit else seconds_per_step
