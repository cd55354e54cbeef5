"""What the server keeps of opened models and of what they wrote: the newest, up to 64 MB in all."""

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Final, TypeVar, cast

import streamlit as st

T = TypeVar("T")
MAX_BYTES: Final = 64_000_000


class Kept:
    """Values by key, those used last, as many as together hold at most so many bytes."""

    def __init__(self, max_bytes: int = MAX_BYTES) -> None:
        self._max_bytes = max_bytes
        self._values: OrderedDict[Hashable, tuple[object, int]] = OrderedDict()
        self._making: dict[Hashable, threading.Lock] = {}
        self._lock = threading.Lock()

    @property
    def values(self) -> tuple[object, ...]:
        with self._lock:
            return tuple(value for value, _num_bytes in self._values.values())

    def get(self, key: Hashable, make: Callable[[], T], num_bytes: Callable[[T], int]) -> T:
        """Return the value of a key, made now if it is not kept; an error is not kept.

        Args:
            key: The same key must mean the same value, which nobody changes.
            make: Called once, however many ask at the same time.
            num_bytes: How many bytes a value holds.
        """
        with self._lock:
            making = self._making.setdefault(key, threading.Lock())
        try:
            with making:
                found = cast("tuple[T, int] | None", self._values.get(key))
                if found is None:
                    value = make()
                    found = (value, num_bytes(value))
                self._use(key, found)
        finally:
            self._making.pop(key, None)
        return found[0]

    def _use(self, key: Hashable, found: tuple[object, int]) -> None:
        with self._lock:
            self._values[key] = found
            self._values.move_to_end(key)
            while sum(each for _value, each in self._values.values()) > self._max_bytes:
                self._values.popitem(last=False)


@st.cache_resource(show_spinner=False)
def kept() -> Kept:
    return Kept()
