"""Samples as one picture and as an animation: read as XML, character by character."""

import xml.etree.ElementTree as ET

import pytest

from core.figures.train.live_run.strip import (
    NUM_IN_STRIP,
    SECONDS_EACH,
    chosen_samples,
    strip_animation,
    strip_svg,
)
from core.figures.train.live_run.surprise import shade

NS = "{http://www.w3.org/2000/svg}"


def sample(step, text="ab", bits=4.0):
    written = [[each, bits, []] for each in text]
    return {"step": step, "prompt": "The ", "text": text, "written": written}


def parsed(svg):
    return ET.fromstring(svg)  # noqa: S314  our own


def texts(svg):
    root = parsed(svg)
    return [
        "".join(each.itertext()) for each in root.iter(f"{NS}text") if each.get("class") == "code"
    ]


def test_the_first_and_the_last_sample_are_always_among_the_chosen():
    many = [sample(step) for step in range(23)]
    chosen = chosen_samples(many)
    assert len(chosen) == NUM_IN_STRIP
    assert (chosen[0], chosen[-1]) == (many[0], many[-1])
    assert [each["step"] for each in chosen] == sorted({each["step"] for each in chosen})
    assert chosen_samples(many[:2]) == tuple(many[:2])


def test_the_picture_holds_every_character_with_its_shade():
    svg = strip_svg([sample(0, "x<&y", 2.0), sample(10, "words", 0.0)], "a run")
    assert texts(svg) == ["The x<&y", "The words"]
    tints = [each.get("fill-opacity") for each in parsed(svg).iter(f"{NS}rect")]
    assert tints.count(f"{shade(2.0):.3f}") == 4
    assert "2.00 bits" in svg


def test_ends_of_lines_are_signs_and_long_texts_are_broken_into_lines():
    (first, second) = texts(strip_svg([sample(0, "a\n" + "b" * 70)], "a run"))
    assert first.startswith("The a↵bbb")
    assert len(first) == 64
    assert set(second) == {"b"}


def test_a_chinese_character_takes_the_place_of_two():
    svg = strip_svg([sample(0, "中" * 40)], "a run")
    assert [len(each) for each in texts(svg)] == [4 + 30, 10]


def test_an_old_run_is_drawn_without_shades():
    old = {"step": 3, "prompt": "The ", "text": "cat"}
    svg = strip_svg([old], "a run")
    assert texts(svg) == ["The cat"]
    assert 'tint" x' not in svg
    assert "bits per" not in svg


def test_the_animation_shows_each_sample_once_and_one_at_a_time():
    many = [sample(step) for step in range(4)]
    root = parsed(strip_animation(many, "a run"))
    moves = list(root.iter(f"{NS}animate"))
    assert len(moves) == len(many)
    spans = [[float(time) for time in each.get("keyTimes").split(";")] for each in moves]
    assert [span[1:] for span in spans] == [[0, 0.25], [0.25, 0.5], [0.5, 0.75], [0.75, 1]]
    assert {each.get("dur") for each in moves} == {f"{4 * SECONDS_EACH:.2f}s"}
    still = [group.get("opacity") for group in root.iter(f"{NS}g")]
    assert still == ["0", "0", "0", "1"]


@pytest.mark.parametrize("draw", [strip_svg, strip_animation])
def test_without_a_sample_there_is_a_sentence(draw):
    with pytest.raises(ValueError, match="no sample yet"):
        draw([], "a run")
