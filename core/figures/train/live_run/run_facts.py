"""What a live run looks like right now, in words: facts for status lines, tables and alt texts.

The browser refreshes the same sentences from the same templates while the run goes on.
"""

import math
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from core.language import N_, _
from core.units import (
    ByteUnit,
    format_bytes,
    format_exact,
    format_flops_per_second,
    format_percent,
    format_rate,
)

CATEGORY_NAMES: Final = {
    "weights": N_("weights"),
    "gradients": N_("gradients"),
    "optimizer": N_("optimizer state"),
    "activations": N_("activations"),
    "other": N_("other"),
}
CATEGORIES: Final = tuple(CATEGORY_NAMES)
# What a GPU tells beside them, in the fields of the memory event; each is shown if it is there.
AROUND: Final = (
    "reserved_bytes",
    "context_bytes",
    "other_bytes",
    "context_and_other_bytes",
    "total_bytes",
)
SOURCES: Final = {
    "allocator": N_("allocator"),
    "tensors": N_("watched tensors"),
    "data sheet": N_("data sheet"),
    "claimed": N_("no data sheet: recalled or by ratio"),
    "measured": N_("measured matmul"),
}
PEAK_OF_MEMORY: Final = N_("{amount} ({source})")
SHARE_OF_PEAK: Final = N_("{share} of {peak} ({source})")
MISSING: Final = "–"
LOSS: Final = "{:.3f}".format  # as losses and gradient norms are written

ALTS: Final = {
    "loss": N_(
        "Loss against training step. At step {step} of {num_steps} the training loss is {loss} "
        "and the last validation loss {validation_loss}. For comparison: uniform guess {ln_vocab}, "
        "unigram entropy {unigram_entropy}, bigram entropy {bigram_entropy}."
    ),
    "learning_rate": N_(
        "Learning rate against training step. At step {step} it is {learning_rate}; "
        "changes of the multiplier so far: {num_changes}."
    ),
    "grad_norm": N_(
        "Gradient norm against training step. At step {step} it is {grad_norm}; "
        "larger ones are clipped to {grad_clip}."
    ),
    "tokens_per_second": N_(
        "Training speed against training step. At step {step} it is {tokens_per_second}, over all "
        "steps {mean_rate}; predicted were {predicted_rate}."
    ),
    "memory": N_(
        "{memory} by category against training step: weights {weights}, gradients {gradients}, "
        "optimizer state {optimizer}, activations {activations}, other {other}; "
        "peak {peak}, predicted in all {predicted}. "
        "The whole process holds {resident_bytes} of the host's memory."
    ),
}


@dataclass(frozen=True, kw_only=True, slots=True)
class RunView:
    """A run as its pictures see it; the default is a run that has not begun.

    Attributes:
        columns: The columns of metrics.bin, one value a step, missing values as None.
        events: The events of events.jsonl, oldest first.
        info: run.json.
    """

    columns: Mapping[str, Sequence[Any]] = field(default_factory=dict)
    events: Sequence[Mapping[str, Any]] = ()
    info: Mapping[str, Any] = field(default_factory=dict)

    def column(self, name: str) -> list[Any]:
        """Return one column as a list, empty before the first step."""
        return [_finite(value) for value in self.columns.get(name, ())]

    def events_of(self, kind: str) -> list[Mapping[str, Any]]:
        """Return the events of one kind, oldest first."""
        return [event for event in self.events if event["kind"] == kind]

    def newest_of(self, kind: str) -> list[Mapping[str, Any]]:
        """Return the events of one kind by rising step, without what a later attempt did again."""
        kept: list[Mapping[str, Any]] = []
        for event in self.events_of(kind):
            while kept and kept[-1]["step"] >= event["step"]:
                kept.pop()
            kept.append(event)
        return kept

    def section(self, name: str) -> Mapping[str, Any]:
        """Return one section of run.json, empty before the run has begun."""
        return self.info.get(name) or {}

    @property
    def on_gpu(self) -> bool:
        """Whether it trains in a memory that is not the host's."""
        return self.section("resolved").get("device") == "cuda"


def multiplier_changes(run: RunView) -> list[tuple[int, float]]:
    """Return (step, multiplier) for every change of the learning rate that took effect."""
    return [
        (event["step"], event["value"])
        for event in run.events_of("ack")
        if event["op"] == "set_learning_rate_multiplier" and event["accepted"]
    ]


def predicted_tokens_per_second(run: RunView) -> float | None:
    """Return the speed that the timing before the start promised."""
    seconds = run.section("prediction").get("seconds_per_step")
    return float(tokens_per_step(run) / seconds) if seconds else None


def mean_tokens_per_second(run: RunView) -> float | None:
    """Return the tokens of all recorded steps by the seconds of these steps; None before any.

    Evaluations and the like are not in these seconds. Every step has as many tokens, so this is
    the harmonic mean of the rates.
    """
    rates = [rate for rate in run.column("tokens_per_second") if rate]
    return statistics.harmonic_mean(rates) if rates else None


