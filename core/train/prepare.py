"""What can be said of a run before it starts, and the refusal of what cannot work."""

from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Final, cast

import psutil

from core.budget import Formula, Item
from core.budget.gpt import Precision, count_parameters, training_memory
from core.budget.item import item
from core.language import _
from core.train.config import TrainConfig
from core.train.corpora import check_text
from core.train.dataset import Dataset, build_dataset
from core.train.kept_timings import Timing
from core.train.presets import SHARE_OF_STEPS, START_UP_SECONDS, predicted_seconds
from core.train.timing import predicted_timing
from core.units import format_bytes

MEMORY_SHARE: Final = 0.8  # of the free memory that a run may be predicted to take

SECONDS = Formula("start_up + num_steps * seconds_per_step / share_of_steps")


@dataclass(frozen=True, kw_only=True, slots=True)
class Prepared:
    """What is known of a run before it starts.

    Attributes:
        config: As asked for.
        dataset: Its text, cut into tokens.
        parameters: Item in parameters.
        memory: Item in bytes, with a child for each category.
        timing: Speed of this config; None before this machine was ever timed.
        seconds: Item in seconds from the click to the last step; None without a timing.
        free_bytes: Memory that the device has to give.
    """

    config: TrainConfig
    dataset: Dataset
    parameters: Item
    memory: Item
    timing: Timing | None
    seconds: Item | None
    free_bytes: int


def prepare(config: TrainConfig, upload: bytes | None = None, upload_name: str = "") -> Prepared:
    """Return everything that can be said of a run before it starts; cheap enough for a slider.

    Raises:
        ValueError: If the text cannot be learnt from, or the run does not fit into free memory.
    """
    dataset = dataset_of(config.corpus, config.tokenizer, upload, upload_name)
    vocab_size = dataset.tokenizer.vocab_size
    check_text(dataset.text, len(dataset.tokens), vocab_size, config.seq_len)
    timing = predicted_timing(config, vocab_size)
    shape = config.shape(vocab_size)
    memory = training_memory(shape, config.batch_size, _memory_precision(config, timing))
    prepared = Prepared(
        config=config,
        dataset=dataset,
        parameters=count_parameters(shape),
        memory=memory,
        timing=timing,
        seconds=seconds_item(config, timing) if timing else None,
        free_bytes=_free_bytes(timing),
    )
    _refuse_if_too_large(prepared)
    return prepared


def seconds_item(config: TrainConfig, timing: Timing) -> Item:
    """Return the predicted seconds from the click to the last step."""
    values = {
        "start_up": START_UP_SECONDS,
        "num_steps": config.num_steps,
        "seconds_per_step": timing.seconds_per_step,
        "share_of_steps": SHARE_OF_STEPS,
    }
    if config.max_steps_per_second:
        governed = 1 / config.max_steps_per_second
        values["seconds_per_step"] = max(timing.seconds_per_step, governed)
    predicted = item(
        "seconds",
        SECONDS,
        values,
        unit="s",
        kind="estimated",
        source=_source(timing),
    )
    return replace(
        predicted,
        low=predicted_seconds(config, timing.fastest_seconds),
        high=predicted_seconds(config, timing.slowest_seconds),
    )


@lru_cache(maxsize=4)
def dataset_of(corpus: str, tokenizer: str, upload: bytes | None, upload_name: str) -> Dataset:
    """Return a text cut into tokens; the last few are kept.

    Raises:
        ValueError: If there is no such text, or the upload is not one.
    """
    config = TrainConfig.from_json({"corpus": corpus, "tokenizer": tokenizer, "seq_len": 8})
    return build_dataset(config, upload, upload_name)


def _memory_precision(config: TrainConfig, timing: Timing | None) -> Precision:
    """Return the precision to count bytes for; unresolved "auto" counts as fp32, the larger."""
    chosen: str = config.precision
    if chosen == "auto":
        chosen = timing.precision if timing else "fp32"
    return cast("Precision", chosen)


def _source(timing: Timing) -> str:
    if timing.num_steps_timed:
        text = _("{count} steps timed on {device}")
    else:
        text = _("scaled by FLOPs from configs timed on {device}")
    return text.format(count=timing.num_steps_timed, device=timing.device_name)


def _free_bytes(timing: Timing | None) -> int:
    if timing and timing.device_bytes:
        return timing.device_bytes
    return int(psutil.virtual_memory().available)


def _refuse_if_too_large(prepared: Prepared) -> None:
    allowed = int(prepared.free_bytes * MEMORY_SHARE)
    needed = prepared.memory.num_bytes
    if needed > allowed:
        raise ValueError(
            _(
                "This run needs {needed} by prediction, and {allowed} of the {free} of free "
                "memory may be used. Choose a smaller batch, context or model."
            ).format(
                needed=format_bytes(needed),
                allowed=format_bytes(allowed),
                free=format_bytes(prepared.free_bytes),
            )
        )
