"""Costly work beside the pages: one small pool for the whole server, each job once at a time."""

import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Final, TypeVar, cast

import streamlit as st

from core.language import _
from core.train.run.disk import sentence_of
from pages.server.control_right import counted_as

T = TypeVar("T")
NUM_WORKERS: Final = 2
MAX_WAITING: Final = 8
MAX_OF_ADDRESS: Final = 6  # under way or waiting; a class may share one address
_LOOK_SECONDS: Final = 0.2
_NUM_REMEMBERED: Final = 64


class PoolFullError(ValueError):
    """As many costly jobs wait as the server lines up."""


class Jobs:
    """Jobs by name; a job that is under way is not started again."""

    def __init__(
        self,
        num_workers: int = NUM_WORKERS,
        max_waiting: int = MAX_WAITING,
        counted_as: Callable[[], str] = lambda: "",
    ) -> None:
        """Start the pool; `counted_as` is the address of who asks, "" if nobody counts."""
        self._counted_as, self._asked_by = counted_as, dict[str, str]()
        self._pool = ThreadPoolExecutor(num_workers, thread_name_prefix="costly")
        self._max_jobs = num_workers + max_waiting
        self._num_workers, self._max_waiting = num_workers, max_waiting
        self._futures: dict[str, Future[object]] = {}
        self._lock = threading.Lock()

    def start(self, name: str, act: Callable[[], object]) -> None:
        """Run `act` in the pool unless the job of that name is under way.

        Raises:
            PoolFullError: If too many jobs wait already.
        """
        self._submit(name, act)

    def finish(
        self, name: str, act: Callable[[], T], on_wait: Callable[[int], None] = lambda _place: None
    ) -> T:
        """Run `act` in the pool, or join the job of that name, and return what it returns.

        The same name must mean the same work; it has no session of Streamlit. `on_wait` is called
        five times a second with the number of jobs that come first, 0 once the job runs.

        Raises:
            PoolFullError: If too many jobs wait already.
        """
        future = self._submit(name, act)
        while True:
            try:
                return cast("T", future.result(_LOOK_SECONDS))
            except TimeoutError:
                if future.done():  # it ended just now, perhaps with a TimeoutError of its own
                    return cast("T", future.result())
                on_wait(self.place(name))

    def place(self, name: str) -> int:
        """Return how many jobs must end before this one begins; 0 when it runs or is done."""
        with self._lock:
            names = [each for each, future in self._futures.items() if not future.done()]
        return max(names.index(name) + 1 - self._num_workers, 0) if name in names else 0

    def error(self, name: str) -> str:
        """Return why the job's last run failed, "" when it did not."""
        future = self._futures.get(name)
        if future is None or not future.done():
            return ""
        reason = future.exception()
        return sentence_of(reason) if reason else ""

    def close(self) -> None:
        """Take no more jobs and wait for those under way."""
        self._pool.shutdown()

    def _submit(self, name: str, act: Callable[[], object]) -> Future[object]:
        with self._lock:
            known = self._futures.get(name)
            if known is not None and not known.done():
                return known
            address = self._counted_as()
            self._refuse_if_full(address)
            self._futures.pop(name, None)  # in the order of their starts
            self._asked_by[name] = address
            future: Future[object] = self._pool.submit(act)
            self._futures[name] = future
            return future

    def _refuse_if_full(self, address: str) -> None:
        done = [name for name, future in self._futures.items() if future.done()]
        if len(self._futures) - len(done) >= self._max_jobs:
            message = _("{count} measurements are waiting on this server; try again in a minute.")
            raise PoolFullError(message.format(count=self._max_waiting))
        going = [self._asked_by[name] for name in self._futures.keys() - done]
        if address and going.count(address) >= MAX_OF_ADDRESS:
            message = _(
                "{count} measurements from your address are waiting; try again in a minute."
            )
            raise PoolFullError(message.format(count=MAX_OF_ADDRESS))
        for name in done[:-_NUM_REMEMBERED]:
            del self._futures[name], self._asked_by[name]


@st.cache_resource(show_spinner=False)
def jobs() -> Jobs:
    return Jobs(counted_as=counted_as)
