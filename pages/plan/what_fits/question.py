"""Questions of the page; the answers come from the solver."""

from typing import Final

from core.budget.catalogue.devices import DEVICES
from core.budget.catalogue.models import MODELS
from core.budget.fits.jobs import Serving
from core.budget.fits.solve import group_needs, min_devices
from core.budget.serving.plan import ServingPlan
from core.language import _
from pages.plan.what_fits.inputs import ASK
from pages.shared.questions import Choice, predict_then_reveal
from pages.shared.settings import look

NUMBERS: Final = (1, 2, 4, 8)
_JOB: Final = Serving(ServingPlan(prompt_len=3584, output_len=512))


def ask_about_70b() -> None:
    """Ask how many A100 serve a 70B model."""
    spec, device = MODELS["llama-2-70b"], DEVICES["a100-80gb"]
    fewest = min_devices(spec, _JOB, device).amount
    needs = {number: need.amount for number, need in group_needs(spec, _JOB, NUMBERS[-1])}
    choices = [
        Choice(f"{number}", None if number == fewest else _why(number, needs[number], fewest))
        for number in NUMBERS
    ]
    predict_then_reveal(
        ASK.key("70b"),
        _("How many A100 of 80 GB does it take to serve Llama-2 70B in bf16?"),
        choices,
        _("On {count} of them each holds {need} of {capacity}.").format(
            count=fewest,
            need=look().format_bytes(needs[fewest]),
            capacity=look().format_bytes(device.memory_usable),
        ),
    )


def _why(number: int, need: float, fewest: int) -> str:
    size = look().format_bytes(need)
    if number < fewest:
        return _("One alone would have to hold {need}.").format(need=size)
    return _("They would do, but each then holds only {need}: fewer are enough.").format(need=size)
