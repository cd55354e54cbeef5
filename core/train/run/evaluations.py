"""What runs scored on text that they do not learn from, and in what they differ."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Final

from core.train.config import TrainConfig, is_watched
from core.train.run.reader import RunReader
from core.train.run.shelf import read_label

# Settings that change what is written down of a run, or when, but not what it learns.
_BOOKKEEPING: Final = frozenset(
    {
        "name",
        "device",
        "eval_interval",
        "sample_interval",
        "sample_length",
        "checkpoint_interval",
        "memory_interval",
        "max_steps_per_second",
    }
)


@dataclass(frozen=True, kw_only=True, slots=True)
class Curve:
    """The validation losses of one run, in nats per token, at rising steps.

    `text` says which text and which tokens: losses of different ones cannot be compared. It is
    empty if nobody knows, of a loop of the reader's own.
    `rate_changes` were made by hand: the step, and the factor on the learning rate from it on.
    """

    run: str
    title: str
    steps: tuple[int, ...]
    losses: tuple[float, ...]
    settings: Mapping[str, Any] = field(default_factory=dict)
    text: tuple[str, ...] = ()
    rate_changes: tuple[tuple[int, float], ...] = ()

    @property
    def best(self) -> tuple[int, float] | None:
        """The step of the lowest loss, and that loss; None before the first evaluation."""
        if not self.losses:
            return None
        loss = min(self.losses)
        return self.steps[self.losses.index(loss)], loss


def validation_curve(directory: Path) -> Curve:
    """Return the run's evaluations; of the steps that a resume repeated, only its own."""
    reader = RunReader(directory)
    config, text = reader.info["config"], reader.info.get("text") or {}
    watched = is_watched(reader.info)
    by_step: dict[int, float] = {}
    changes: dict[int, float] = {}
    for event in reader.read_new().events:
        if event.get("op") == "set_learning_rate_multiplier" and event.get("accepted"):
            value = event.get("value")
            changes = {step: it for step, it in changes.items() if step < event["step"]}
            changes[event["step"]] = 1.0 if value is None else float(value)
        if event["kind"] == "eval" and event.get("validation_loss") is not None:
            step = event["step"]
            by_step = {known: by_step[known] for known in by_step if known < step}
            by_step[step] = float(event["validation_loss"])
    steps = tuple(by_step)
    return Curve(
        run=directory.name,
        title=read_label(directory).title or str(config.get("name", directory.name)),
        steps=steps,
        losses=tuple(by_step[step] for step in steps),
        settings=config if watched else _settings_in_use(config),
        text=() if watched else (str(text.get("sha256", "")), _tokens(config)),
        rate_changes=tuple(changes.items()),
    )


def _settings_in_use(config: Mapping[str, Any]) -> dict[str, Any]:
    """Return the config without the size of a BPE vocabulary that the run does not have.

    What a run of an earlier version could not be told is what it is without being told.
    """
    has_bpe = config.get("tokenizer") == "bpe"
    settings = asdict(TrainConfig()) | dict(config)
    return {name: value for name, value in settings.items() if has_bpe or name != "bpe_vocab_size"}


def _tokens(config: Mapping[str, Any]) -> str:
    """Return the tokenizer, and of BPE the size: a loss is counted in its tokens."""
    settings = _settings_in_use(config)
    return " ".join(
        str(settings[name]) for name in ("tokenizer", "bpe_vocab_size") if name in settings
    )


def are_comparable(curves: Sequence[Curve]) -> bool:
    """Say whether the losses are in the same tokens of the same text, as far as anybody knows."""
    texts = {curve.text for curve in curves}
    return len(curves) <= 1 or (len(texts) == 1 and () not in texts)


def differing_settings(curves: Sequence[Curve]) -> dict[str, list[Any]]:
    """Return the settings in which the runs differ: field of the config -> value of each run.

    What is not known of one of them is left out.
    """
    names = dict.fromkeys(name for curve in curves for name in curve.settings)
    values = {name: [curve.settings.get(name) for curve in curves] for name in names}
    return {
        name: each
        for name, each in values.items()
        if name not in _BOOKKEEPING
        and all(name in curve.settings for curve in curves)
        and any(value != each[0] for value in each)
    }
