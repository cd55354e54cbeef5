from dataclasses import replace

import pytest

from core.budget.catalogue.devices import DEVICES
from core.budget.fits.memory_limits import largest_by_states


def test_forty_billion_parameters_fill_eight_cards_of_80_gb_and_53_billion_at_12_bytes():
    # Stanford CS336, question 2, in 10**9 bytes as the lecture counts.
    card = replace(DEVICES["h100-sxm"], memory_sold=80 * 10**9)
    assert largest_by_states(8, card, 16).amount == 40 * 10**9
    assert largest_by_states(8, card, 12).amount == pytest.approx(53.3e9, rel=1e-3)


def test_no_devices_are_refused():
    with pytest.raises(ValueError, match="num_devices is 0; it must lie between 1 and"):
        largest_by_states(0, DEVICES["t4"], 16)
    with pytest.raises(ValueError, match="bytes_each is 0"):
        largest_by_states(1, DEVICES["t4"], 0)
