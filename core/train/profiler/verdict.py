"""What a profile says in words: what its step is bound by, and why."""

from collections.abc import Mapping
from typing import Final

from core.language import N_, _
from core.train.profiler.trace import Profile
from core.units import format_percent

VERDICTS: Final[Mapping[str, tuple[str, str]]] = {
    "input": (N_("input-bound"), N_("{share} of the time the step waits for its batch.")),
    "sync": (N_("sync-bound"),
             N_("{share} of the time the program waits for a number from the device.")),
    "launch": (N_("launch-bound"),
               N_("{share} of the time goes to Python and to operators of less than 10 µs, which "
                  "cost more to call than to compute: larger batches or torch.compile help.")),
    "compute": (N_("compute-bound"),
                N_("{share} of the time goes to matrix products and attention: only fewer FLOPs, a "
                   "smaller number format or a faster chip help.")),
    "memory": (N_("memory-bound"),
               N_("{share} of the time goes to operators that read and write more than they "
                  "compute: fusing them helps, as torch.compile does.")),
}  # fmt: skip


def verdict_of(spans: Mapping[str, float]) -> tuple[str, str]:
    """Return what a step is bound by, and why: what most of its time goes to, with the share."""
    most = max(spans, key=lambda name: spans[name])
    verdict, why = VERDICTS[most]
    return _(verdict), _(why).format(share=format_percent(spans[most]))


def trace_sentence(profile: Profile) -> str:
    """Return what takes most of a profile's time, and what its step is bound by."""
    first = profile.operators[0]
    times = [row.device if profile.has_device else row.own for row in profile.operators]
    share = (first.device if profile.has_device else first.own) / (sum(times) or 1.0)
    forward, backward = profile.phases["forward"], profile.phases["backward"]
    values = {"name": f"`{first.name}`", "share": format_percent(share),
              "calls": f"{first.calls:,}", "verdict": verdict_of(profile.spans)[0],
              "ratio": f"{backward / forward:.1f}" if forward else ""}  # fmt: skip
    if not (forward and backward):
        text = _("{name} takes {share} of the self time, in {calls} calls; {verdict}")
    else:
        text = _("{name} takes {share} of the self time, in {calls} calls; backward {ratio} times "
                 "forward; {verdict}")  # fmt: skip
    return text.format(**values)
