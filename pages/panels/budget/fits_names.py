"""What models and devices are called in a picture, where there is little room."""

from core.units import format_bytes
from pages.panels.budget.fits_inputs import Case
from pages.shared.settings import unit_system


def model_name(case: Case, key: str) -> str:
    """Return a model's name in a picture."""
    return case.models[key].name


def device_name(case: Case, key: str) -> str:
    """Return a device's name and memory in a picture: "A100 SXM, 80 GiB"."""
    device = case.devices[key]
    memory = format_bytes(device.memory_sold, unit_system())
    number, unit = memory.split(" ")
    plain = device.name.partition(" (")[0].removesuffix(" GB").rstrip("0123456789 ")
    name = plain if device.name.endswith(" GB") else device.name.partition(" (")[0]
    return f"{name}, {round(float(number))} {unit}"
