"""What compute costs: device hours times the reader's price. No price is built in."""

from typing import Final

from core.budget.check import check_range
from core.budget.formula import Formula
from core.budget.item import Item, item
from core.language import N_

COST: Final = Formula("num_devices * seconds / 3600 * price_per_hour")

_PRICE: Final = N_("the price that you entered, for one device and hour")


def cost(num_devices: int, seconds: float, price_per_hour: float) -> Item:
    """Return the price of running `num_devices` for an estimated time, in the price's currency.

    >>> round(cost(1024, 143.93 * 86_400, 2.0).amount)
    7074447

    Args:
        num_devices: Devices rented.
        seconds: How long.
        price_per_hour: What one device costs for an hour.

    Raises:
        ValueError: If a number is negative.
    """
    check_range("num_devices", num_devices, 1, 10**9)
    check_range("seconds", seconds, 0, 1e30)
    check_range("price_per_hour", price_per_hour, 0, 1e6)
    values = {"num_devices": num_devices, "seconds": seconds, "price_per_hour": price_per_hour}
    return item(N_("cost"), COST, values, unit="USD", source=_PRICE, kind="estimated", band=0.1)
