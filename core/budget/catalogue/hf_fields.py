"""One field of a config.json: a number, a switch, a list, or a sentence that names the field."""

from collections.abc import Mapping
from typing import Any, Final

from core.language import _
from core.models.spec import MAX_SIZE

Config = Mapping[str, Any]
MAX_SHOWN: Final = 40
MAX_DEPTH: Final = 40  # of lists and objects in each other
PER_LAYER: Final = frozenset(
    {
        *("intermediate_size", "moe_intermediate_size", "num_attention_heads"),
        *("num_key_value_heads", "head_dim", "num_experts", "num_experts_per_tok"),
        *("n_shared_experts", "shared_expert_intermediate_size", "shared_intermediate_size"),
        *("sliding_window", "intermediate_size_mlp", "n_inner"),
    }
)
"""What a file may say as a list, a number for each layer; if they are equal it is that number."""


def is_deep(found: object) -> bool:
    """Return whether what was read of JSON is nested beyond reason: Python could not write it."""
    parts = [found]
    for _depth in range(MAX_DEPTH):
        nested = [each for each in parts if isinstance(each, (dict, list))]
        parts = [
            part for each in nested for part in (each.values() if isinstance(each, dict) else each)
        ]
    return bool(parts)


def whole_number(config: Config, key: str, *, low: int = 1, high: int = MAX_SIZE) -> int:
    """Return a field that must be there.

    Raises:
        ValueError: If it is missing, no whole number, or outside the range.
    """
    value = config.get(key)
    if value is None:
        raise ValueError(
            _("config.json has no {key}: the model cannot be counted without it.").format(key=key)
        )
    return _checked(key, value, low, high)


def optional_number(config: Config, key: str, default: int, *, low: int = 1) -> int:
    """Return a field that may be missing or null.

    Raises:
        ValueError: If it is no whole number or outside the range.
    """
    value = config.get(key)
    return default if value is None else _checked(key, value, low)


def flag(config: Config, key: str, default: bool) -> bool:
    """Return a field that is true, false, null or missing.

    Raises:
        ValueError: If it is anything else.
    """
    value = config.get(key)
    if value is None:
        return default
    if not isinstance(value, bool):
        raise _wrong(_("{key} in config.json is {value}; it must be true or false."), key, value)
    return value


def words(config: Config, key: str) -> tuple[str, ...]:
    """Return a field that is a list of words; empty if it is missing or null.

    Raises:
        ValueError: If it is anything else.
    """
    value = config.get(key)
    if value is None:
        return ()
    if not isinstance(value, list) or not all(isinstance(each, str) for each in value):
        raise _wrong(_("{key} in config.json is {value}; it must be a list of words."), key, value)
    return tuple(value)


def whole_numbers(config: Config, key: str) -> tuple[int, ...]:
    """Return a field that is a list of whole numbers; empty if it is missing or null.

    Raises:
        ValueError: If it is anything else.
    """
    value = config.get(key)
    if value is None:
        return ()
    if not isinstance(value, list) or not all(type(each) is int for each in value):
        raise _wrong(
            _("{key} in config.json is {value}; it must be a list of whole numbers."), key, value
        )
    return tuple(value)


def shown(value: object) -> str:
    """Return a value of the file short enough for a sentence, without marks of Markdown."""
    try:
        text = repr(value)
    except ValueError:  # a whole number of more than 4,300 digits is not written out
        text = _("a very large number")
    plain = "".join(mark if mark.isalnum() or mark in " .,:+-_'[]{}" else "?" for mark in text)
    return plain if len(plain) <= MAX_SHOWN else f"{plain[:MAX_SHOWN]}..."


def _wrong(sentence: str, key: str, value: object) -> ValueError:
    return ValueError(sentence.format(key=key, value=shown(value)))


def _checked(key: str, value: object, low: int, high: int = MAX_SIZE) -> int:
    if key in PER_LAYER and isinstance(value, list) and len(value) > 1:
        if any(each != value[0] for each in value):
            raise ValueError(
                _(
                    "{key} in config.json differs from layer to layer, which cannot be "
                    "counted here."
                ).format(key=key)
            )
        value = value[0]
    if isinstance(value, bool) or not isinstance(value, int):
        raise _wrong(_("{key} in config.json is {value}; it must be a whole number."), key, value)
    if not low <= value <= high:
        raise ValueError(
            _("{key} in config.json is {value}; it must lie between {low} and {high}.").format(
                key=key, value=shown(value), low=low, high=f"{high:,}"
            )
        )
    return value
