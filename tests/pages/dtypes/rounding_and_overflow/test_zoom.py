"""The zoom: the number truly between its neighbours, what is stored framed, and words for it."""

import pytest

from core.dtypes import FORMATS
from core.dtypes.cast.explain_cast import explain_cast
from core.figures.picture import Look
from core.figures.theme import COLORS, MODES
from pages.dtypes.rounding_and_overflow.zoom import (
    number_x,
    place_words,
    zoom_marks,
    zoom_picture,
)


def cast(name, value, *rules):
    fmt = FORMATS[name]
    return fmt, explain_cast(fmt, value, *rules)


def picture(name, value, *rules, **look):
    return zoom_picture(*cast(name, value, *rules), value, Look(**look))


def drawn(name, value, *rules, **look):
    return picture(name, value, *rules, **look).figure


def texts(figure):
    return " ".join(each.text or "" for each in figure.layout.annotations)


@pytest.mark.parametrize("mode", MODES)
def test_the_number_stands_truly_between_its_neighbours(mode):
    figure = drawn("float16", "65519.99", mode=mode)
    x = next(trace for trace in figure.data if trace.name == "x").x[0]
    assert x == pytest.approx((65519.99 - 65504) / 32)
    assert x < 0.5
    assert [trace.x[0] for trace in figure.data if trace.name in ("65504", "65536")] == [0, 1]
    assert figure.layout.paper_bgcolor == COLORS[mode]["background"]


@pytest.mark.parametrize(
    ("name", "value", "lacks"), [("float8_e8m0fnu", "2^-128", "zero"), ("uint8", "-0.3", "sign")]
)
def test_a_missing_zero_or_sign_is_not_called_too_large(name, value, lacks):
    said = texts(drawn(name, value))
    assert f"no code<br>no {lacks} here" in said
    assert "beyond the largest" not in said
    assert "▲ stored" in said


def test_what_is_stored_is_framed_at_its_place():
    figure = drawn("bfloat16", "257")
    assert next(trace for trace in figure.data if trace.name == "stored").x == (0.0,)
    figure = drawn("bfloat16", "257", "nearest_away")
    assert next(trace for trace in figure.data if trace.name == "stored").x == (1.0,)


def test_an_exact_number_stands_between_the_numbers_beside_it():
    fmt, trace = cast("float8_e4m3fn", "1")
    assert [(m.x, m.candidate.value) for m in zoom_marks(fmt, trace)] == [
        (0.5, 1.0),
        (0.0, 0.9375),
        (1.0, 1.125),
    ]
    assert number_x(trace) == 0.5
    assert place_words(trace) == "one of its numbers"


def test_a_number_far_outside_stands_at_the_edge_it_left_by():
    for value, at in (("1e400", 1.08), ("-1e400", -0.08)):
        assert number_x(cast("float16", value)[1]) == at
        assert place_words(cast("float16", value)[1]) == "beyond all of them"
    assert number_x(cast("nf4", "5")[1]) == 0.9
    assert number_x(cast("nf4", "-5")[1]) == 0.1


@pytest.mark.slow
@pytest.mark.parametrize("name", FORMATS)
def test_every_format_has_words_and_a_picture_for_every_number(name):
    for value in ("1/3", "-1/3", "1e30", "-1e400", "1e-400", "0", "-0", "inf", "-inf", "nan", "1"):
        found = picture(name, value)
        assert found.alt.startswith(value), (name, value)
        assert len({len(column) for column in found.table.values()}) == 1, (name, value)
        assert found.figure.layout.height
