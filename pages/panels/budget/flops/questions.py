"""Questions of the page of FLOPs and time; their answers are computed."""

from core.budget.catalogue.devices import DEVICES
from core.budget.compute.least_matmul import CLAIMED_DEVICE, CLAIMED_SIZE, CLAIMS, least_seconds
from core.language import _
from core.units import format_flops, format_flops_per_second, format_seconds
from pages.shared.questions import Choice, predict_then_reveal


def ask_about_the_claim() -> None:
    """Ask whether a product can be as fast as a tutorial says."""
    device = DEVICES[CLAIMED_DEVICE]
    claimed = CLAIMS[device.name]
    flops = 2 * CLAIMED_SIZE**3
    least = {item.name: item for item in least_seconds(CLAIMED_SIZE, "bfloat16")}[device.name]
    at_best = format_seconds(least.amount)
    choices = [
        Choice(
            _("Yes, a GPU is that fast"),
            _("It would need {rate}; the dense peak is {peak}.").format(
                rate=format_flops_per_second(flops / claimed),
                peak=format_flops_per_second(device.peak["bfloat16"]),
            ),
        ),
        Choice(_("No: at least {time}").format(time=at_best), None),
        Choice(
            _("Only with 2:4 sparsity"),
            _("Sparsity halves the least time to {time}, still far from it.").format(
                time=format_seconds(least.amount / 2)
            ),
        ),
    ]
    predict_then_reveal(
        "flops_claim",
        _(
            "A tutorial says that a product of {n} × {n} matrices takes {time} on an {device}. "
            "Can that be?"
        ).format(n=f"{CLAIMED_SIZE:,}", time=format_seconds(claimed), device=device.name),
        choices,
        _(
            "FLOPs are an amount, FLOP/s a rate: {flops} at {peak} take {time}. A clock that does "
            "not wait for the GPU reads such times: it has timed the call, not the product."
        ).format(
            flops=format_flops(flops),
            peak=format_flops_per_second(device.peak["bfloat16"]),
            time=at_best,
        ),
    )
