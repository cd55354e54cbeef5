"""Nobody takes the server from the others: a share for each address and browser, some for teachers.

A class may sit behind one address, so an address may have much; what keeps the teacher in is the
part of everything that only a teacher's browser gets.
"""

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Final

from starlette.types import Scope

from core.language import _
from core.machine.network import own_addresses
from pages.server.teacher_pin import counted_address


class ShareSpentError(ValueError):
    """The browser, its address or all together hold as much as they may."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Visitor:
    """Whoever asks the server for something."""

    address: str  # for which is counted; of IPv6 the part that one cannot choose
    browser: str  # its signed name; empty without a cookie, then only the address counts
    teaches: bool  # whether it is on this computer or gave the PIN


def visitor_in(scope: Scope) -> Visitor:
    """Return who stands behind a request or a websocket, as the guard has noted it.

    Where nothing guards, the address alone tells.
    """
    known: Visitor | None = scope.get("visitor")
    return known or visitor_at((scope.get("client") or ("",))[0])


def visitor_at(host: str) -> Visitor:
    """Return who is known by an address only."""
    return Visitor(address=counted_address(host), browser="", teaches=host in own_addresses())


class Shares:
    """How much of one thing each holds now, in pieces or in bytes; used by the server's loop only.

    Two thirds of it may go to one address: thirty students behind one router, and others beside.
    """

    def __init__(self, total: int, *, of_browser: int, reserve: int) -> None:
        """Divide `total`, of which `reserve` is the teachers' alone."""
        self.total: Final = total
        self._of_browser, self._of_address = of_browser, 2 * total // 3
        self._of_students = total - min(reserve, total // 4)
        self._held: Counter[str] = Counter()

    def check(self, visitor: Visitor, amount: int = 1) -> None:
        """Say whether that much more can be had.

        Raises:
            ShareSpentError: If not; says whose share is spent.
        """
        most = self.total if visitor.teaches else self._of_students
        self._refuse_beyond(most, "", amount, _("All {count} places are taken: try again later."))
        if not visitor.teaches:
            sentence = _("All {count} places for your address are taken: try again later.")
            self._refuse_beyond(self._of_address, _of(visitor), amount, sentence)
        if visitor.browser and not visitor.teaches:
            sentence = _("All {count} places for this browser are taken: close one of its pages.")
            self._refuse_beyond(self._of_browser, visitor.browser, amount, sentence)

    def _refuse_beyond(self, most: int, holder: str, amount: int, sentence: str) -> None:
        if self._held[holder] + amount > most:
            raise ShareSpentError(sentence.format(count=most))

    @contextmanager
    def held(self, visitor: Visitor, amount: int = 1) -> Iterator[None]:
        self.add(visitor, amount)
        try:
            yield
        finally:
            self.add(visitor, -amount)

    def add(self, visitor: Visitor, amount: int) -> None:
        """Count that much more, or less, for all together, the address and the browser."""
        for each in {"", _of(visitor), visitor.browser}:  # "" stands for all together
            self._held[each] += amount
        self._held += Counter()  # who holds nothing is forgotten


def _of(visitor: Visitor) -> str:
    return f"address {visitor.address}"
