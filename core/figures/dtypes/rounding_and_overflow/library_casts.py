"""What libraries made of telling numbers, as a table, and why they differ, as sentences."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from core.dtypes import FORMATS
from core.dtypes.libraries.differences import (
    CASES,
    Library,
    answer_of,
    depends_on_length,
    difference_of,
    differs,
)
from core.dtypes.libraries.library_records import CastRow
from core.figures.dtypes.rounding_and_overflow.cast_words import digits
from core.language import N_, _

LIBRARIES: Final[tuple[Library, ...]] = ("torch", "ml_dtypes")
_DIGITS: Final = 10
Table = dict[str, list[str]]
_UNEXPLAINED: Final = N_("Nobody has explained this one yet.")


def cast_table(rows: Sequence[CastRow], *, with_format: bool = False) -> Table:
    """Return a row a number: what the specification says, and what each library makes of it.

    An answer that differs is marked by "≠" and printed bold.

    Args:
        rows: The casts.
        with_format: Add a column that names the format.
    """
    table: Table = {_("format"): [row.format for row in rows]} if with_format else {}
    table[_("the number")] = [number_words(row) for row in rows]
    table[_("specification")] = [ours_words(row) for row in rows]
    for library in LIBRARIES:
        table[library] = [_answer(row, library) for row in rows]
    return table


def number_words(row: CastRow) -> str:
    """Return why this number tells something, and the number."""
    number = digits(row.value, _DIGITS)
    words = _(CASES[row.case])
    origin = "" if row.source == "float32" else f" ({row.source})"
    if words == number:
        return f"{words}{origin}"
    return _("{what}: {number}").format(what=words, number=f"{number}{origin}")


def ours_words(row: CastRow) -> str:
    """Return what the specification makes of the number."""
    return digits(row.ours, _DIGITS)


def answer_words(row: CastRow, library: Library) -> str:
    """Return what a library made of the number; two codes where it writes two."""
    answer = answer_of(row, library)
    if answer is None:
        return "–"
    text = digits(answer, _DIGITS)
    if library == "torch" and depends_on_length(row):
        return f"{text} (0x{row.torch_code:X} / 0x{row.torch_code_long:X})"
    return text


def _answer(row: CastRow, library: Library) -> str:
    text = answer_words(row, library)
    return f"**≠ {text}**" if differs(row, library) else text


def worth_showing(row: CastRow) -> bool:
    """Return whether a number tells anything: NaN as float64 does so only where bits differ."""
    is_quiet = not depends_on_length(row) and not differing([row])
    return row.case != "nan_float64" or not is_quiet


def differing(rows: Sequence[CastRow]) -> tuple[CastRow, ...]:
    """Return the casts about which somebody disagrees with the specification."""
    return tuple(row for row in rows if any(differs(row, library) for library in LIBRARIES))


@dataclass(frozen=True, kw_only=True, slots=True)
class Told:
    """One reason for differences, with all whom it concerns."""

    sentence: str
    source: str
    libraries: tuple[str, ...]
    formats: tuple[str, ...]


def reasons_of(rows: Sequence[CastRow]) -> tuple[Told, ...]:
    """Return each reason for a difference, translated; once for each group of libraries."""
    found: dict[tuple[str, str], dict[str, list[str]]] = {}
    for row in rows:
        for library in LIBRARIES:
            if differs(row, library):
                known = difference_of(row, library)
                reason = known.reason if known else _UNEXPLAINED
                source = known.source if known else "–"
                formats = found.setdefault((reason, source), {})
                formats.setdefault(row.format, []).append(library)
    return tuple(
        Told(sentence=_(reason), source=_(source), libraries=libraries, formats=tuple(names))
        for (reason, source), formats in found.items()
        for libraries, names in _grouped(formats).items()
    )


def _grouped(formats: Mapping[str, Sequence[str]]) -> dict[tuple[str, ...], list[str]]:
    """Return the formats by the libraries that differ in them: not every library has each."""
    grouped: dict[tuple[str, ...], list[str]] = {}
    for name, libraries in formats.items():
        grouped.setdefault(tuple(dict.fromkeys(libraries)), []).append(name)
    return grouped


def length_words(rows: Sequence[CastRow]) -> str:
    """Return that the bits of a NaN depend on the length of the tensor, or "" if they do not."""
    row = next((row for row in rows if depends_on_length(row)), None)
    if row is None:
        return ""
    return _(
        "Two codes in brackets: torch writes 0x{one:X} for one number alone and 0x{many:X} among "
        "64 of them, where vector instructions do the work. Ask whether a number is NaN, never "
        "which NaN."
    ).format(one=row.torch_code, many=row.torch_code_long)


def casts_headline(format_name: str, rows: Sequence[CastRow], version: str) -> str:
    """Return in how many of the telling numbers that are shown torch leaves the specification.

    Args:
        format_name: Of the format in question.
        rows: The casts to it, shown or not.
        version: Of torch.
    """
    if not any(row.torch is not None for row in rows):
        return _("torch {version} has no {format}").format(version=version, format=format_name)
    shown = [row for row in rows if worth_showing(row)]
    count = sum(differs(row, "torch") for row in shown)
    return _("{format}: torch {version} differs in {count} of {total} telling numbers").format(
        format=format_name, version=version, count=count, total=len(shown)
    )


def is_cast_to(format_name: str) -> bool:
    """Return whether telling numbers are cast to a format: a float of at most 16 bits."""
    fmt = FORMATS.get(format_name)
    return fmt is not None and fmt.bits <= 16 and format_name.startswith(("float", "bfloat"))
