"""Sentences about numbers that cannot be, the same in every part of a budget."""

from collections.abc import Sequence

from core.language import _


def check_range(name: str, value: float, low: float, high: float) -> None:
    """Refuse a number outside its range.

    Raises:
        ValueError: If it is; the sentence names the value and the range.
    """
    if not low <= value <= high:
        raise ValueError(
            _("{name} is {value}; it must lie between {low} and {high}.").format(
                name=name, value=value, low=f"{low:,}", high=f"{high:,}"
            )
        )


def check_choice(name: str, value: str, options: Sequence[str]) -> None:
    """Refuse a word that is none of the options.

    Raises:
        ValueError: If it is none; the sentence names them.
    """
    if value not in options:
        raise ValueError(
            _("{name} is {value}; use one of: {options}.").format(
                name=name, value=repr(value), options=_(", ").join(options)
            )
        )
