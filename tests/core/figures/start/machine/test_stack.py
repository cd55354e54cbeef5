"""The stack picture holds the versions of the machine that was described."""

import pytest

from core.figures.picture import Look
from core.figures.start.machine.stack import stack_picture
from core.figures.theme import COLORS
from core.machine import describe_machine
from core.machine.stack import software_stack


@pytest.fixture
def layers(made_probe):
    return software_stack(describe_machine(), made_probe)


def test_each_layer_is_a_bar_of_the_same_length_with_its_versions_inside(layers):
    (bars,) = stack_picture(layers, Look()).figure.data

    assert list(bars.y) == [layer.name for layer in layers]
    assert set(bars.x) == {1}
    assert all(layer.found in text for layer, text in zip(layers, bars.text, strict=True))


def test_the_application_is_on_top_and_the_calls_go_down(layers):
    figure = stack_picture(layers, Look()).figure

    assert figure.layout.yaxis.autorange == "reversed"
    assert [note.text for note in figure.layout.annotations] == ["▼"] * (len(layers) - 1)


@pytest.mark.parametrize("mode", ["light", "dark"])
def test_the_bars_take_their_colours_from_the_theme(layers, mode):
    (bars,) = stack_picture(layers, Look(mode=mode)).figure.data

    assert bars.marker.color == COLORS[mode]["surface"]
    assert bars.marker.line.color == COLORS[mode]["accent"]


def test_the_sentence_names_every_layer_in_order(layers):
    sentence = stack_picture(layers, Look()).alt

    places = [sentence.index(layer.found) for layer in layers]
    assert places == sorted(places)
    assert sentence.endswith(".")


def test_a_projector_gets_larger_text(layers):
    small, large = (
        stack_picture(layers, Look(present=present)).figure for present in (False, True)
    )

    assert large.data[0].textfont.size == large.layout.font.size >= 18
    assert large.data[0].constraintext == "none"  # otherwise Plotly shrinks it to the bar
    assert small.layout.font.size < large.layout.font.size
