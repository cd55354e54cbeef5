"""Costly work beside the pages: one small pool for the whole server, each job once at a time."""

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Final

import streamlit as st

NUM_WORKERS: Final = 2


class Jobs:
    """Jobs by name; a job that is under way is not started again."""

    def __init__(self, num_workers: int = NUM_WORKERS) -> None:
        self._pool = ThreadPoolExecutor(num_workers, thread_name_prefix="costly")
        self._futures: dict[str, Future[object]] = {}

    def start(self, name: str, act: Callable[[], object]) -> None:
        """Run `act` in the pool unless the job of that name is under way."""
        if not self.is_running(name):
            self._futures[name] = self._pool.submit(act)

    def is_running(self, name: str) -> bool:
        """Return whether the job is waiting for its turn or under way."""
        future = self._futures.get(name)
        return future is not None and not future.done()

    def error(self, name: str) -> str:
        """Return why the job's last run failed, "" when it did not."""
        future = self._futures.get(name)
        if future is None or not future.done():
            return ""
        reason = future.exception()
        return str(reason) if reason else ""

    def close(self) -> None:
        """Take no more jobs and wait for those under way."""
        self._pool.shutdown()


@st.cache_resource(show_spinner=False)
def jobs() -> Jobs:
    """Return the server's jobs."""
    return Jobs()
