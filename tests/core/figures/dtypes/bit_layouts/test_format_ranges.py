"""Bars from the smallest to the largest number, and the history as a picture."""

import math

import pytest

from core.dtypes import FORMATS, float_format
from core.dtypes.facts.format_facts import format_facts
from core.dtypes.facts.history import MILESTONES
from core.figures.dtypes.bit_layouts.format_ranges import (
    format_ranges_alt,
    format_ranges_figure,
    format_table,
)
from core.figures.dtypes.bit_layouts.format_timeline import (
    WIDTHS,
    timeline_alt,
    timeline_figure,
    timeline_table,
)

FACTS = [format_facts(FORMATS[name]) for name in ("float16", "bfloat16", "float8_e8m0fnu")]


def test_the_bars_reach_from_the_smallest_to_the_largest_number():
    subnormal, normal, _right = format_ranges_figure(FACTS).data

    assert subnormal.base[0] == pytest.approx(math.log10(2**-24))
    assert subnormal.base[0] + subnormal.x[0] == pytest.approx(math.log10(2**-14))
    assert normal.base[0] + normal.x[0] == pytest.approx(math.log10(65504))


def test_a_format_without_subnormals_has_no_such_bar():
    subnormal, _normal, _right = format_ranges_figure(FACTS).data

    assert subnormal.x[2] == 0


def test_a_designed_format_beyond_float64_is_drawn():
    facts = [format_facts(float_format("wide", 15, 3))]
    figure = format_ranges_figure(facts)

    assert figure.data[1].base[0] + figure.data[1].x[0] == pytest.approx(4932.05, abs=0.01)
    assert 2 < len(figure.layout.xaxis.tickvals) <= 12


def test_the_sentence_and_the_table_have_the_printed_numbers():
    assert "float16 from 5.96…e-8 to 65504, 3.3 decimal digits" in format_ranges_alt(FACTS)
    table = format_table(FACTS)
    assert table["NaN codes"] == ["2,046", "254", "1"]
    assert table["finite codes"] == ["63,488", "65,280", "255"]
    assert table["eps"][0] == "0.000976562…"


def test_no_format_is_refused():
    with pytest.raises(ValueError, match="at least one format"):
        format_ranges_figure([])


def test_every_milestone_has_its_column_and_every_format_its_width():
    line, marks = timeline_figure(MILESTONES).data

    assert list(marks.y) == [
        WIDTHS.index(FORMATS[name].bits) for each in MILESTONES for name in each.formats
    ]
    assert list(line.y) == sorted(line.y), "formats only became narrower"
    assert len(timeline_table(MILESTONES)["source"]) == len(MILESTONES)
    assert "1985 float64, float32" in timeline_alt(MILESTONES)
