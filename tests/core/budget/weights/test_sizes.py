"""The slider over model sizes: every model is a stop, and its weights come in every format."""

import pytest

from core.budget.catalogue.models import MODELS
from core.budget.weights import parameters
from core.budget.weights.sizes import (
    COLUMNS,
    FORMAT_NAMES,
    PRINTED,
    SIZES,
    nearest_model,
    source_table,
)
from core.budget.weights.stored import Size, size_of, weights_in
from core.dtypes import BLOCK_FORMATS, FORMATS
from core.units import GIB
from tests.core.budget.refusals import refused


def test_the_stops_run_from_a_tenth_of_a_billion_to_the_largest_model():
    counts = [size.num_params for size in SIZES.values()]

    assert counts == sorted(counts)
    assert counts[0] == 10**8
    assert counts[-1] == max(parameters.counts(spec).total for spec in MODELS.values())
    assert set(MODELS) < set(SIZES)
    assert SIZES["500b"] == Size(word="500b", name="500B", num_params=500 * 10**9)


def test_bytes_are_bits_times_parameters_plus_scales():
    for size in SIZES.values():
        for name in FORMAT_NAMES:
            fmt = BLOCK_FORMATS.get(name) or FORMATS[name]
            bits = getattr(fmt, "bits_per_value", None) or fmt.bits
            found = weights_in(size, name, rest_in_16_bits=False).amount
            assert found == pytest.approx(size.num_params * bits / 8, rel=1e-6), (size.word, name)


def test_a_round_number_shows_the_parts_of_the_nearest_model():
    assert nearest_model(SIZES["70b"]) in (MODELS["llama-2-70b"], MODELS["llama-3-70b"])
    assert nearest_model(SIZES["0.1b"]) is MODELS["gpt2"]
    assert nearest_model(SIZES["gpt2"]) is MODELS["gpt2"]
    own = size_of("own", MODELS["phi-4"])
    assert nearest_model(own) is own.spec


def test_an_unknown_format_is_refused():
    refused("'int5' is none of FORMATS", weights_in, SIZES["7b"], "int5")
    refused("int5", weights_in, SIZES["llama-2-7b"], "int5")


LLAMA_2 = ("llama-2-7b", "llama-2-13b", "llama-2-70b")
RIGHT = {
    "7b": (26.08, 13.04, 6.52, 6.52, 3.26),
    "13b": (48.43, 24.21, 12.11, 12.11, 6.05),
    "70b": (260.77, 130.39, 65.19, 65.19, 32.60),
}


def test_the_corrected_table_is_the_one_of_the_corrections():
    cells = source_table()

    assert len(cells) == 15
    for word, row in RIGHT.items():
        found = [cell for cell in cells if cell.size.word == word]
        assert [round(cell.item.amount / GIB, 2) for cell in found] == list(row)
        assert tuple(cell.printed for cell in found) == PRINTED[word]


def test_eleven_cells_were_wrong():
    wrong = [cell for cell in source_table() if cell.was_wrong]
    assert len(wrong) == 11
    assert {cell.size.word for cell in wrong} == {"7b", "13b", "70b"}


def test_scales_and_what_stays_in_16_bits_cost_a_tenth_of_int4():
    bare = {c.size.word: c.item.amount for c in source_table(LLAMA_2) if c.format_name == "int4"}
    full = {
        c.size.word: c.item.amount
        for c in source_table(LLAMA_2, scales=True)
        if c.format_name == COLUMNS["int4"]
    }
    assert full["llama-2-7b"] / bare["llama-2-7b"] == pytest.approx(1.147, abs=0.002)
    assert full["llama-2-70b"] / bare["llama-2-70b"] == pytest.approx(1.054, abs=0.002)
