"""The squares by their data: letters, colours' states, what is picked out, words and table."""

from dataclasses import replace

import pytest

from core.budget.catalogue.devices import DEVICES
from core.budget.catalogue.models import MODELS
from core.budget.fits.jobs import serving_ways
from core.budget.fits.matrix import Cell
from core.budget.fits.plane import models_devices
from core.budget.serving.plan import ServingPlan
from core.figures.budget.what_fits.map import (
    COLORS,
    LETTERS,
    Labels,
    count_sentence,
    hover_text,
    letter,
    map_picture,
    shade,
    signs,
    square_text,
)
from core.figures.picture import Look
from tests.core.budget.usable import usable

ROWS = {"gpt2-xl": "GPT-2 XL", "llama-2-70b": "Llama-2 70B"}
COLUMNS = {"t4": "T4", "h200-sxm": "H200"}


@pytest.fixture
def plane():
    models = {key: MODELS[key] for key in ROWS}
    devices = {key: DEVICES[key] for key in COLUMNS}
    return models_devices(models, serving_ways(ServingPlan())["bf16"], devices)


@pytest.fixture
def labels():
    return Labels(rows=ROWS, columns=COLUMNS, chosen=("llama-2-70b", "t4"))


def cell(verdict, reason="", sentence=""):
    return Cell(need=None, capacity=1, verdict=verdict, reason=reason, sentence=sentence)


def test_a_square_says_whether_and_else_why_and_how_many():
    assert square_text(cell("fits"), 1) == "✓"
    assert square_text(cell("close"), 1) == "≈"
    assert square_text(cell("too_big", "weights"), 16) == "16× W"
    assert square_text(cell("too_big", "KV cache"), 1024) == "1k× K"
    assert square_text(cell("too_big", "activations"), 0) == "A"
    assert square_text(cell("too_big", sentence="cannot be split"), 0) == "–"


def test_with_fifty_columns_names_stand_upright_and_a_square_has_one_letter():
    devices = {f"{key} {copy}": DEVICES[key] for key in ("t4", "h200-sxm") for copy in range(25)}
    models = {key: MODELS[key] for key in ROWS}
    wide = models_devices(models, serving_ways(ServingPlan())["bf16"], devices)
    labels = Labels(rows=ROWS, columns={key: f"{key}, 80 GiB" for key in devices})
    picture = map_picture(wide, labels, Look())
    figure = picture.figure
    assert figure.layout.xaxis.tickangle == -90
    assert max(map(len, figure.data[1].text)) == 1
    # 800 px of squares: the names are no higher than a column is wide
    assert figure.layout.xaxis.tickfont.size <= 800 / 50
    assert figure.layout.margin.t >= 6 * max(map(len, labels.columns.values()))
    assert "enough stands in the table" in count_sentence(wide, labels, Look())
    assert picture.table["t4 0, 80 GiB"] == ["✓", "16× W"]


def test_on_a_projector_twelve_names_stand_upright_in_the_size_of_all_text():
    keys = tuple(DEVICES)[:12]
    devices = {key: DEVICES[key] for key in keys}
    models = {key: MODELS[key] for key in ROWS}
    plane = models_devices(models, serving_ways(ServingPlan())["bf16"], devices)
    labels = Labels(rows=ROWS, columns={key: key for key in keys})
    for present, angle in ((True, -90), (False, -40)):
        look = Look(present=present)
        axis = map_picture(plane, labels, look).figure.layout.xaxis
        assert axis.tickangle == angle
        if present:
            assert axis.tickfont.size == look.layout()["font"]["size"] >= 22


def test_no_two_items_have_the_same_letter():
    assert len(set(LETTERS.values())) == len(LETTERS)
    assert letter("something new") == "S"


def test_squares_and_words_stand_where_the_plane_says(plane, labels):
    figure = map_picture(plane, labels, Look()).figure
    squares, words = figure.data

    assert [list(line) for line in squares.z] == [[0, 0], [2, 0]]
    assert list(words.text) == ["✓", "✓", "16× W", "✓"]
    assert list(zip(words.x, words.y, strict=True)) == [(0, 0), (1, 0), (0, 1), (1, 1)]
    assert list(words.customdata[2][:2]) == ["llama-2-70b", "t4"]
    assert list(figure.layout.yaxis.ticktext) == list(ROWS.values())
    (mark,) = figure.layout.shapes
    assert (mark.x0, mark.x1, mark.y0, mark.y1) == (-0.5, 0.5, 0.5, 1.5)


def test_what_is_not_in_the_plane_is_not_picked_out(plane):
    elsewhere = Labels(rows=ROWS, columns=COLUMNS, chosen=("gpt2", "t4"))

    look = Look(mode="dark", present=True)
    assert not map_picture(plane, elsewhere, look).figure.layout.shapes


