"""What is wrong with a run, read off its own rows: each finding with the numbers that show it."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Final

from core.language import _
from core.train.mistakes.rows import Rows
from core.train.mistakes.switches import SWITCHES
from core.units import format_percent

LAST: Final = 4  # the last of so many parts says where a curve ends


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
    found = (check(rows) for check in CHECKS)
    return tuple(each for each in found if each is not None)


def end_of(values: Sequence[float]) -> float:
    """Return the mean of the last quarter, where a curve ends."""
    last = values[-max(len(values) // LAST, 1) :]
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
    if any(one != other for _step, one, other in broken.validations):
        return True
    pairs = list(zip(healthy.validations, broken.validations, strict=False))
    return bool(pairs) and median(other[1] - one[1] for one, other in pairs) > 0.1


def _found(name: str, step: int, /, **numbers: str) -> Finding:
    return Finding(name=name, step=step, numbers={"step": str(step), **numbers})


def _stale_gradient(rows: Rows) -> Finding | None:
    seen = [each for each in rows.probes if each.cosine < 0.5 and each.norm > 2 * each.own_norm]
    if not seen:
        return None
    worst = max(seen, key=lambda each: each.norm / each.own_norm)
    return _found(
        "no_zero_grad", seen[0].step, step=str(worst.step), own=f"{worst.own_norm:.3g}",
        ratio=f"{worst.norm / worst.own_norm:,.0f}", norm=f"{worst.norm:,.4g}",
        cosine=f"{worst.cosine:.2f}",
    )  # fmt: skip


def _unequal_validation(rows: Rows) -> Finding | None:
    seen = [each for each in rows.validations if each[1] != each[2]]
    if not seen:
        return None
    step, one, other = seen[-1]
    return _found("no_eval", seen[0][0], step=str(step), one=f"{one:.4f}", other=f"{other:.4f}")


def _overshoot(rows: Rows) -> Finding | None:
    end, first = end_of(rows.losses), rows.losses[0]
    seen = [each for each in rows.probes if each.loss_after > each.loss and each.cosine > 0.5]
    if not seen or not end > first:
        return None
    worst = max(seen, key=lambda each: each.loss_after - each.loss)
    return _found(
        "rate_too_high", seen[0].step, step=str(worst.step), end=f"{end:.1f}", first=f"{first:.2f}",
        moved=format_percent(worst.moved), before=f"{worst.loss:.2f}",
        after=f"{worst.loss_after:.2f}", rate=f"{rows.learning_rates[worst.step - 1]:g}",
    )  # fmt: skip


def _full_first_rate(rows: Rows) -> Finding | None:
    rates, first, end = rows.learning_rates, rows.losses[0], end_of(rows.losses)
    highest = max(rows.losses[:20])
    if rates[0] < 0.9 * max(rates) or highest < 1.1 * first or end > first:
        return None
    return _found(
        "no_warmup", rows.losses.index(highest) + 1, moved=format_percent(rows.probes[0].moved),
        rate=f"{rates[0]:.3g}", first=f"{first:.2f}", highest=f"{highest:.2f}", end=f"{end:.2f}",
    )  # fmt: skip


def _certain_at_first(rows: Rows) -> Finding | None:
    first = rows.losses[0]
    if not first > 1.5 * rows.uniform:
        return None
    return _found("normal_init", 1, first=f"{first:.1f}", uniform=f"{rows.uniform:.2f}")


def _vanished(rows: Rows) -> Finding | None:
    seen = [each for each in rows.probes if each.vanished > 0.1]
    if 2 * len(seen) <= len(rows.probes):
        return None
    worst = max(seen, key=lambda each: each.vanished)
    share = format_percent(worst.vanished)
    return _found("fp16_unscaled", seen[0].step, step=str(worst.step), share=share)


def _rounded_eps(rows: Rows) -> Finding | None:
    if not rows.bad_tensor or rows.kept_eps > 0:
        return None
    return _found(
        "fp16_eps", len(rows.losses), tensor=rows.bad_tensor, format=rows.bad_format,
        eps=f"{rows.eps:g}", share=format_percent(rows.no_moment),
    )  # fmt: skip


def _copies(rows: Rows) -> Finding | None:
    seen = [each for each in rows.probes if each.copied > 0.9 and each.loss < rows.bigram / 2]
    if not seen:
        return None
    last = seen[-1]
    return _found(
        "unshifted_target", seen[0].step, step=str(last.step), share=format_percent(last.copied),
        loss=f"{last.loss:.3f}", bigram=f"{rows.bigram:.2f}",
    )  # fmt: skip


def _sees_ahead(rows: Rows) -> Finding | None:
    seen = [each for each in rows.probes if each.leak > 1e-3]
    if not seen:
        return None
    last = seen[-1]
    return _found(
        "leaky_mask", seen[0].step, step=str(last.step), leak=f"{last.leak:.1f}",
        loss=f"{last.loss:.2f}", bigram=f"{rows.bigram:.2f}",
    )  # fmt: skip


def _in_order(rows: Rows) -> Finding | None:
    pairs = list(zip(rows.starts, rows.starts[1:], strict=False))
    count = sum(after == before + rows.batch_tokens for before, after in pairs)
    if 2 * count <= len(pairs):
        return None
    read = min(len(rows.starts) * rows.batch_tokens / rows.num_tokens, 1.0)
    return _found(
        "unshuffled", 2, count=str(count), all=str(len(pairs)), share=format_percent(read),
        end=f"{end_of(rows.losses):.2f}", validation=f"{rows.validations[-1][1]:.2f}",
    )  # fmt: skip


def _stuck(rows: Rows) -> Finding | None:
    seen = [each for each in rows.probes if each.unmoved > 0.5]
    if 2 * len(seen) <= len(rows.probes):
        return None
    last = seen[-1]
    return _found(
        "bf16_updates", seen[0].step, step=str(last.step), share=format_percent(last.unmoved),
        ulps=f"{last.ulps:.2f}",
    )  # fmt: skip


def _sum_for_mean(rows: Rows) -> Finding | None:
    parts, seen = rows.accumulation_steps, rows.probes
    ratio = median(each.norm / each.own_norm for each in seen) if seen else 0.0
    if parts == 1 or abs(ratio / parts - 1) > 0.05:
        return None
    return _found(
        "undivided", seen[0].step, ratio=f"{ratio:.2f}", parts=str(parts),
        norm=f"{seen[0].norm:.3g}", own=f"{seen[0].own_norm:.3g}", cosine=f"{seen[0].cosine:.3f}",
    )  # fmt: skip


CHECKS: Final[tuple[Callable[[Rows], Finding | None], ...]] = (
    _rounded_eps, _stale_gradient, _sum_for_mean, _unequal_validation, _certain_at_first, _copies,
    _sees_ahead, _in_order, _vanished, _stuck, _overshoot, _full_first_rate,
)  # fmt: skip
