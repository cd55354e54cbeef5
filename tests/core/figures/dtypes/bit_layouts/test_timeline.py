"""The history of the formats as a picture."""

from core.dtypes import FORMATS
from core.dtypes.facts.history import MILESTONES
from core.figures.dtypes.bit_layouts.timeline import WIDTHS, timeline_picture
from core.figures.picture import Look


def test_every_milestone_has_its_column_and_every_format_its_width():
    picture = timeline_picture(MILESTONES, Look())
    line, marks = picture.figure.data

    assert list(marks.y) == [
        WIDTHS.index(FORMATS[name].bits) for each in MILESTONES for name in each.formats
    ]
    assert list(line.y) == sorted(line.y), "formats only became narrower"
    assert len(picture.table["source"]) == len(MILESTONES)
    assert "1985 float64, float32" in picture.alt
