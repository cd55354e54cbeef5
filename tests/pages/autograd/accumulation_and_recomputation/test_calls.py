"""The bars of a gradient, call by call."""

from core.autograd.accumulation import count_calls
from core.figures.picture import Look
from pages.autograd.accumulation_and_recomputation.accumulation import calls_picture


def test_bars_are_what_was_there_and_what_was_added():
    picture = calls_picture(count_calls(3), "", Look())
    before, added = picture.figure.data
    assert list(before.y) == [0, 4, 8]
    assert list(added.y) == [4, 4, 4]
    assert "4 → 8 → 12" in picture.alt
    assert not picture.figure.layout.shapes


def test_a_line_stands_before_the_call_that_found_a_reset():
    calls = count_calls(3, loss="multiples", reset="zero", every=2)
    picture = calls_picture(calls, "grad.zero_()", Look(mode="dark"))
    (line,) = picture.figure.layout.shapes
    assert line.x0 == 2.5
    assert "grad.zero_() before 3" in picture.alt
    assert [each.text for each in picture.figure.layout.annotations] == [
        "<b>2</b>", "<b>5</b>", "<b>4</b>"
    ]  # fmt: skip
