"""The class that this server carries: its address, its PIN, who teaches, what students may do."""

import os
import sys
from typing import Final

import streamlit as st
from streamlit import config

from core.language import _
from core.machine.network import class_addresses
from pages.server.browser import is_here
from pages.server.descriptors import shortage
from pages.server.qr import qr_terminal
from pages.server.teacher_pin import TeacherPin, counted_address

PIN_VARIABLE: Final = "B2G_TEACHER_PIN"
# Other addresses of 127.0.0.0/8 stand for other computers, so that a class can be tried alone.
_THIS_COMPUTER: Final = ("localhost", "127.0.0.1", "::1")
_EVERY_INTERFACE: Final = ("", "0.0.0.0", "::")  # noqa: S104  recognized, never bound here


class Classroom:
    """What all sessions of this server share."""

    def __init__(self, pin: TeacherPin) -> None:
        self.pin: Final = pin
        self.sandbox_allowed = False
        self._teachers: set[str] = set()
        self._gave_pin_once: set[str] = set()
        self._pin_is_told = False

    def admit(self, pin: str, *, browser: str, address: str) -> None:
        """Make the browser a teacher's for the right PIN.

        Wrong ones are counted for its address, where others may guess too; those of a browser that
        gave the right one before are counted for itself.

        Raises:
            WrongPinError: If it is wrong, or too many were.
        """
        is_known = browser in self._gave_pin_once
        self.pin.check(pin, f"browser {browser}" if is_known else counted_address(address))
        self._teachers.add(browser)
        self._gave_pin_once.add(browser)

    def dismiss(self, browser: str) -> None:
        self._teachers.discard(browser)

    def is_teacher(self, browser: str) -> bool:
        """Say whether the browser gave the PIN, and has not given control back."""
        return browser in self._teachers

    @property
    def num_admitted(self) -> int:
        """How many of the browsers that gave the PIN have a page open."""
        return sum(map(is_here, tuple(self._teachers)))

    def tell_pin(self) -> None:
        if not self._pin_is_told:
            self._pin_is_told = True
            _say(_("Teacher's PIN: {pin}").format(pin=self.pin.digits))


@st.cache_resource(show_spinner=False)
def classroom() -> Classroom:
    """Return this server's class; the PIN leaves the environment, so that no child inherits it."""
    return Classroom(TeacherPin(os.environ.pop(PIN_VARIABLE, "")))


def in_class() -> bool:
    """Say whether this server answers other computers than its own."""
    return str(config.get_option("server.address") or "") not in _THIS_COMPUTER


def class_address() -> str:
    """Return the address that others type: scheme, host, port and path."""
    host = str(config.get_option("server.address") or "")
    if host in _EVERY_INTERFACE:
        named = config.is_manually_set("browser.serverAddress")
        found = [each.address for each in class_addresses()]
        host = str(config.get_option("browser.serverAddress")) if named else (found or [host])[0]
    scheme = "https" if config.get_option("server.sslCertFile") else "http"
    path = str(config.get_option("server.baseUrlPath")).strip("/")
    return f"{scheme}://{host}:{config.get_option('server.port')}" + (f"/{path}" if path else "")


def announce() -> None:
    """Write into the terminal what a teacher needs, and how many are too many for this process.

    Nothing when only this computer is answered and all can be carried.
    """
    if sentence := shortage():
        _say(sentence)
    if not in_class():
        return
    address = class_address()
    _say(qr_terminal(address))
    _say(_("Class: {address}").format(address=address))
    classroom().tell_pin()
    _say(_("Everyone in this network can watch; control needs this computer or the PIN."))
    others = [each.address for each in class_addresses() if each.address not in address]
    if others:
        _say(_("Not the right network? ADDRESS={others}").format(others=" | ".join(others)))


def _say(text: str) -> None:
    encoding = sys.stdout.encoding or "ascii"
    # A terminal without block characters shows no QR code rather than an error.
    sys.stdout.write(text.encode(encoding, "replace").decode(encoding) + "\n")
    sys.stdout.flush()
