"""What an input accepts from the address: how a value is read, written and described."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from core.language import _
from pages.shared.settings import choices_text

T = TypeVar("T")
N = TypeVar("N", int, float)


@dataclass(frozen=True, kw_only=True, slots=True)
class Accepts(Generic[T]):
    """One input's side of the address.

    `read` returns None for a text that is not accepted; `write` is its inverse. `is_number`: a
    widget of Streamlit's reads the number itself.
    """

    read: Callable[[str], T | None]
    write: Callable[[T], str]
    allowed: Callable[[], str]
    default: T
    is_number: bool = False


def number_between(low: N, high: N, default: N) -> Accepts[N]:
    """Accept a number from `low` to `high`; whole numbers only, if the default is one.

    Raises:
        ValueError: If the default is outside the range.
    """
    if not low <= default <= high:
        raise ValueError(f"the default {default} must lie between {low} and {high}")
    kind = type(default)

    def read(text: str) -> N | None:
        try:
            value = float(text)
        except ValueError:
            return None
        inside = math.isfinite(value) and low <= value <= high
        return kind(value) if inside and kind(value) == value else None

    def allowed() -> str:
        words = {int: _("a whole number from {low} to {high}"), float: _("{low} to {high}")}
        return words[kind].format(low=low, high=high)

    return Accepts(read=read, write=write_number, allowed=allowed, default=default, is_number=True)


def write_number(value: float) -> str:
    """Return a number as Streamlit writes it into the address: 5.0 as "5"."""
    return str(int(value)) if float(value).is_integer() else str(value)


def one_of(options: Sequence[T], default: T) -> Accepts[T]:
    """Accept one of the options, written with `str`.

    Raises:
        ValueError: If the default is not among the options, or two options are written alike.
    """
    by_word = {str(option): option for option in options}
    if default not in options or len(by_word) != len(options):
        raise ValueError(f"{default!r} must be one of {list(options)}, each written differently")
    return Accepts(
        read=by_word.get, write=str, allowed=lambda: choices_text(list(by_word)), default=default
    )


def some_of(
    options: Sequence[str], default: tuple[str, ...], most: int
) -> Accepts[tuple[str, ...]]:
    """Accept up to `most` of the options, each once, in any order, with commas between them."""

    def read(text: str) -> tuple[str, ...] | None:
        words = tuple(text.split(","))
        fits = len(words) <= most and len(set(words)) == len(words) and set(words) <= {*options}
        return words if fits else None

    def allowed() -> str:
        text = _("up to {most} of {choices}, with commas between them")
        return text.format(most=most, choices=_(", ").join(f"`{each}`" for each in options))

    return Accepts(
        read=read,
        write=lambda chosen: ",".join(chosen or default),  # none chosen: as at first
        allowed=allowed,
        default=default,
    )


def true_or_false(default: bool) -> Accepts[bool]:
    words = {"true": True, "false": False}
    return Accepts(
        read=lambda text: words.get(text.lower()),
        write=lambda value: str(value).lower(),
        allowed=lambda: choices_text(list(words)),
        default=default,
    )


def text_up_to(max_chars: int, default: str) -> Accepts[str]:
    """Accept a text of at most `max_chars` characters."""
    return Accepts(
        read=lambda text: text if len(text) <= max_chars else None,
        write=str,
        allowed=lambda: _("at most {count} characters").format(count=max_chars),
        default=default,
    )
