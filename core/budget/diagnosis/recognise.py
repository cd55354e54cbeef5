"""What a reader brings, recognised by its content: an out-of-memory text, a log, a file."""

from collections.abc import Mapping
from contextlib import suppress
from typing import Final

from core.budget.diagnosis.brought.read import read_brought
from core.budget.diagnosis.brought.record import Brought
from core.budget.diagnosis.logs import SERVING_SPEED, Log, read_log
from core.budget.diagnosis.measured import MARK, MeasuredPeak, read_measured
from core.budget.diagnosis.out_of_memory import (
    OutOfMemory,
    UntoldRequestError,
    is_out_of_memory,
    read_out_of_memory,
)
from core.budget.table import read_table
from core.language import N_, _

ELSEWHERE: Final = {
    N_("This looks like a memory snapshot: the tab Memory snapshot reads it."): (
        b"\x80", b"device_traces",
    ),
    N_("This is a trace of torch.profiler: the page Step profiler reads it, under Operators."): (
        b"{", b'"traceEvents"',
    ),
}  # fmt: skip
"""Where else something is read -> how it begins, and what is in it."""
_UNTOLD: Final[Mapping[str, Mapping[str, str]]] = read_table(__file__)["untold"]
Told = OutOfMemory | MeasuredPeak | Log | Brought


class UnknownError(ValueError):
    """What was brought is of no kind that is read here, or cannot be read."""


def recognise(content: bytes, name: str = "") -> Told:
    """Return what a text or a file says; its name is only a hint.

    Raises:
        UntoldRequestError: If it is an out-of-memory text that names no request of torch.
        UnknownError: If it is of no kind that is read here, or too long; the sentence says why.
    """
    for words, (begin, mark) in ELSEWHERE.items():
        if content.lstrip().startswith(begin) and mark in content:
            raise UnknownError(_(words))
    text, log = "", None
    with suppress(UnicodeDecodeError):
        text = content.decode("utf-8-sig")
    if is_out_of_memory(text):
        return _read_out_of_memory(text)
    with suppress(ValueError):
        log = read_log(text)
    if log and log.kind != "training":
        return log
    try:
        return read_measured(text) if MARK in text else read_brought(content, name)
    except ValueError as error:
        if log:  # a recipe may tell in a remark how fast it is; a log is no recipe
            return log
        if sentence := _untold(text):
            raise UntoldRequestError(sentence) from error
        speed = _(
            "These are speeds of serving, which are not read here: the page Serving has them."
        )
        raise UnknownError(speed if SERVING_SPEED.search(text) else str(error)) from error


def _read_out_of_memory(text: str) -> OutOfMemory:
    try:
        return read_out_of_memory(text)
    except UntoldRequestError as error:
        raise UntoldRequestError(_untold(text) or str(error)) from error


def _untold(text: str) -> str:
    """Return what stands behind the words of a text that says no size; "" if it has none such."""
    plain = f" {' '.join(text.split())} "
    found = (row["sentence"] for words, row in _UNTOLD.items() if words in plain)
    return next(map(_, found), "")
