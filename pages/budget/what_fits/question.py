"""Questions of the page; the answers come from the solver."""

from typing import Final

from core.budget.catalogue.devices import DEVICES
from core.budget.catalogue.models import MODELS
from core.budget.fits.jobs import Serving
from core.budget.fits.solve import group_needs, min_devices
from core.budget.serving.plan import ServingPlan
from core.language import _
from core.units import format_bytes
from pages.shared.questions import Choice, predict_then_reveal
from pages.shared.settings import unit_system

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
        "fits_70b",
        _("How many A100 of 80 GB does it take to serve Llama-2 70B in bf16?"),
        choices,
        _("On {count} of them each holds {need} of {capacity}.").format(
            count=fewest,
            need=format_bytes(needs[fewest], unit_system()),
            capacity=format_bytes(device.memory_usable, unit_system()),
        ),
    )


def _why(number: int, need: float, fewest: int) -> str:
    size = format_bytes(need, unit_system())
    if number < fewest:
        return _("One alone would have to hold {need}.").format(need=size)
    return _("They would do, but each then holds only {need}: fewer are enough.").format(need=size)
