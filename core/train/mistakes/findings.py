"""What is wrong with a run, read off its own rows: each finding with the numbers that show it."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Final

from core.language import _
from core.train.mistakes.rows import Rows
from core.units import format_percent

QUARTER: Final = 4  # the last of so many parts says where a curve ends


@dataclass(frozen=True, kw_only=True, slots=True)
class Finding:
    """A mistake that the rows show.

    Attributes:
        name: The key of its switch.
        step: Where it was seen first.
        headline: A short sentence with the number.
        evidence: What was measured, and what a healthy run would have there.
    """

    name: str
    step: int
    headline: str
    evidence: str


def find(rows: Rows) -> tuple[Finding, ...]:
    """Return every finding that the rows show; none for a healthy run."""
    found = (check(rows) for check in CHECKS)
    return tuple(each for each in found if each is not None)


def end_of(values: Sequence[float]) -> float:
    """Return the mean of the last quarter, where a curve ends."""
    last = values[-max(len(values) // QUARTER, 1) :]
    return sum(last) / len(last)


def outcome_of(healthy: Rows, broken: Rows) -> str:
    """Return what the broken curve does beside the healthy one: a key of `OUTCOMES`."""
    first, end, other = broken.losses[0], end_of(broken.losses), end_of(healthy.losses)
    if broken.bad_tensor or not all(map(math.isfinite, broken.losses)):
        return "not_finite"
    if first > 1.5 * broken.uniform:
        return "high_start"
    if end > first:
        return "above"
    if end < 0.7 * other:
        return "better"
    if end > other + 0.3:
        return "worse"
    if max(broken.losses) > 1.1 * first:
        return "jump"
    if end > other + 0.2:
        return "worse"
    return "same" if _same_validation(healthy, broken) else "validation"


def _same_validation(healthy: Rows, broken: Rows) -> bool:
    pairs = zip(healthy.validations, broken.validations, strict=True)
    return median(other[1] - one[1] for one, other in pairs) < 0.05


def _stale_gradient(rows: Rows) -> Finding | None:
    seen = [each for each in rows.probes if each.cosine < 0.5 and each.norm > 2 * each.own_norm]
    if not seen:
        return None
    worst = max(seen, key=lambda each: each.norm / each.own_norm)
    return Finding(
        name="no_zero_grad",
        step=seen[0].step,
        headline=_("Step {step} follows a gradient {ratio:,.0f} times as long as its batch's own").format(
            step=worst.step, ratio=worst.norm / worst.own_norm
        ),
        evidence=_(
            "With the same weights the batch of step {step} alone gives a gradient of norm {own}; "
            "the optimizer was given one of norm {norm} that points elsewhere (cosine {cosine}). "
            "In a healthy loop the two are one."
        ).format(
            step=worst.step, own=f"{worst.own_norm:.3g}", norm=f"{worst.norm:,.4g}",
            cosine=f"{worst.cosine:.2f}",
        ),
    )  # fmt: skip


def _unequal_validation(rows: Rows) -> Finding | None:
    seen = [each for each in rows.validations if each[1] != each[2]]
    if not seen:
        return None
    step, one, other = seen[-1]
    return Finding(
        name="no_eval",
        step=seen[0][0],
        headline=_("Twice the same texts and weights, two validation losses: {one} and {other}").format(
            one=f"{one:.4f}", other=f"{other:.4f}"
        ),
        evidence=_(
            "After step {step} validation ran twice, one after the other: {one} and {other}. In eval "
            "mode nothing is drawn, and both are equal to the last bit; here dropout still drew."
        ).format(step=step, one=f"{one:.6f}", other=f"{other:.6f}"),
    )


def _overshoot(rows: Rows) -> Finding | None:
    end, first = end_of(rows.losses), rows.losses[0]
    seen = [each for each in rows.probes if each.loss_after > each.loss and each.cosine > 0.5]
    if not seen or not end > first:
        return None
    worst = max(seen, key=lambda each: each.loss_after - each.loss)
    return Finding(
        name="rate_too_high",
        step=seen[0].step,
        headline=_("The loss ends at {end}, above its start of {first}: the steps are too long").format(
            end=f"{end:.1f}", first=f"{first:.2f}"
        ),
        evidence=_(
            "Step {step} followed the gradient of its own batch and moved the weights by {moved} of "
            "their length. The loss of that very batch went from {before} to {after}. The rate was "
            "{rate}."
        ).format(
            step=worst.step, moved=format_percent(worst.moved), before=f"{worst.loss:.2f}",
            after=f"{worst.loss_after:.2f}", rate=f"{rows.learning_rates[worst.step - 1]:g}",
        ),
    )  # fmt: skip


def _full_first_rate(rows: Rows) -> Finding | None:
    rates, early = rows.learning_rates, rows.losses[:20]
    highest, first = max(early), rows.losses[0]
    if rates[0] < 0.9 * max(rates) or highest < 1.1 * first or end_of(rows.losses) > first:
        return None
    moved = rows.probes[0].moved
    step = early.index(highest) + 1
    return Finding(
        name="no_warmup",
        step=step,
        headline=_("Step 1 moves the weights by {moved} of their length; at step {step} the loss is {loss}").format(
            moved=format_percent(moved), step=step, loss=f"{highest:.2f}"
        ),
        evidence=_(
            "The rate of step 1 is {rate}, the highest of the run. The loss was {first} before it, "
            "climbed to {highest} by step {step}, and came down to {end}."
        ).format(
            rate=f"{rates[0]:g}", first=f"{first:.2f}", highest=f"{highest:.2f}", step=step,
            end=f"{end_of(rows.losses):.2f}",
        ),
    )  # fmt: skip


def _certain_at_first(rows: Rows) -> Finding | None:
    first = rows.losses[0]
    if not first > 1.5 * rows.uniform:
        return None
    return Finding(
        name="normal_init",
        step=1,
        headline=_("The first loss is {first}; who knows nothing has {uniform}").format(
            first=f"{first:.1f}", uniform=f"{rows.uniform:.2f}"
        ),
        evidence=_(
            "To give every token the same probability costs ln V = {uniform}. A first loss of {first} "
            "is that of a model which is certain, and wrong: its scores are spread too far."
        ).format(first=f"{first:.2f}", uniform=f"{rows.uniform:.3f}"),
    )


def _vanished(rows: Rows) -> Finding | None:
    if not rows.probes or median(each.vanished for each in rows.probes) < 0.1:
        return None
    worst = max(rows.probes, key=lambda each: each.vanished)
    return Finding(
        name="fp16_unscaled",
        step=next(each.step for each in rows.probes if each.vanished >= 0.1),
        headline=_("Step {step}: {share} of the gradient is zero that in float32 is not").format(
            step=worst.step, share=format_percent(worst.vanished)
        ),
        evidence=_(
            "The same batch and weights in float32 give a number for each of them. In float16 what is "
            "below half of the smallest number, 6e-08, becomes zero, and the first moment of AdamW "
            "learns nothing of it."
        ),
    )


def _rounded_eps(rows: Rows) -> Finding | None:
    if not rows.bad_tensor or rows.kept_eps > 0:
        return None
    step = len(rows.losses)
    return Finding(
        name="fp16_eps",
        step=step,
        headline=_("Step {step}: `{tensor}` is not finite; {format} holds eps = {eps} as 0").format(
            step=step, tensor=rows.bad_tensor, format=rows.bad_format, eps=f"{rows.eps:g}"
        ),
        evidence=_(
            "{share} of the second moments are 0: the squares of those gradients are below the "
            "smallest number of {format}. With eps = 0 the update there is 0 / 0."
        ).format(share=format_percent(rows.no_moment), format=rows.bad_format),
    )


def _copies(rows: Rows) -> Finding | None:
    seen = [each for each in rows.probes if each.copied > 0.9 and each.loss < rows.bigram / 2]
    if not seen:
        return None
    last = seen[-1]
    return Finding(
        name="unshifted_target",
        step=seen[0].step,
        headline=_("In {share} of places the model's first guess is the token it has just read").format(
            share=format_percent(last.copied)
        ),
        evidence=_(
            "At step {step} the loss is {loss}; who knows which token follows which has {bigram} on "
            "this text. No model reads so well after {step} steps: this one copies."
        ).format(step=last.step, loss=f"{last.loss:.3f}", bigram=f"{rows.bigram:.2f}"),
    )


def _sees_ahead(rows: Rows) -> Finding | None:
    seen = [each for each in rows.probes if each.leak > 1e-3]
    if not seen:
        return None
    last = seen[-1]
    return Finding(
        name="leaky_mask",
        step=seen[0].step,
        headline=_("Other tokens behind a place change its scores by up to {leak}; 0 is right").format(
            leak=f"{last.leak:.1f}"
        ),
        evidence=_(
            "After step {step} the second half of some texts was exchanged. The scores in the first "
            "half changed by up to {leak}: it saw what stands behind it. The loss is {loss}; who "
            "knows which token follows which has {bigram}."
        ).format(
            step=last.step, leak=f"{last.leak:.3g}", loss=f"{last.loss:.2f}",
            bigram=f"{rows.bigram:.2f}",
        ),
    )  # fmt: skip


def _in_order(rows: Rows) -> Finding | None:
    pairs = zip(rows.starts, rows.starts[1:], strict=False)
    count = sum(after == before + rows.batch_tokens for before, after in pairs)
    all_pairs = len(rows.starts) - 1
    if count <= all_pairs / 2:
        return None
    read = min(len(rows.starts) * rows.batch_tokens / rows.num_tokens, 1.0)
    return Finding(
        name="unshuffled",
        step=2,
        headline=_("{count} of {all} batches begin where the one before ended").format(
            count=count, all=all_pairs
        ),
        evidence=_(
            "The run has read the first {share} of its text, in the order of the text, and nothing "
            "else. Its own losses end at {end}; on the validation text it has {validation}."
        ).format(
            share=format_percent(read), end=f"{end_of(rows.losses):.2f}",
            validation=f"{rows.validations[-1][1]:.2f}",
        ),
    )  # fmt: skip


def _stuck(rows: Rows) -> Finding | None:
    if not rows.probes or median(each.unmoved for each in rows.probes) < 0.5:
        return None
    last = rows.probes[-1]
    return Finding(
        name="bf16_updates",
        step=next(each.step for each in rows.probes if each.unmoved >= 0.5),
        headline=_("{share} of the weights keep every bit, though AdamW asks them to move").format(
            share=format_percent(last.unmoved)
        ),
        evidence=_(
            "At step {step} the median move asked for is {ulps} units in the last place of the "
            "weight. Below 0.5 the sum rounds to the weight itself."
        ).format(step=last.step, ulps=f"{last.ulps:.2f}"),
    )


def _sum_for_mean(rows: Rows) -> Finding | None:
    parts = rows.accumulation_steps
    ratios = [each.norm / each.own_norm for each in rows.probes]
    if parts == 1 or not ratios or abs(median(ratios) / parts - 1) > 0.05:
        return None
    first = rows.probes[0]
    return Finding(
        name="undivided",
        step=first.step,
        headline=_("The gradient is {ratio} times the mean over {parts} passes").format(
            ratio=f"{median(ratios):.2f}", parts=parts
        ),
        evidence=_(
            "At step {step} it has the norm {norm}, and the mean gradient of the same {parts} passes "
            "{own}, in the same direction (cosine {cosine}). It is their sum."
        ).format(
            step=first.step, norm=f"{first.norm:.3g}", own=f"{first.own_norm:.3g}", parts=parts,
            cosine=f"{first.cosine:.3f}",
        ),
    )  # fmt: skip


CHECKS: Final[tuple[Callable[[Rows], Finding | None], ...]] = (
    _rounded_eps, _stale_gradient, _sum_for_mean, _unequal_validation, _certain_at_first, _copies,
    _sees_ahead, _in_order, _vanished, _stuck, _overshoot, _full_first_rate,
)  # fmt: skip
