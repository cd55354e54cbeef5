"""One model against memories: bars that add up, verdicts, lines that do not run together."""

import dataclasses
import itertools

import pytest

from core.budget.catalogue.devices import DEVICES
from core.budget.catalogue.models import MODELS
from core.budget.weights.gguf import gguf_files
from core.budget.weights.sizes import FORMAT_NAMES, SIZES
from core.budget.weights.stored import Size, weights_in
from core.figures.picture import Look
from core.units import GIB
from pages.plan.model_sizes.inputs import Line, verdict
from pages.plan.model_sizes.one_model import axis_end, one_model_picture, part_bytes, seen_lines
from tests.core.budget.usable import usable

RTX = Line("RTX 4090", DEVICES["rtx-4090"].memory_usable)
MARKS = tuple(
    Line(DEVICES[key].name, DEVICES[key].memory_usable)
    for key in ("h100-sxm", "t4", "b200", "a100-40gb", "mi355x")
)


def items_of(word):
    return {name: weights_in(SIZES[word], name) for name in FORMAT_NAMES}


def drawn(word, **look):
    return one_model_picture(SIZES[word].name, items_of(word), RTX, Look(**look))


def test_every_bar_is_as_long_as_its_bytes():
    items, figure = items_of("llama-3-8b"), drawn("llama-3-8b").figure

    lengths = [sum(bar.x[row] for bar in figure.data) for row in range(len(items))]
    assert lengths == [item.num_bytes for item in items.values()]
    assert next(bar.name for bar in figure.data) == "codes"
    assert tuple(figure.data[0].y) == FORMAT_NAMES


def test_no_part_of_a_gguf_file_is_left_out_of_its_bar():
    for key, spec in MODELS.items():
        items, _refusals = gguf_files(spec)
        if not items:
            continue
        figure = one_model_picture(spec.name, items, RTX, Look()).figure
        lengths = [sum(bar.x[row] for bar in figure.data) for row in range(len(items))]
        assert lengths == [item.num_bytes for item in items.values()], key


def test_what_is_too_long_for_the_memory_says_how_many_it_needs():
    items = items_of("llama-2-70b")

    assert verdict(items["int4_group128"], RTX) == "✗ ≥ 2 devices"
    assert verdict(items["float32"], RTX) == "✗ ≥ 12 devices"
    full = weights_in(Size(word="", name="", num_params=8), "bfloat16")  # 16 bytes
    for num_bytes, said in ((16, "✓ fits"), (15, "✗ ≥ 2 devices"), (0, "✗ no memory")):
        assert verdict(full, Line("small", num_bytes)) == said
    guess = dataclasses.replace(full, guess=True)
    assert verdict(guess, Line("small", 16)) == "≈ may fit"
    assert verdict(guess, Line("small", 0)) == "≈ may not fit"


def test_lines_keep_their_distance_and_stay_inside():
    for word in SIZES:
        end = axis_end(items_of(word), RTX)
        lines = seen_lines(RTX, MARKS, end)
        places = sorted(line.num_bytes for line in lines)
        assert all(0 < place <= end for place in places), word
        gaps = [after - before for before, after in itertools.pairwise(places)]
        assert all(gap >= 0.45 * end for gap in gaps), word


def test_the_sentence_and_the_table_say_what_is_drawn():
    table = drawn("llama-2-7b", unit="GB").table

    assert drawn("llama-2-7b").alt.startswith(
        f"Weights of Llama-2 7B against RTX 4090 with {usable('rtx-4090')}: float32 25.1 GiB ✗"
    )
    assert table["total"][0] == "27.0 GB"
    assert table["RTX 4090"][:2] == ["✗ ≥ 2 devices", "✓ fits"]
    assert table["formula"][0] == "ceil(num_params × element_bits / 8) + num_params × bits // 8"
    assert {len(column) for column in table.values()} == {len(FORMAT_NAMES)}


def test_zero_points_and_second_scales_count_as_scales():
    item = weights_in(SIZES["7b"], "nf4_double_quant")

    found = part_bytes(item)
    assert found["codes"] + found["scales"] == item.num_bytes
    assert found["scales"] / GIB == pytest.approx(0.1035, abs=0.001)
