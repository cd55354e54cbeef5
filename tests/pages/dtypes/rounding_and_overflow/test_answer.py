"""The lamps: lit by class, sign and word; one sentence for those who do not see them."""

from core.figures.dtypes.rounding_and_overflow.cast_words import LAMPS
from pages.dtypes.rounding_and_overflow.answer import lamps_html


def test_all_lamps_are_there_and_those_that_are_on_are_marked():
    html = lamps_html(("overflow", "tie"), "overflow, tie")
    assert html.count('class="lamp') == len(LAMPS) + 1
    assert html.count('class="lamp lit"') == 2
    assert 'role="img" aria-label="Lamps on: overflow, tie"' in html
    for lamp in LAMPS.values():
        assert f"<b>{lamp.sign}</b> {lamp.name}" in html


def test_on_a_projector_only_those_that_are_on_are_drawn():
    html = lamps_html(("exact",), "exact", all_of_them=False)
    assert html.count('class="lamp lit"') == 1
    assert "underflow" not in html


def test_colours_come_from_the_theme():
    assert "var(--b2g-underflow)" in lamps_html(("underflow",), "underflow")


def test_words_cannot_become_markup():
    assert "<b>x" not in lamps_html((), '"><b>x')
