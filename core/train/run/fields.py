"""Which type each field has in the lines and files of a run: what is on a disk may be damaged.

A line or a section that does not fit is left out or refused as a whole, so that whoever draws,
replays or exports a run meets only what a worker can have written.
"""

from collections.abc import Callable, Mapping
from typing import Any, Final

Check = Callable[[object], bool]
_LARGEST: Final = 1e300  # beyond it Python's numbers do not fit into a float


def is_number(value: object) -> bool:
    """Return whether it is a finite number."""
    is_one = isinstance(value, int | float) and not isinstance(value, bool)
    return is_one and -_LARGEST < value < _LARGEST  # type: ignore[operator]


def is_count(value: object) -> bool:
    """Return whether it is a whole number from 0."""
    return type(value) is int and 0 <= value < 2**63


def is_text(value: object) -> bool:
    """Return whether it is a text."""
    return isinstance(value, str)


def optional(check: Check) -> Check:
    """Return a check for a field that may be missing or null."""
    return lambda value: value is None or check(value)


def numbers_by_name(value: object) -> bool:
    """Return whether it is an object of numbers, some of them perhaps null."""
    return isinstance(value, dict) and all(map(optional(is_number), value.values()))


def _is_plain(value: object) -> bool:
    """Return whether it is an object of numbers and texts, some perhaps null."""
    return isinstance(value, dict) and all(
        isinstance(each, str | bool | None) or is_number(each) for each in value.values()
    )


def fit(data: object, checks: Mapping[str, Check]) -> bool:
    """Return whether it is an object whose fields are what the checks ask for."""
    return isinstance(data, dict) and all(check(data.get(name)) for name, check in checks.items())


def _is_list_of(value: object, *checks: Check) -> bool:
    """Return whether it is a list with one entry for each check."""
    return (
        isinstance(value, list)
        and len(value) == len(checks)
        and all(check(each) for check, each in zip(checks, value, strict=True))
    )


def _is_candidates(value: object) -> bool:
    return isinstance(value, list) and all(
        isinstance(likely, list)
        and all(_is_list_of(each, is_text, optional(is_number)) for each in likely)
        for likely in value
    )


def _is_written(value: object) -> bool:
    """[[text, bits, candidates], ...], as `core.train.learning.surprise` makes it."""
    return isinstance(value, list) and all(
        _is_list_of(each, is_text, optional(is_number), _is_candidates) for each in value
    )


_ANY_EVENT: Final = {"seq": is_count, "kind": is_text}
_ANY_KNOWN: Final = {"step": is_count, "time": optional(is_number), "attempt": optional(is_count)}
CATEGORIES: Final = ("weights", "gradients", "optimizer", "activations", "other")  # of memory
# What a GPU tells beside them.
AROUND: Final = (
    *("reserved_bytes", "context_bytes", "other_bytes", "context_and_other_bytes"),
    "total_bytes",
)
_EVENTS: Final[Mapping[str, Mapping[str, Check]]] = {
    "state": {
        "state": is_text,
        **dict.fromkeys(("reason", "message"), optional(is_text)),
        "values": optional(numbers_by_name),
    },
    "ack": {
        "command": optional(is_count),
        "op": is_text,
        "value": optional(is_number),
        "accepted": optional(lambda value: isinstance(value, bool)),
        "reason": optional(is_text),
    },
    "eval": {"validation_loss": optional(is_number)},
    "sample": {
        **dict.fromkeys(("prompt", "text"), is_text),
        **dict.fromkeys(("num_words", "num_real_words"), optional(is_count)),
        "written": optional(_is_written),  # runs of older versions have none
    },
    "memory": {
        **dict.fromkeys(CATEGORIES, is_number),
        # Nobody watches them in a loop of the reader's own.
        **dict.fromkeys(("activations", "other"), optional(is_number)),
        **dict.fromkeys((*AROUND, "peak", "resident_bytes", "utilization"), optional(is_number)),
        "source": optional(is_text),
    },
    # One rank of several in a measured step, as `core.train.run.ranks` reads it.
    "rank": {
        **dict.fromkeys(("rank", "count"), is_count),
        "sharding": is_text,
        **dict.fromkeys((*CATEGORIES, "peak"), is_number),
        **dict.fromkeys(("step_seconds", "communication_seconds"), is_number),
        "source": optional(is_text),
    },
    "checkpoint": {
        "file": optional(is_text),
        **dict.fromkeys(("num_bytes", "validation_loss"), optional(is_number)),
    },
    "finding": {
        **dict.fromkeys(("finding", "tensor", "message"), optional(is_text)),
        "loss": optional(is_number),
    },
}
# Sections of run.json; each may be missing but the config.
_SECTIONS: Final[Mapping[str, Mapping[str, Check]]] = {
    "text": {
        "vocab_size": optional(lambda value: is_count(value) and 1 <= value < 2**31),  # type: ignore[operator]
        **dict.fromkeys(("ln_vocab", "unigram_entropy", "bigram_entropy"), optional(is_number)),
    },
    "resolved": {
        "device": is_text,
        **dict.fromkeys(("device_name", "precision"), optional(is_text)),
        "peak_flops_per_second": optional(is_number),
        "peak_source": optional(is_text),
        "processes": optional(is_count),
        "sharding": optional(is_text),
    },
    "parent": {"run": is_text, "step": is_count, "trained_seconds": is_number},
    "prediction": {
        "memory": optional(numbers_by_name),
        **dict.fromkeys(
            ("num_params", "peak_bytes", "flops_per_step", "seconds_per_step", "seconds"),
            optional(is_number),
        ),
    },
}


def is_event(data: Any) -> bool:  # noqa: ANN401  whatever JSON a line holds
    """Return whether it is an event as a worker writes it; unknown kinds need number and kind."""
    if not fit(data, _ANY_EVENT):
        return False
    kind = data["kind"]
    return kind not in _EVENTS or (fit(data, _ANY_KNOWN) and fit(data, _EVENTS[kind]))


def damaged_section(info: Mapping[str, object]) -> str:
    """Return the name of the first section of run.json that is not what it must be; "" if none."""
    if not _is_plain(info.get("config")):
        return "config"
    known = (name for name in _SECTIONS if info.get(name) is not None)
    return next((name for name in known if not fit(info[name], _SECTIONS[name])), "")
