"""A capture as JSON, and back: what a reader saves, and what a child process answers."""

import json
import math
from dataclasses import asdict, fields, is_dataclass
from types import UnionType
from typing import Any, Union, get_args, get_origin, get_type_hints

from core.autograd.graph import Capture


def to_json(capture: Capture) -> str:
    """Return a capture as JSON; NaN and infinity as texts, since JSON has no number for them."""
    return json.dumps(_plain(asdict(capture)), ensure_ascii=False)


def from_json(text: str) -> Capture:
    """Return the capture that `to_json` wrote.

    Raises:
        ValueError: If it is none.
    """
    try:
        capture: Capture = _read(Capture, json.loads(text))
    except (KeyError, TypeError) as error:
        raise ValueError(f"this is no capture: {error}") from error
    return capture


def _plain(value: Any) -> Any:  # noqa: ANN401
    if isinstance(value, dict):
        return {key: _plain(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(each) for each in value]
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    return value


def _read(kind: Any, value: Any) -> Any:  # noqa: ANN401
    """Return a value of JSON as what a field is declared to be."""
    if value is None:
        return None
    if is_dataclass(kind):
        hints = get_type_hints(kind)
        known = {field.name for field in fields(kind)}
        return kind(**{name: _read(hints[name], value[name]) for name in known})  # type: ignore[operator]
    origin, inner = get_origin(kind), get_args(kind)
    if origin in {Union, UnionType}:
        return _read(next(each for each in inner if each is not type(None)), value)
    if origin is tuple:
        return tuple(_read(inner[0], each) for each in value)
    if isinstance(value, dict):
        return {name: _read(inner[1], each) for name, each in value.items()}
    return float(value) if kind is float else value
