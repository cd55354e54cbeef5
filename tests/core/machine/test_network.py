"""Which address a class is given, on made-up machines."""

import socket
from collections import namedtuple

import psutil
import pytest

from core.machine import network

Entry = namedtuple("Entry", "family address")
Stats = namedtuple("Stats", "isup")


@pytest.fixture
def machine(monkeypatch):
    """Return machine(**interfaces): an address each, or (address, is_up)."""

    def make(**interfaces):
        network._own_addresses.cache_clear()
        addresses, stats = {}, {}
        for name, value in interfaces.items():
            address, is_up = value if isinstance(value, tuple) else (value, True)
            family = socket.AF_INET6 if ":" in address else socket.AF_INET
            addresses[name], stats[name] = [Entry(family, address)], Stats(is_up)
        monkeypatch.setattr(psutil, "net_if_addrs", lambda: addresses)
        monkeypatch.setattr(psutil, "net_if_stats", lambda: stats)

    yield make
    network._own_addresses.cache_clear()


def addresses():
    return [each.address for each in network.class_addresses()]


def test_the_room_s_network_comes_first_and_containers_do_not_count(machine):
    machine(
        lo="127.0.0.1",
        docker0="172.17.0.1",
        public0="8.8.4.4",
        wlan0="192.168.1.34",
        tun0="10.8.0.2",
    )
    assert addresses() == ["192.168.1.34", "8.8.4.4"]
    assert network.choose_class_address() == "192.168.1.34"


def test_what_is_down_or_link_local_is_left_out(machine):
    machine(eth0=("192.168.1.3", False), eth1="169.254.7.7", eth2="fe80::1")
    assert addresses() == []
    with pytest.raises(ValueError, match="no address that others could reach"):
        network.choose_class_address()


def test_own_addresses_hold_loopback_and_lose_the_zone(machine):
    machine(lo="127.0.0.1", eth0="fe80::2%eth0")
    assert network.own_addresses() == {"127.0.0.1", "fe80::2"}


@pytest.mark.parametrize("wanted", ["192.168.1.34", "127.0.0.1", "127.0.0.2"])
def test_an_address_of_this_computer_is_taken(machine, wanted):
    machine(wlan0="192.168.1.34")
    assert network.choose_class_address(wanted) == wanted


@pytest.mark.parametrize("wanted", ["0.0.0.0", "192.168.1.35"])  # noqa: S104
def test_every_interface_at_once_or_another_computer_is_refused(machine, wanted):
    machine(wlan0="192.168.1.34")
    with pytest.raises(ValueError, match=r"not one address of this computer.*192\.168\.1\.34"):
        network.choose_class_address(wanted)


@pytest.mark.parametrize("wanted", ["teacher", "::1", "1.2.3", "127.0.0.1; rm -rf"])
def test_what_is_no_ipv4_address_is_refused(wanted):
    with pytest.raises(ValueError, match="no IPv4 address"):
        network.choose_class_address(wanted)
