"""Hooks of a reader's program that show in a capture when they ran."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

_WHO_LISTENS: ContextVar[Callable[[str], None] | None] = ContextVar("hooks", default=None)


def told(name: str, hook: Callable[..., Any]) -> Callable[..., Any]:
    """Return a hook that names itself to the capture in whose backward pass it runs, if any."""

    def telling(*given: Any) -> Any:  # noqa: ANN401  what torch hands to hooks differs
        listener = _WHO_LISTENS.get()
        if listener is not None:
            listener(name)
        return hook(*given)

    return telling


@contextmanager
def hearing(listener: Callable[[str], None]) -> Iterator[None]:
    """Hear of the hooks that run in this thread."""
    before = _WHO_LISTENS.set(listener)
    try:
        yield
    finally:
        _WHO_LISTENS.reset(before)
