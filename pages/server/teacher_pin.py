"""The teacher's PIN: six digits that a person reads from the terminal, and few tries at them.

Classroom control, not authentication: whoever listens on a plain network hears the PIN.
"""

import hmac
import secrets
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from ipaddress import IPv4Address, ip_address, ip_network
from typing import Final

from core.language import _
from core.units import format_seconds

NUM_DIGITS: Final = 6
FREE_TRIES: Final = 5
FIRST_PAUSE: Final = 30.0  # seconds after the fifth wrong try; doubles with every further one
LONGEST_PAUSE: Final = 3600.0
MAX_COUNTED: Final = 1000  # who has guessed last; a class has thirty


class WrongPinError(ValueError):
    """The PIN is not the right one, or no try is allowed now."""


def new_pin() -> str:
    """Return six random digits.

    >>> len(new_pin()), new_pin().isdecimal()
    (6, True)
    """
    return f"{secrets.randbelow(10**NUM_DIGITS):0{NUM_DIGITS}d}"


@dataclass(slots=True)
class _Tries:
    """Wrong tries since the last right one, and the time of the next that is allowed."""

    num_wrong: int = 0
    next_try: float = 0.0


class TeacherPin:
    """The PIN of this server. Wrong tries are counted for each who guesses."""

    def __init__(self, pin: str = "", clock: Callable[[], float] = time.monotonic) -> None:
        """Take the chosen PIN, or make one.

        Raises:
            ValueError: If the chosen one is not six digits.
        """
        if pin and not (len(pin) == NUM_DIGITS and pin.isascii() and pin.isdecimal()):
            raise ValueError(
                _(
                    "The teacher's PIN must be {count} digits; {given} characters were given."
                ).format(count=NUM_DIGITS, given=len(pin))
            )
        self.digits: Final = pin or new_pin()
        self._clock = clock
        self._lock = threading.Lock()
        self._tries: dict[str, _Tries] = {}

    def check(self, given: str, who: str = "") -> None:
        """Accept the right PIN; it also forgives the wrong tries before it.

        Wrong ones are counted for `who`: an address, or a browser known for its own.

        Raises:
            WrongPinError: It is wrong, or the pause after too many wrong ones is not over.
        """
        with self._lock:
            now, tries = self._clock(), self._tries.pop(who, _Tries())
            if now < tries.next_try:
                self._keep(who, tries)
                raise WrongPinError(_pause_sentence(tries.next_try - now))
            # Bytes: compare_digest refuses text that is not ASCII.
            if hmac.compare_digest(given.strip().encode(), self.digits.encode()):
                return
            tries.num_wrong += 1
            self._keep(who, tries)
            self._refuse(now, tries)

    def _keep(self, who: str, tries: _Tries) -> None:
        self._tries[who] = tries  # last in the order of the dictionary
        if len(self._tries) > MAX_COUNTED:
            del self._tries[next(iter(self._tries))]

    def _refuse(self, now: float, tries: _Tries) -> None:
        left = FREE_TRIES - tries.num_wrong
        if left > 0:
            raise WrongPinError(
                _("This is not the PIN in the teacher's terminal. Tries left: {left}.").format(
                    left=left
                )
            )
        pause = min(FIRST_PAUSE * 2.0 ** min(-left, 20), LONGEST_PAUSE)
        tries.next_try = now + pause
        raise WrongPinError(_pause_sentence(pause))


def counted_address(address: str) -> str:
    """Return the address for which tries are counted: of IPv6 the part that one cannot choose.

    >>> counted_address("192.168.1.7"), counted_address("::ffff:192.168.1.7")
    ('192.168.1.7', '192.168.1.7')
    >>> counted_address("2001:db8::1"), counted_address("2001:db8::2")
    ('2001:db8::/64', '2001:db8::/64')
    """
    try:
        known = ip_address(address.partition("%")[0])
    except ValueError:
        return address
    if isinstance(known, IPv4Address):
        return address
    if known.ipv4_mapped:
        return str(known.ipv4_mapped)
    return str(ip_network((known, 64), strict=False))


def _pause_sentence(seconds: float) -> str:
    return _(
        "Too many wrong PINs from your address: the next try is possible in {pause}. The browser "
        "on the teacher's own computer needs no PIN."
    ).format(pause=format_seconds(seconds))
