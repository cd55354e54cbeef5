"""The inputs of side A while two settings are compared: read from a text, drawn nowhere.

A page's inputs are the reader's own, B's. To know what A is, the same functions that show them run
once more inside `read_as`: each input then takes its value from A's text, and nothing is drawn.
"""

import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Final, TypeVar
from urllib.parse import parse_qsl, quote, urlencode

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from core.language import _
from pages.shared.accepts import Accepts
from pages.shared.link import Refusal

T = TypeVar("T")

DEFAULTS: Final = "default"  # the text of a side on which every input is at its default
_MOST_VALUES: Final = 100  # more than any page has inputs
_RUN: Final = threading.local()  # a run has a thread of its own


@dataclass(kw_only=True, slots=True)
class Side:
    """What a text says about the inputs of a page.

    Attributes:
        name: The setting that holds the text: "sizes_a".
        values: Name of an input -> its value as the address writes it.
        used: Name -> what has been read, for the inputs that the page has asked for.
        refusals: The values that were not accepted.
    """

    name: str
    values: Mapping[str, str]
    used: dict[str, Any] = field(default_factory=dict)
    refusals: list[Refusal] = field(default_factory=list)

    def short(self, page: str, name: str) -> str:
        """Return how the text calls an input: of the page's own without the page's name."""
        return name if f"{page}_a" == self.name else f"{page}_{name}"

    def take(self, page: str, name: str, accepted: Accepts[T]) -> T:
        """Return the value of an input, its default where the text says none that is accepted."""
        name = self.short(page, name)
        text = self.values.get(name)
        value = None if text is None else accepted.read(text)
        if value is None:
            value = accepted.default
            if text is not None:
                called, used = f"{self.name}: {name}", accepted.write(value)
                refusal = Refusal(name=called, value=text, allowed=accepted.allowed(), used=used)
                self.refusals.append(refusal)
        self.used[name] = value
        return value

    def show_refusals(self) -> None:
        """Show what was not accepted, as the frame does, and what nobody has asked for."""
        for refusal in self.refusals:
            st.caption(refusal.sentence())
        others = [f"`{each[:60]}`" for each in self.values if each not in self.used]
        if others:
            text = _("A also sets {names}, which this tab does not ask for.")
            st.caption(text.format(names=_(", ").join(others)))


def write_side(values: Mapping[str, str]) -> str:
    """Return the values of inputs as a compact text.

    >>> write_side({"size": "llama-2-7b", "rest": "false"}), write_side({})
    ('size=llama-2-7b&rest=false', 'default')
    """
    return urlencode(values, safe=",:/+", quote_via=quote) or DEFAULTS


def read_side(text: str) -> dict[str, str]:
    """Return the values that `write_side` wrote; a text that is none has none.

    >>> read_side("size=llama-2-7b&rest=false"), read_side("default")
    ({'size': 'llama-2-7b', 'rest': 'false'}, {})
    """
    try:
        return dict(
            parse_qsl(
                text.replace("+", "%2B"),
                keep_blank_values=True,
                strict_parsing=True,
                max_num_fields=_MOST_VALUES,
            )
        )
    except ValueError:
        return {}


def reading() -> Side | None:
    """Return the side whose inputs are read now; None where the reader's own are shown."""
    return getattr(_RUN, "side", None)


@contextmanager
def read_as(side: Side) -> Iterator[None]:
    """Let the inputs that are asked for inside be those of a side."""
    _RUN.side = side
    try:
        yield
    finally:
        _RUN.side = None


@contextmanager
def out_of_sight(name: str) -> Iterator[None]:
    """Let the inputs asked for inside be kept and linked, but seen by nobody.

    Each such place on a page has another name.
    """
    _RUN.unseen = True
    try:
        with box(st.container, key=f"bound_{name}"):
            yield
    finally:
        _RUN.unseen = False


def is_unseen() -> bool:
    """Return whether the inputs that are asked for now are seen by nobody."""
    return getattr(_RUN, "unseen", False)


def box(make: Callable[..., DeltaGenerator], *args: object, **fields: object) -> DeltaGenerator:
    """Return a place for inputs: of `make`, or a bare one while a side is read."""
    return make(*args, **fields) if reading() is None else st.container()


def boxes(labels: Sequence[str]) -> Sequence[DeltaGenerator]:
    """Return tabs for inputs, or bare places while a side is read."""
    return st.tabs(labels) if reading() is None else [st.container() for _label in labels]


def not_understood(text: str) -> str:
    """Return why a text says nothing about a side; "" if it does, or says that all is default."""
    if text == DEFAULTS or read_side(text):
        return ""
    return _("A's text {text} cannot be read: every input of A is at its default.").format(
        text=f"`{text[:60]}`"
    )
