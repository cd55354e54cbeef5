"""The addresses of this computer, and the one that a class can reach."""

import ipaddress
import re
import socket
import time
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

import psutil

from core.language import _

# Bridges of containers, virtual machines and tunnels: no laptop in the room reaches these.
_VIRTUAL: Final = re.compile(
    r"(lo|docker|br-|veth|virbr|vmnet|vboxnet|vethernet|virtualbox|vmware|cni|flannel|tun|tap|utun"
    r"|wg|tailscale|zt|ppp|bridge|anpi|awdl|llw)",
    re.IGNORECASE,
)
_ASK_AGAIN_SECONDS: Final = 10.0


@dataclass(frozen=True, kw_only=True, slots=True)
class NetworkAddress:
    """One IPv4 address of this computer and the interface that bears it."""

    address: str
    interface: str


def own_addresses() -> frozenset[str]:
    """Return every address of this computer, IPv4 and IPv6, loopback included.

    Asked again every ten seconds: every click asks who may control, and networks change.
    """
    return _own_addresses(int(time.monotonic() // _ASK_AGAIN_SECONDS))


@lru_cache(maxsize=1)
def _own_addresses(_when: int) -> frozenset[str]:
    families = (socket.AF_INET, socket.AF_INET6)
    return frozenset(
        entry.address.partition("%")[0]
        for entries in psutil.net_if_addrs().values()
        for entry in entries
        if entry.family in families
    )


def class_addresses() -> tuple[NetworkAddress, ...]:
    """Return the IPv4 addresses that other computers may reach, the likeliest first.

    Private networks (RFC 1918) come before public ones; loopback, link-local addresses, interfaces
    that are down and those of containers and tunnels are left out.
    """

    def place(each: NetworkAddress) -> tuple[bool, str]:
        return not ipaddress.ip_address(each.address).is_private, each.interface

    return tuple(sorted(_candidates(), key=place))


def _candidates() -> Iterator[NetworkAddress]:
    states = psutil.net_if_stats()
    for interface, entries in psutil.net_if_addrs().items():
        is_up = interface in states and states[interface].isup
        if not is_up or _VIRTUAL.match(interface):
            continue
        for entry in entries:
            if entry.family == socket.AF_INET:
                found = ipaddress.ip_address(entry.address)
                if not (found.is_loopback or found.is_link_local or found.is_unspecified):
                    yield NetworkAddress(address=entry.address, interface=interface)


def check_class_address(address: str) -> str:
    """Accept one IPv4 address of this computer, or one of 127.0.0.0/8 to try a class alone.

    Raises:
        ValueError: It is no IPv4 address, stands for every interface, or is another computer's.
    """
    try:
        parsed = ipaddress.IPv4Address(address)
    except ValueError as error:
        raise ValueError(
            _("{address!r} is no IPv4 address; write one like 192.168.1.34.", address=address[:60])
        ) from error
    if parsed.is_unspecified or not (parsed.is_loopback or address in own_addresses()):
        known = _(", ").join(each.address for each in class_addresses()) or "127.0.0.1"
        raise ValueError(
            _("{address} is not one address of this computer; choose one of: {known}.").format(
                address=address, known=known
            )
        )
    return address


def choose_class_address(wanted: str = "") -> str:
    """Return the address for a class: the wanted one, else the likeliest.

    Raises:
        ValueError: The wanted one cannot be used, or there is none to choose.
    """
    if wanted:
        return check_class_address(wanted)
    found = class_addresses()
    if not found:
        raise ValueError(
            _(
                "This computer has no address that others could reach. Join the network of the "
                "class first, or name an address of this computer: ADDRESS=192.168.1.34."
            )
        )
    return found[0].address
