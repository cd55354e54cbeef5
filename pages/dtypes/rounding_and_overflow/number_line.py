"""The number line of up to four formats: all of it, a part, a window to move, or the gaps on it."""

from dataclasses import replace
from typing import Final

from core.figures.dtypes.rounding_and_overflow.free_window import free_window, window_words
from core.figures.dtypes.rounding_and_overflow.line import line_picture
from core.figures.dtypes.rounding_and_overflow.line_window import window_of
from core.figures.dtypes.rounding_and_overflow.spacing import spacing_picture
from pages.dtypes.rounding_and_overflow.answer import answered
from pages.dtypes.rounding_and_overflow.inputs import ASK, Case
from pages.dtypes.rounding_and_overflow.window import FreePart, follow_the_hand
from pages.shared.settings import look
from pages.shared.tabbed_page import Chart, Shown

_CODE: Final = """
from core.dtypes import FORMATS
from core.dtypes.facts.number_line import marks_between

for name in {names!r}:
    marks = marks_between(FORMATS[name], {low!r}, {high!r})
    print(f"{{marks.num_numbers:,}} in {{name}}, one mark for {{marks.every:,}}")
"""


def line(case: Case) -> Shown:
    """Show the number line of up to four formats."""
    if isinstance(case.part, FreePart):
        return _in_window(case, case.part)
    if case.part == "spacing":
        picture = spacing_picture(case.formats, case.source(), case.said, look())
        return answered(case, picture, "spacing")
    rows = [(fmt, case.into(fmt)) for fmt in case.formats]
    window = window_of(case.part, case.formats, rows[0][1])
    shown = answered(case, line_picture(rows, case.said, window, look()), "number_line")
    return replace(shown, notes=_said(follow_the_hand(ASK, window)))


def _in_window(case: Case, part: FreePart) -> Shown:
    """Show the part of the line that the reader moves and zooms, and count the numbers in it."""
    window, changed = free_window(part.center, part.exponent)
    rows = [(fmt, case.into(fmt)) for fmt in case.formats]
    picture = line_picture(rows, case.said, window, look())
    return Shown(
        headline=window_words(case.formats, window),
        charts=[Chart(picture=picture, file_name="number_line", key="window")],
        notes=_said(changed, follow_the_hand(ASK, window)),
        code=_CODE.format(
            names=tuple(fmt.name for fmt in case.formats), low=window.low, high=window.high
        ),
    )


def _said(*notes: str) -> list[str]:
    return [note for note in notes if note]
