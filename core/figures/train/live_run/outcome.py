"""What was predicted of a run before its start, beside what it took.

The live page does the same in the browser (facts.js); a browser test compares the two.
"""

from typing import Final

from core.figures.train.live_run.run_facts import CATEGORIES, RunView
from core.language import N_, _
from core.units import ByteUnit, format_bytes, format_seconds

OUTCOME: Final = N_(
    "Predicted {predicted_seconds} and {predicted}; took {seconds} and {measured}, of which "
    "{other} (other) is in no prediction."
)


def outcome(run: RunView, unit: ByteUnit = "GiB") -> str:
    """Return it as a sentence, from the click to the last step; empty if a part is not known."""
    prediction, times = run.section("prediction"), run.column("time")
    measured, predicted = run.newest_of("memory"), prediction.get("memory")
    if not (prediction.get("seconds") and predicted and measured and times):
        return ""
    held = sum(measured[-1][name] for name in CATEGORIES)
    return _(OUTCOME).format(
        predicted_seconds=format_seconds(prediction["seconds"]),
        predicted=format_bytes(sum(predicted.values()), unit),
        seconds=format_seconds(times[-1] - run.info["created"]),
        measured=format_bytes(held, unit),
        other=format_bytes(measured[-1]["other"], unit),
    )
