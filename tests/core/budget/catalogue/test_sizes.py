"""The slider over model sizes: every model is a stop, and its weights come in every format."""

import pytest

from core.budget.catalogue.models import MODELS
from core.budget.catalogue.sizes import (
    FORMAT_NAMES,
    SIZES,
    Size,
    nearest_model,
    size_of,
    weights_in,
)
from core.dtypes import BLOCK_FORMATS, FORMATS
from core.units import GIB


def test_the_stops_run_from_a_tenth_of_a_billion_to_the_largest_model():
    counts = [size.num_params for size in SIZES.values()]

    assert counts == sorted(counts)
    assert counts[0] == 10**8
    assert counts[-1] == MODELS["deepseek-v3"].published
    assert set(MODELS) < set(SIZES)
    assert SIZES["500b"] == Size(word="500b", name="500B", num_params=500 * 10**9)


def test_bytes_are_bits_times_parameters_plus_scales():
    for size in SIZES.values():
        for name in FORMAT_NAMES:
            fmt = BLOCK_FORMATS.get(name) or FORMATS[name]
            bits = getattr(fmt, "bits_per_value", None) or fmt.bits
            found = weights_in(size, name, rest_in_16_bits=False).amount
            assert found == pytest.approx(size.num_params * bits / 8, rel=1e-6), (size.word, name)


def test_a_real_checkpoint_keeps_embeddings_and_norms_in_16_bits():
    size = SIZES["llama-3-8b"]
    whole = weights_in(size, "int4_group128")
    matrices = 32 * (2 * 4096 * 4096 + 2 * 4096 * 1024 + 3 * 4096 * 14336)

    assert whole.child("matrices").amount == matrices * 4.125 / 8
    assert whole.child("the rest").amount == 2 * (size.num_params - matrices)
    assert whole.amount / GIB == pytest.approx(5.31, abs=0.01)  # "4 bit" is not 4 GB


def test_wide_formats_are_the_same_with_and_without_the_rest():
    for name, bytes_each in (("float32", 4), ("bfloat16", 2)):
        for keep in (True, False):
            size = SIZES["llama-2-7b"]
            found = weights_in(size, name, rest_in_16_bits=keep)
            assert found.amount == bytes_each * 6_738_415_616


def test_a_round_number_shows_the_parts_of_the_nearest_model():
    assert nearest_model(SIZES["70b"]).word in {"llama-2-70b", "llama-3-70b"}
    assert nearest_model(SIZES["0.1b"]).word == "gpt2"
    assert nearest_model(SIZES["gpt2"]) is SIZES["gpt2"]
    own = size_of("own", MODELS["phi-4"])
    assert nearest_model(own) is own


def test_an_unknown_format_is_refused():
    with pytest.raises(ValueError, match="'int5' is none of FORMATS"):
        weights_in(SIZES["7b"], "int5")
    with pytest.raises(ValueError, match="int5"):
        weights_in(SIZES["llama-2-7b"], "int5")
