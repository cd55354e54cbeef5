"""SIGTERM and Ctrl-C as a wish: the run ends after its step, with a checkpoint."""

import signal
from types import FrameType
from typing import Self


class StopSignal:
    """Remembers that somebody told the process to end."""

    requested = False

    def listen(self) -> Self:
        """Take the place of the handlers that would end the process at once."""
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, self._heard)
        return self

    def _heard(self, _number: int, _frame: FrameType | None) -> None:
        self.requested = True
