"""What models and devices are called in a picture, where there is little room."""

import re
from typing import Final

from core.units import format_bytes
from pages.budget.what_fits.inputs import Case
from pages.shared.settings import unit_system

_MEMORY_IN_NAME: Final = re.compile(r" \d+ GB$")


def model_name(case: Case, key: str) -> str:
    """Return a model's name in a picture."""
    return case.models[key].name


def device_name(case: Case, key: str) -> str:
    """Return a device's name and memory in a picture: "A100 SXM, 80 GiB"."""
    device = case.devices[key]
    number, unit = format_bytes(device.memory_sold, unit_system()).split(" ")
    name = _MEMORY_IN_NAME.sub("", device.name.partition(" (")[0])
    return f"{name}, {round(float(number))} {unit}"
