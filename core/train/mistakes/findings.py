"""What is wrong with a run, read off its own rows: each finding with the numbers that show it."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from core.language import _
from core.train.mistakes.rows import Probe, Rows
from core.train.mistakes.switches import SWITCHES
from core.units import format_percent


@dataclass(frozen=True, kw_only=True, slots=True)
class Finding:
    """A mistake that the rows show.

    Attributes:
        name: The key of its switch.
        step: Where it was seen first.
        numbers: What was measured, as the sentences of the switch name it.
    """

    name: str
    step: int
    numbers: dict[str, str]

    @property
    def headline(self) -> str:
        """A short sentence with the number."""
        return _(SWITCHES[self.name].headline).format(**self.numbers)

    @property
    def evidence(self) -> str:
        """What was measured, and what a healthy run would have there."""
        return _(SWITCHES[self.name].evidence).format(**self.numbers)


def find(rows: Rows) -> tuple[Finding, ...]:
    """Return every finding that the rows show; none for a healthy run."""
    seen = {**_in_probes(rows), **_in_curves(rows)}
    return tuple(Finding(name=name, step=step, numbers=_numbers(rows, probe))
                 for name, (step, probe) in seen.items())  # fmt: skip


def end_of(values: Sequence[float]) -> float:
    """Return the mean of the last quarter, where a curve ends."""
    last = values[-max(len(values) // 4, 1) :]
    return sum(last) / len(last)


def outcome_of(healthy: Rows, broken: Rows) -> str:
    """Return what the broken curve does beside the healthy one: a key of `OUTCOMES`."""
    first, end, other = broken.losses[0], end_of(broken.losses), end_of(healthy.losses)
    seen = {
        "not_finite": not all(map(math.isfinite, broken.losses)),
        "high_start": first > 1.5 * broken.uniform,
        "above": end > first,
        "better": end < 0.7 * other,
        "jump": max(broken.losses) > 1.1 * first and end < other + 0.3,
        "worse": end > other + 0.2,
        "validation": _validation_is_off(healthy, broken),
    }
    return next((outcome for outcome, is_seen in seen.items() if is_seen), "same")


def _validation_is_off(healthy: Rows, broken: Rows) -> bool:
    if any(abs(one - other) > 0 for _step, one, other in broken.validations):
        return True
    if not (healthy.validations and broken.validations):
        return False
    # Over 15 seeds unshuffled data ended at least 0.31 above, lost small gradients at most 0.25.
    return broken.validations[-1][1] - healthy.validations[-1][1] > 0.28


def _in_probes(rows: Rows) -> dict[str, tuple[int, Probe]]:
    """Return what steps looked at show: where it was seen first, and the step that is told."""
    found = {}
    for name, check in PROBE_CHECKS.items():
        seen = [each for each in rows.probes if check.is_seen(each, rows)]
        if seen and (len(seen) > len(rows.probes) / 2 or not check.in_most):
            found[name] = seen[0].step, max(seen, key=check.how_clear)
    return found


@dataclass(frozen=True, kw_only=True, slots=True)
class ProbeCheck:
    """When one step shows a mistake, whether most have to, and which of them shows it best."""

    is_seen: Callable[[Probe, Rows], bool]
    in_most: bool = False
    how_clear: Callable[[Probe], float] = lambda probe: probe.step


PROBE_CHECKS: Final[Mapping[str, ProbeCheck]] = {
    "no_zero_grad": ProbeCheck(is_seen=lambda probe, _rows: probe.cosine < 0.5 and probe.ratio > 2,
                               how_clear=lambda probe: probe.ratio),
    "undivided": ProbeCheck(
        is_seen=lambda probe, rows: (
            rows.accumulation_steps > 1 and abs(probe.ratio / rows.accumulation_steps - 1) < 0.05),
        in_most=True, how_clear=lambda probe: -probe.step),
    "unshifted_target": ProbeCheck(
        is_seen=lambda probe, rows: probe.copied > 0.9 and probe.loss < rows.bigram / 2),
    "leaky_mask": ProbeCheck(is_seen=lambda probe, _rows: probe.leak > 1e-3),
    "fp16_unscaled": ProbeCheck(is_seen=lambda probe, _rows: probe.vanished > 0.1, in_most=True,
                                how_clear=lambda probe: probe.vanished),
    "bf16_updates": ProbeCheck(is_seen=lambda probe, _rows: probe.unmoved > 0.5, in_most=True),
    "rate_too_high": ProbeCheck(
        is_seen=lambda probe, rows: (
            end_of(rows.losses) > rows.losses[0]
            and probe.loss_after > probe.loss and probe.cosine > 0.5),
        how_clear=lambda probe: probe.loss_after - probe.loss),
}  # fmt: skip


def _in_curves(rows: Rows) -> dict[str, tuple[int, Probe | None]]:
    """Return what the other rows show: where it was seen first."""
    rates, losses, early = rows.learning_rates, rows.losses, max(rows.losses[:20])
    started_high = rates[0] > 0.9 * max(rates) and early > 1.1 * losses[0] > 1.1 * end_of(losses)
    # Two that are no numbers are unequal, and no finding.
    unequal = [step for step, one, other in rows.validations if abs(one - other) > 0]
    seen = {
        "fp16_eps": len(losses) if rows.bad_tensor and not rows.kept_eps else 0,
        "no_eval": unequal[0] if unequal else 0,
        "normal_init": 1 if losses[0] > 1.5 * rows.uniform else 0,
        "unshuffled": 2 if 2 * _in_order(rows) > len(losses) else 0,
        "no_warmup": losses.index(early) + 1 if started_high else 0,
    }
    first = next(iter(rows.probes), None)
    return {name: (step, first) for name, step in seen.items() if step}


def _in_order(rows: Rows) -> int:
    """Return how many batches begin where the one before ended."""
    pairs = zip(rows.starts, rows.starts[1:], strict=False)
    return sum(after == before + rows.batch_tokens for before, after in pairs)


def _numbers(rows: Rows, probe: Probe | None) -> dict[str, str]:
    """Return all that was measured, as the sentences of the switches name it."""
    first, early = rows.losses[0], max(rows.losses[:20])
    read = min(len(rows.starts) * rows.batch_tokens / rows.num_tokens, 1.0)
    validations = rows.validations[-1][1:] if rows.validations else (math.nan, math.nan)
    numbers = {
        "last_step": str(len(rows.losses)), "first": f"{first:.2f}", "early": f"{early:.2f}",
        "early_step": str(rows.losses.index(early) + 1),
        "first_rate": f"{rows.learning_rates[0]:.3g}",
        "end": f"{end_of(rows.losses):.2f}", "one": f"{validations[0]:.4f}",
        "other": f"{validations[1]:.4f}", "uniform": f"{rows.uniform:.2f}",
        "bigram": f"{rows.bigram:.2f}", "tensor": rows.bad_tensor, "format": rows.bad_format,
        "eps": f"{rows.eps:g}", "no_moment": format_percent(rows.no_moment),
        "in_order": str(_in_order(rows)), "pairs": str(len(rows.starts) - 1),
        "read": format_percent(read), "parts": str(rows.accumulation_steps),
    }  # fmt: skip
    if probe is None:
        return numbers
    shares = ("vanished", "unmoved", "moved", "copied")
    return numbers | {name: format_percent(getattr(probe, name)) for name in shares} | {
        "step": str(probe.step), "norm": f"{probe.norm:,.4g}", "own": f"{probe.own_norm:.3g}",
        "ratio": f"{probe.ratio:,.3g}", "cosine": f"{probe.cosine:.2f}",
        "leak": f"{probe.leak:.1f}", "ulps": f"{probe.ulps:.2f}", "loss": f"{probe.loss:.2f}",
        "after": f"{probe.loss_after:.2f}",
        "rate": f"{rows.learning_rates[probe.step - 1]:g}",
    }  # fmt: skip