def mfu(run: RunView) -> float | None:
    """Return the model's FLOPs of all steps over what the peak could do in their time.

    None before the first step, and where FLOPs or peak are not known.
    """
    flops = run.section("prediction").get("flops_per_step")
    peak = run.section("resolved").get("peak_flops_per_second")
    rate = mean_tokens_per_second(run)
    return flops * rate / tokens_per_step(run) / peak if flops and peak and rate else None


def tokens_per_step(run: RunView) -> int:
    """Return the tokens that one optimizer step learns from."""
    config = run.section("config")
    return int(config["batch_size"] * config["seq_len"] * config.get("accumulation_steps", 1))


def broken_steps(run: RunView) -> tuple[list[int], list[float]]:
    """Return the steps without a finite loss, each at the height of the last finite one."""
    steps: list[int] = []
    heights: list[float] = []
    height = 0.0
    for step, value in zip(run.column("step"), run.column("loss"), strict=True):
        if value is None:
            steps.append(step)
            heights.append(height)
        else:
            height = value
    return steps, heights


def steps_and_attempts(run: RunView) -> npt.NDArray[np.void]:
    """Return the two columns by which `core.train.run.records` tells newest records from ghosts."""
    rows = list(zip(run.column("step"), run.column("attempt"), strict=True))
    return np.array(rows, np.dtype([("step", "<u8"), ("attempt", "<u4")]))


def facts(run: RunView, unit: ByteUnit = "GiB") -> dict[str, str]:
    """Return the newest numbers of a run as written text, by the names that `ALTS` uses."""
    text, config = run.section("text"), run.section("config")
    evaluations = [event["validation_loss"] for event in run.newest_of("eval")]
    references = ("ln_vocab", "unigram_entropy", "bigram_entropy")
    return {
        "step": _last(run, "step", format_exact, "0"),
        "num_steps": _written(config.get("num_steps"), format_exact),
        "loss": _last(run, "loss", LOSS),
        "validation_loss": _written(evaluations[-1] if evaluations else None, LOSS),
        **{name: _written(text.get(name), LOSS) for name in references},
        "learning_rate": _last(run, "learning_rate", "{:.2e}".format),
        "num_changes": str(len(multiplier_changes(run))),
        "grad_norm": _last(run, "grad_norm", LOSS),
        "grad_clip": _written(config.get("grad_clip"), "{:g}".format),
        "tokens_per_second": _last(run, "tokens_per_second", _rate),
        "mean_rate": _written(mean_tokens_per_second(run), _rate),
        "predicted_rate": _written(predicted_tokens_per_second(run), _rate),
        **_mfu_fact(run),
        **_memory_facts(run, unit),
    }


def alt(name: str, run: RunView, unit: ByteUnit = "GiB") -> str:
    """Return the sentence that stands for one chart, in the reader's language.

    Args:
        name: A key of `ALTS`.
        run: What the chart shows.
        unit: GiB or GB.
    """
    return _(ALTS[name]).format(memory=memory_word(run), **facts(run, unit))


def memory_word(run: RunView) -> str:
    """Return what the memory is called that the run trains in."""
    return _("VRAM") if run.on_gpu else _("Memory")


def source_word(source: str | None) -> str:
    """Return how a peak is known, in the reader's language."""
    return _(SOURCES[source]) if source in SOURCES else MISSING


def _mfu_fact(run: RunView) -> dict[str, str]:
    """Return the MFU beside its peak; nothing of a run whose FLOPs were not noted."""
    resolved = run.section("resolved")
    peak = resolved.get("peak_flops_per_second")
    if not run.section("prediction").get("flops_per_step"):
        return {}
    if not peak:
        return {"mfu": _("unknown")}
    told = {
        "share": _written(mfu(run), format_percent),
        "peak": format_flops_per_second(peak),
        "source": source_word(resolved.get("peak_source")),
    }
    return {"mfu": _(SHARE_OF_PEAK).format(**told)}


def _memory_facts(run: RunView, unit: ByteUnit) -> dict[str, str]:
    measured = run.newest_of("memory")
    newest: Mapping[str, Any] = measured[-1] if measured else {}
    predicted = run.section("prediction").get("memory") or {}

    def size(num_bytes: float) -> str:
        return format_bytes(num_bytes, unit)

    def peak(num_bytes: float) -> str:
        source = source_word(newest.get("source"))
        return _(PEAK_OF_MEMORY).format(amount=size(num_bytes), source=source)

    busy = newest.get("utilization")
    return {
        **{name: _written(newest.get(name), size) for name in CATEGORIES},
        "peak": _written(newest.get("peak"), peak),
        **{name: size(newest[name]) for name in AROUND if name in newest},
        **({} if busy is None else {"utilization": format_percent(busy)}),
        "predicted": _written(sum(predicted.values()) or None, size),
        "resident_bytes": _last(run, "resident_bytes", size),
    }


def _finite(value: Any) -> Any:  # noqa: ANN401  # a column holds whole numbers and reals
    return None if value is None or not math.isfinite(value) else value


def _last(run: RunView, name: str, write: Any, empty: str = MISSING) -> str:  # noqa: ANN401
    column = run.column(name)
    return _written(column[-1], write) if column else empty


def _written(value: float | None, write: Any) -> str:  # noqa: ANN401
    return MISSING if value is None else str(write(value))


def _rate(value: float) -> str:
    return format_rate(value, _("tokens"))
