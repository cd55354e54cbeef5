"""Questions of the page of FLOPs and time; their answers are computed."""

from collections.abc import Mapping

from core.budget.catalogue.devices import DEVICES
from core.budget.compute.least_times import CLAIMED_DEVICE, CLAIMED_SIZE, CLAIMS, least_seconds
from core.budget.training.duration import training_seconds
from core.language import _
from core.units import format_flops, format_flops_per_second, format_seconds
from pages.plan.flops_and_time.inputs import ASK
from pages.shared.questions import Choice, predict_then_reveal

SIZE, TEXT, COUNT, MFU = 70 * 10**9, 15 * 10**12, 1024, 0.5
PEAK = DEVICES["h100-sxm"].peak["bfloat16"]


def ask_how_long() -> None:
    """Ask how the time grows with the size, if the tokens for each parameter stay the same."""
    once = training_seconds(SIZE, TEXT, COUNT, PEAK, MFU)
    longer, twice_longer = (
        round(training_seconds(2 * SIZE, tokens, COUNT, PEAK, MFU) / once)
        for tokens in (TEXT, 2 * TEXT)
    )
    question = _(
        "A model of twice as many parameters is trained on twice as many tokens, with the same "
        "devices at the same MFU. How many times as long does it take?"
    )
    only = _("That is the larger model on the same tokens; it also sees twice as many of them.")
    third = _("That would need a third factor of two; devices and MFU stay the same.")
    why = _("FLOPs are 6 · parameters · tokens: both factors double, and so the time grows {n} ×.")
    predict_then_reveal(
        ASK.key("longer"),
        question,
        [
            Choice(_("{n} ×").format(n=longer), only),
            Choice(_("{n} ×").format(n=twice_longer), None),
            Choice(_("{n} ×").format(n=longer * twice_longer), third),
        ],
        why.format(n=twice_longer),
    )


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