def test_a_square_explains_itself(plane, labels):
    text = hover_text(plane, labels, ("llama-2-70b", "t4"), Look())

    assert f"130 GiB of {usable('t4')}" in text
    assert "the first that does not fit: weights" in text
    assert "16 devices are enough" in text
    assert "enough" not in hover_text(plane, labels, ("gpt2-xl", "t4"), Look())


def test_words_table_and_letters_say_the_same_as_the_picture(plane, labels):
    picture = map_picture(plane, labels, Look())

    assert picture.alt == "Of 4 squares 3 fit. By column: T4 1, H200 2."
    assert picture.table == {
        " ": ["GPT-2 XL", "Llama-2 70B"],
        "T4": ["✓", "16× W"],
        "H200": ["✓", "✓"],
    }
    assert [(sign.text, sign.name) for sign in signs(plane)] == [
        ("✓", "fits"),
        ("W", "weights too large"),
    ]
    assert count_sentence(plane, labels, Look()) == "2×: two devices are enough"


def test_what_does_not_fit_has_the_colour_of_its_cause():
    assert shade(cell("fits")) == "background"
    assert shade(cell("close")) == shade(cell("too_big", sentence="no")) == "surface"
    assert shade(cell("too_big", "KV cache")) == "kv_cache"
    assert shade(cell("too_big", "something new")) == "other"
    assert set(COLORS) <= set(LETTERS)


def test_every_colour_of_the_squares_has_its_place_on_the_scale(plane, labels):
    squares, _words = map_picture(plane, labels, Look()).figure.data
    scale, last = squares.colorscale, len(squares.colorscale) // 2
    look = Look()
    for row, line in zip(plane.rows, squares.z, strict=True):
        for column, state in zip(plane.columns, line, strict=True):
            share = (state - squares.zmin) / (squares.zmax - squares.zmin)
            low, high = scale[2 * state], scale[2 * state + 1]
            assert low[0] <= share <= high[0]
            assert low[1] == high[1] == look.color(shade(plane.cells[row, column]))
            assert state < last


def test_what_a_square_has_no_room_for_is_shortened_in_steps_and_never_in_some_squares_alone():
    models = {key: MODELS[key] for key in ("gpt2-xl", "deepseek-v3")}
    way = serving_ways(ServingPlan())["bf16"]
    seen = {}
    for num in range(1, 26):
        devices = dict(list(DEVICES.items())[:num])
        plane = models_devices(models, way, devices)
        labels = Labels(rows={key: key for key in models}, columns={key: key for key in devices})
        picture = map_picture(plane, labels, Look())
        words = picture.figure.data[1]
        assert num < 4 or any("128× W" in column for column in picture.table.values())
        said = count_sentence(plane, labels, Look())
        assert ("table" in said) == (not any(each[0].isdigit() for each in words.text)), num
        seen[num] = (max(words.text, key=len), words.textfont.size)
    sizes = [size for _text, size in seen.values()]
    assert sizes[0] == Look().layout()["font"]["size"]
    assert min(sizes) >= 12
    lengths = [len(text) for text, _size in seen.values()]
    assert (lengths[0], lengths[-1]) == (6, 1)
    assert lengths == sorted(lengths, reverse=True)


def test_a_guess_is_marked_in_every_square_and_has_its_count_there_or_in_the_table():
    guess = {"v3": replace(MODELS["deepseek-v3"], guessed=True)}
    for num, longest in ((2, len("≈128× W")), (26, len("≈W"))):
        devices = dict(list(DEVICES.items())[:num])
        plane = models_devices(guess, serving_ways(ServingPlan())["bf16"], devices)
        labels = Labels(rows={"v3": "V3"}, columns={key: key for key in devices})
        words = map_picture(plane, labels, Look()).figure.data[1].text
        assert {each[0] for each in words} == {"≈"}
        assert max(map(len, words)) <= longest, words
        assert ("table" in count_sentence(plane, labels, Look())) == (num == 26)


def test_all_devices_side_by_side_have_room_for_a_letter_and_names_that_stand_upright():
    """50 columns on a screen of 1366 pixels: 22 each, a letter and an upright line of text."""
    devices = {f"{key} {turn}": DEVICES[key] for turn in (1, 2) for key in list(DEVICES)[:25]}
    way = serving_ways(ServingPlan())["bf16"]
    wide = models_devices({"deepseek-v3": MODELS["deepseek-v3"]}, way, devices)
    labels = Labels(rows={"deepseek-v3": "V3"}, columns={key: key for key in devices})
    picture = map_picture(wide, labels, Look())
    written = picture.figure.data[1].text
    assert len(written) == 50
    assert {len(each) for each in written} == {1}
    assert "W" in written
    assert picture.figure.layout.xaxis.tickangle == -90
    assert any("128× W" in column for column in picture.table.values())
    assert "in the table and under the pointer" in count_sentence(wide, labels, Look())
