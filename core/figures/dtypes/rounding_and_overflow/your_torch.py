"""What libraries make of probe values, why they differ, and what torch does on each dtype."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from core.dtypes.libraries.differences import (
    CASES,
    Library,
    answer_of,
    depends_on_length,
    difference_of,
    differs,
)
from core.dtypes.libraries.library_records import CastRow, OperationRow
from core.figures.dtypes.rounding_and_overflow.cast_words import digits
from core.figures.dtypes.rounding_and_overflow.matrix import (
    Kind,
    Mark,
    frame_cell,
    mark_matrix,
    word_axes,
)
from core.figures.picture import Drawing, Look, Picture, Table
from core.language import N_, _

LIBRARIES: Final[tuple[Library, ...]] = ("torch", "ml_dtypes")
_WHOLE: Final = ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "bool")
# The dtypes of torch in groups that fit a screen; the first prefix that fits decides.
FAMILIES: Final[Mapping[str, tuple[str, tuple[str, ...]]]] = {
    "floats": (N_("floats"), ("float", "bfloat")),
    "integers": (N_("whole bytes"), _WHOLE),
    "few": (N_("1 to 7 bits"), ("int", "uint")),
    "others": (N_("complex, quantized, bits"), ("",)),
}
_ROW_PX: Final = 13
_DIGITS: Final = 10
_UNEXPLAINED: Final = N_("Nobody has explained this one yet.")


def casts_picture(format_name: str, rows: Sequence[CastRow], look: Look) -> Picture:
    """Return a row a number and a column for the specification, torch and ml_dtypes."""
    drawing, size = Drawing(), int(look.layout()["font"]["size"])
    names = [_number_words(row) for row in rows]
    cells = [(0, y, digits(row.ours, _DIGITS), names[y]) for y, row in enumerate(rows)]
    for x, library in enumerate(LIBRARIES, start=1):
        for y, row in enumerate(rows):
            text, known = _answer_words(row, library), difference_of(row, library)
            if is_other := differs(row, library):
                line = {"color": look.color("overflow"), "width": 2}
                frame_cell(drawing, (x, y), 0.44, line, look)
            hover = _(known.reason) if known else text
            cells.append((x, y, f"<b>≠ {text}</b>" if is_other else text, hover))
    drawing.scatter(
        x=[cell[0] for cell in cells],
        y=[cell[1] for cell in cells],
        mode="text",
        text=[cell[2] for cell in cells],
        textfont={"color": look.color("text"), "size": size},
        hovertext=[cell[3] for cell in cells],
        hoverinfo="text",
    )
    axes = word_axes([_("specification"), *LIBRARIES], names, look, row_px=_ROW_PX)
    figure = drawing.figure(look.layout() | axes)
    return Picture(figure=figure, alt=_casts_sentence(format_name, rows), table=cast_table(rows))


def _casts_sentence(format_name: str, rows: Sequence[CastRow]) -> str:
    """Return who leaves the specification, and where."""
    parts = []
    for library in LIBRARIES:
        others = [_number_words(row) for row in rows if differs(row, library)]
        if others:
            parts.append(f"{library}: {_('; ').join(others)}")
    if not parts:
        return _(
            "{count} numbers cast to {format}: all libraries follow the specification."
        ).format(count=len(rows), format=format_name)
    return _("{count} numbers cast to {format}. Other than specified: {where}.").format(
        count=len(rows), format=format_name, where=" | ".join(parts)
    )


def cast_table(rows: Sequence[CastRow], *, with_format: bool = False) -> Table:
    """Return a row a number: what the specification says, and what each library makes of it.

    An answer that differs is marked by "≠" and printed bold.

    Args:
        rows: The casts.
        with_format: Add a column that names the format.
    """
    table = {_("format"): [row.format for row in rows]} if with_format else {}
    table[_("the number")] = [_number_words(row) for row in rows]
    table[_("specification")] = [digits(row.ours, _DIGITS) for row in rows]
    for library in LIBRARIES:
        answers = [(differs(row, library), _answer_words(row, library)) for row in rows]
        table[library] = [f"**≠ {text}**" if is_other else text for is_other, text in answers]
    return table


def _number_words(row: CastRow) -> str:
    """Return why this number tells something, and the number."""
    number = digits(row.value, _DIGITS)
    words = _(CASES[row.case])
    origin = "" if row.source == "float32" else f" ({row.source})"
    if words == number:
        return f"{words}{origin}"
    return _("{what}: {number}").format(what=words, number=f"{number}{origin}")


def _answer_words(row: CastRow, library: Library) -> str:
    """Return what a library made of the number; two codes where it writes two."""
    answer = answer_of(row, library)
    if answer is None:
        return "–"
    text = digits(answer, _DIGITS)
    if library == "torch" and depends_on_length(row):
        return f"{text} (0x{row.torch_code:X} / 0x{row.torch_code_long:X})"
    return text


def worth_showing(row: CastRow) -> bool:
    """Return whether a number tells anything: NaN as float64 does so only where bits differ."""
    return row.case != "nan_float64" or depends_on_length(row) or bool(differing([row]))


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


def family_of(dtype: str) -> str:
    """Return the family that a torch dtype is shown in.

    >>> family_of("bfloat16"), family_of("uint3"), family_of("uint32"), family_of("quint8")
    ('floats', 'few', 'integers', 'others')
    """
    return next(name for name, (_label, starts) in FAMILIES.items() if dtype.startswith(starts))


def operations_picture(rows: Sequence[OperationRow], look: Look) -> Picture:
    """Return a row a dtype and a column an operation; torch's own words stand behind a failure."""
    marks = {
        (row.dtype, row.operation): Mark(
            kind="works" if row.works else "refused",
            hover=f"<b>{row.dtype}</b> · {row.operation}<br>{row.message or _('works')}",
        )
        for row in rows
    }
    kinds = {
        "works": Kind(words=_("works"), symbol="circle", meaning="works"),
        "refused": Kind(words=_("refused"), symbol="x-thin", meaning="refused"),
    }
    able: dict[str, int] = {}
    for row in rows:
        able[row.dtype] = able.get(row.dtype, 0) + row.works
    told = _("; ").join(f"{name} {count}" for name, count in able.items())
    total = len({row.operation for row in rows})
    refused = [row for row in rows if not row.works]
    return Picture(
        figure=mark_matrix(marks, kinds, look, slanted=True),
        alt=_("Of {total} operations work: {dtypes}.").format(total=total, dtypes=told),
        table={
            _("dtype"): [row.dtype for row in refused],
            _("operation"): [row.operation for row in refused],
            _("torch's own words"): [row.message for row in refused],
        },
    )
