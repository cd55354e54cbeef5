"""Who may control runs: the one place that is asked, before every command and every start."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

import streamlit as st

from core.language import _
from core.machine.network import own_addresses
from pages.server.browser import COOKIE, browser, browsers
from pages.server.classroom import class_address, classroom, in_class
from pages.server.shares import Visitor
from pages.server.teacher_pin import counted_address

# Whoever comes through a proxy seems to be the proxy, often this very computer; and the address
# that the proxy passes on can be written by anyone. So nobody behind one counts as local.
_PROXY_HEADERS: Final = frozenset(
    {
        "forwarded",
        "via",
        "x-forwarded-for",
        "x-forwarded-host",
        "x-forwarded-proto",
        "x-real-ip",
        "x-client-ip",
        "true-client-ip",
        "cf-connecting-ip",
    }
)


class ControlRefusedError(ValueError):
    """The browser may watch, but not do this."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Peer:
    """The other end of this session's connection."""

    address: str  # its IP address; empty when there is no connection
    proxied: bool  # whether a proxy stands between

    @property
    def is_here(self) -> bool:
        """Whether it is a browser on the server's own computer."""
        return not self.proxied and self.address in own_addresses()


def peer_of(address: str | None, headers: Mapping[str, str]) -> Peer:
    """Return the peer from what Streamlit tells of the connection.

    `st.context.ip_address` is None for 127.0.0.1 and ::1, but also where there is no connection at
    all; a connection always has headers.
    """
    names = {name.lower() for name in headers}
    known = (address or "127.0.0.1") if names else ""
    return Peer(address=known, proxied=bool(names & _PROXY_HEADERS))


def peer() -> Peer:
    return peer_of(st.context.ip_address, st.context.headers)


def is_teacher() -> bool:
    """Say whether this browser may start, pause, stop and edit runs."""
    other = peer()
    if other.is_here or holds_pin():
        return True
    if in_class() or other.proxied:
        classroom().tell_pin()
        return False
    # A server that listens on 127.0.0.1 only: whoever is connected is on this computer.
    return True


def goes_first() -> bool:
    """Say whether this browser is the teacher's of a class, whom nobody keeps waiting."""
    return in_class() and is_teacher()


def counted_as() -> str:
    """Return the address for which this browser's wishes are counted; "" for a teacher's."""
    return "" if is_teacher() else counted_address(peer().address)


def holds_pin() -> bool:
    """Say whether this browser has given the PIN."""
    return classroom().is_teacher(browser())


def check_teacher() -> None:
    """Let a teacher through.

    Raises:
        ControlRefusedError: Everybody else, with the sentence of who holds control.
    """
    if not is_teacher():
        raise ControlRefusedError(who_controls())


def check_control(run: str) -> None:
    """Let through who may control this run: a teacher, or the student whose sandbox run it is.

    Raises:
        ControlRefusedError: Everybody else.
    """
    if not may_control(run):
        raise ControlRefusedError(who_controls())


def may_control(run: str) -> bool:
    """Say whether this browser may control the run of that name."""
    return is_teacher() or owns(run)


def visitor(host: str, headers: Mapping[str, str], cookies: Mapping[str, str]) -> Visitor:
    """Return who stands behind a connection from that address, outside of a session."""
    name = browsers().read(cookies.get(COOKIE, ""))
    teaches = bool(host) and peer_of(host, headers).is_here
    return Visitor(
        address=counted_address(host), browser=name, teaches=teaches or classroom().is_teacher(name)
    )


@st.cache_resource(show_spinner=False)
def run_owners() -> dict[str, str]:
    """Return the browser of every sandbox run that this server has started, by the run's name."""
    return {}


def owns(run: str) -> bool:
    """Say whether the sandbox run of that name is this browser's own."""
    return bool(run) and run_owners().get(run) == browser()


def give_pin(pin: str) -> None:
    """Make this browser a teacher's.

    Raises:
        WrongPinError: If the PIN is wrong, or too many were.
    """
    classroom().admit(pin, browser=browser(), address=peer().address)


def give_back() -> None:
    classroom().dismiss(browser())


def signature() -> str:
    """Return who commands, for the trace that every command leaves."""
    return f"page {peer().address}".strip()


def who_controls() -> str:
    num_admitted = classroom().num_admitted
    here = class_address().partition("://")[2]
    if not num_admitted:
        return _(
            "You are watching. The browser on the teacher's computer ({address}) controls."
        ).format(address=here)
    return _(
        "You are watching. The browser on the teacher's computer ({address}) controls, and so do "
        "those that gave the PIN: {count}."
    ).format(address=here, count=num_admitted)
