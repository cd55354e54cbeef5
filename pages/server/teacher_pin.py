"""The teacher's PIN: six digits that a person reads from the terminal, and few tries at them.

Classroom control, not authentication: whoever listens on a plain network hears the PIN.
"""

import hmac
import secrets
import threading
import time
from collections.abc import Callable
from typing import Final

from core.language import _
from core.units import format_seconds

NUM_DIGITS: Final = 6
FREE_TRIES: Final = 5
FIRST_PAUSE: Final = 30.0  # seconds after the fifth wrong try; doubles with every further one
LONGEST_PAUSE: Final = 3600.0


class WrongPinError(ValueError):
    """The PIN is not the right one, or no try is allowed now."""


def new_pin() -> str:
    """Return six random digits.

    >>> len(new_pin()), new_pin().isdecimal()
    (6, True)
    """
    return f"{secrets.randbelow(10**NUM_DIGITS):0{NUM_DIGITS}d}"


class TeacherPin:
    """The PIN of this server. Tries are counted for the whole server: addresses can be many."""

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
        self._num_wrong = 0
        self._next_try = 0.0

    def check(self, given: str) -> None:
        """Accept the right PIN; it also forgives the wrong tries before it.

        Raises:
            WrongPinError: It is wrong, or the pause after too many wrong ones is not over.
        """
        with self._lock:
            now = self._clock()
            if now < self._next_try:
                raise WrongPinError(_pause_sentence(self._next_try - now))
            # Bytes: compare_digest refuses text that is not ASCII.
            if hmac.compare_digest(given.strip().encode(), self.digits.encode()):
                self._num_wrong = 0
                return
            self._num_wrong += 1
            self._refuse(now)

    def _refuse(self, now: float) -> None:
        left = FREE_TRIES - self._num_wrong
        if left > 0:
            raise WrongPinError(
                _("This is not the PIN in the teacher's terminal. Tries left: {left}.").format(
                    left=left
                )
            )
        pause = min(FIRST_PAUSE * 2.0 ** min(-left, 20), LONGEST_PAUSE)
        self._next_try = now + pause
        raise WrongPinError(_pause_sentence(pause))


def _pause_sentence(seconds: float) -> str:
    return _(
        "Too many wrong PINs on this server: nobody can try again for {pause}. The browser on the "
        "teacher's own computer needs no PIN."
    ).format(pause=format_seconds(seconds))
