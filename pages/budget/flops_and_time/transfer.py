"""The tab of transfers: the same bytes over the link to the host and from a device's memory."""

from collections.abc import Mapping, Sequence
from typing import Final

from streamlit.delta_generator import DeltaGenerator

from core.budget.catalogue.devices import DEVICES
from core.budget.compute.least_times import transfer_seconds
from core.budget.item import Item
from core.budget.weights.parameters import counts
from core.figures.budget.flops_and_time.least_times import (
    Least,
    least_times,
    least_times_alt,
    least_times_table,
)
from core.language import _
from core.units import format_bytes, format_seconds
from pages.budget.flops_and_time import places
from pages.shared.charts import show_chart
from pages.shared.header import headline
from pages.shared.settings import presenting, theme_mode, unit_system

BESIDE: Final = ("t4", "rtx-4090", "a100-80gb", "h100-sxm", "b200")
BYTES_EACH: Final = 2  # bf16
TOKENS: Final = {
    "from the host": "backward",
    "from another device": "estimated",
    "from its own memory": "forward",
}
CODE: Final = """
from core.budget.catalogue.models import MODELS
from core.budget.catalogue.devices import DEVICES, custom_device, local_device
from core.budget.catalogue.hf_config import read_config
from core.budget.weights.parameters import counts
from core.budget.compute.least_times import transfer_seconds
from core.machine import probe_machine

num_bytes = 2 * counts({model}).total
for item in transfer_seconds(num_bytes, {device}):
    print(f"{{item.name:20}} {{item.amount * 1e3:12,.2f}} ms = {{item.substituted}}")
"""


def show_transfer(row: DeltaGenerator) -> str:
    """Show the tab and return the code of its number."""
    with row:
        chosen = places.model()
        device = places.device()
    num_bytes = BYTES_EACH * counts(chosen.spec).total
    beside = [DEVICES[key] for key in BESIDE if key != device.key]
    devices = [device.device, *(beside[-2:] if presenting() else beside)]
    times = {each.name: transfer_seconds(num_bytes, each) for each in devices}
    mine = {item.name: item for item in times[device.device.name]}
    headline(sentence(chosen.spec.name, num_bytes, device.device.name, mine))
    bars = bars_of(times)
    picture, numbers = places.picture_and_numbers()
    with picture:
        show_chart(
            least_times(bars, [], theme_mode(), present=presenting()),
            key="flops_transfer_chart",
            alt=least_times_alt(bars, []),
            table=least_times_table(bars, []),
            file_name="transfers",
        )
    places.show_numbers(numbers, [(_(name), item) for name, item in mine.items()])
    return CODE.format(model=chosen.code, device=device.code)


def sentence(model: str, num_bytes: int, device: str, times: Mapping[str, Item]) -> str:
    """Return how much longer the link to the host takes than the device's own memory."""
    host, own = times.get("from the host"), times.get("from its own memory")
    if host is None or own is None:
        return _("{device} has no known bandwidth").format(device=device)
    if host.amount == own.amount:
        text = _("{model} in 16 bits, {bytes}: {own}; {device} shares its memory with the host")
    else:
        text = _(
            "{model} in 16 bits, {bytes}: {host} over the link to the host, {own} from the "
            "memory of {device}: {times} × longer"
        )
    return text.format(
        model=model,
        bytes=format_bytes(num_bytes, unit_system()),
        host=format_seconds(host.amount),
        own=format_seconds(own.amount),
        device=device,
        times=f"{host.amount / own.amount:,.3g}",
    )


def bars_of(times: Mapping[str, Sequence[Item]]) -> list[Least]:
    """Return the bars of each way, from a device's name to its transfers."""
    return [
        Least(
            name=_(kind),
            color=token,
            seconds={
                name: float(item.amount)
                for name, items in times.items()
                for item in items
                if item.name == kind
            },
        )
        for kind, token in TOKENS.items()
    ]
