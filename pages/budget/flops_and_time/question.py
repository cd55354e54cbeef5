"""Questions of the page of FLOPs and time; their answers are computed."""

from collections.abc import Mapping

from core.budget.catalogue.devices import DEVICES
from core.budget.compute.least_times import CLAIMED_DEVICE, CLAIMED_SIZE, CLAIMS, least_seconds
from core.language import _
from core.units import format_flops, format_flops_per_second, format_seconds
from pages.budget.flops_and_time.inputs import ASK
from pages.shared.questions import Choice, predict_then_reveal


def ask_about_the_claim() -> None:
    """Ask whether a product can be as fast as a tutorial says."""
    device = DEVICES[CLAIMED_DEVICE]
    claimed, flops = CLAIMS[device.name], 2 * CLAIMED_SIZE**3
    found = {item.name: item for item in least_seconds(CLAIMED_SIZE, "bfloat16")}
    least = float(found[device.name].amount)
    words = {
        "n": f"{CLAIMED_SIZE:,}",
        "device": device.name,
        "time": format_seconds(claimed),
        "flops": format_flops(flops),
        "rate": format_flops_per_second(flops / claimed),
        "peak": format_flops_per_second(device.peak["bfloat16"]),
        "least": format_seconds(least),
        "half": format_seconds(least / 2),
    }
    question = _(
        "A tutorial says that a product of {n} × {n} matrices takes {time} on an {device}. "
        "Can that be?"
    )
    why = _(
        "FLOPs are an amount, FLOP/s a rate: {flops} at {peak} take {least}. A clock that does "
        "not wait for the GPU reads such times: it has timed the call, not the product."
    )
    predict_then_reveal(
        ASK.key("claim"), question.format(**words), _choices(words), why.format(**words)
    )


def _choices(words: Mapping[str, str]) -> list[Choice]:
    too_fast = _("It would need {rate}; the dense peak is {peak}.")
    sparse = _("Sparsity halves the least time to {half}, still far from it.")
    return [
        Choice(_("Yes, a GPU is that fast"), too_fast.format(**words)),
        Choice(_("No: at least {time}").format(time=words["least"]), None),
        Choice(_("Only with 2:4 sparsity"), sparse.format(**words)),
    ]
