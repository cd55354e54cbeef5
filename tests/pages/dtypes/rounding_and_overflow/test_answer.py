"""The lamps: lit by class, sign and word; one sentence for those who do not see them."""

from core.figures.dtypes.rounding_and_overflow.cast_words import LAMPS
from pages.dtypes.rounding_and_overflow.answer import lamps_html


def test_the_lamps_that_are_on_are_drawn_with_their_signs():
    html = lamps_html(("overflow", "tie"), "overflow, tie")
    assert html.count('class="lamp"') == 2
    assert 'role="img" aria-label="Lamps on: overflow, tie"' in html
    for name in ("overflow", "tie"):
        assert f"<b>{LAMPS[name].sign}</b> {LAMPS[name].name}" in html
    assert "underflow" not in html


def test_words_cannot_become_markup():
    assert "<b>x" not in lamps_html((), '"><b>x')
