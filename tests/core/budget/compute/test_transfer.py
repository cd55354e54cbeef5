from dataclasses import replace

import pytest

from core.budget.catalogue.devices import DEVICES
from core.budget.compute.transfer import transfer_seconds


def test_seconds_are_bytes_over_the_data_sheet_s_bandwidth():
    device = DEVICES["h100-sxm"]
    host, other, own = transfer_seconds(64e9, device)
    assert (host.name, other.name, own.name) == (
        "from the host",
        "from another device",
        "from its own memory",
    )
    assert own.amount == 64e9 / 3.35e12
    assert host.amount == 64e9 / device.host_link
    assert host.amount > other.amount > own.amount


def test_a_link_that_is_not_there_is_left_out():
    lonely = replace(DEVICES["rtx-4090"], link=0)
    assert len(transfer_seconds(1, lonely)) == 2


def test_no_bytes_are_refused():
    with pytest.raises(ValueError, match="num_bytes is 0; it must lie between 1 and"):
        transfer_seconds(0, DEVICES["t4"])
