"""Paths over contour lines."""

import math

import pytest

from core.figures.picture import Look
from core.train.optimizers.rule import NAMED, named_rule
from core.train.optimizers.surfaces import SURFACES, race
from pages.train.optimizers_and_schedules.race import race_picture


@pytest.mark.parametrize("rate", [1e-4, 0.05, 10.0])
@pytest.mark.parametrize("surface", SURFACES.values(), ids=SURFACES)
def test_every_path_begins_at_the_start_and_holds_numbers_alone(surface, rate):
    paths = race(surface, {name: named_rule(name, rate) for name in NAMED}, 500)
    picture = race_picture(surface, paths, Look())
    contour, *drawn, minimum = picture.figure.data
    assert contour.type == "contour"
    assert min(map(min, contour.z)) >= -2.001  # log10 of 0.01 above the minimum
    assert list(zip(minimum.x, minimum.y, strict=True)) == list(surface.minima)
    for name, line in zip(paths, drawn, strict=True):
        assert (line.x[0], line.y[0]) == surface.start
        assert all(map(math.isfinite, [*line.x, *line.y])), name
        assert len(line.x) <= 260
        assert line.name.startswith(name)
    assert picture.alt.count(";") == 6
    assert [len(each) for each in picture.table.values()] == [len(NAMED)] * len(picture.table)


def test_the_table_says_where_each_ended_and_who_diverged():
    surface = SURFACES["bowl"]
    paths = race(surface, {name: named_rule(name, 0.1) for name in ("SGD", "Adam")}, 2000)
    table = race_picture(surface, paths, Look()).table
    assert table["diverges"] == ["yes", "no"]
    assert table["x"][1] == paths["Adam"].points[-1][0]
