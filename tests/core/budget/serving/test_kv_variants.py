"""Other kinds of attention: the published ratios between them."""

import pytest

from core.budget.catalogue.models import MODELS
from core.budget.serving.kv_variants import (
    AS_MADE,
    MHA,
    MQA,
    NO_WINDOWS,
    kv_variants,
    with_kv_heads,
)


def sizes(model, context=8192, kv_format="bfloat16"):
    rows = kv_variants(MODELS[model], context, kv_format)
    return {(row.name, row.kv_format): row.cache.amount for row in rows}


def test_grouped_heads_save_what_ainslie_et_al_say():
    found = sizes("llama-3-70b")

    assert found[MHA, "bfloat16"] == 8 * found[AS_MADE, "bfloat16"]
    assert found[AS_MADE, "bfloat16"] == 8 * found[MQA, "bfloat16"]
    assert found[AS_MADE, "bfloat16"] == 2.5 * 2**30


def test_windows_and_formats_have_rows_of_their_own():
    found = sizes("mistral-7b-v0.1", 32_768, "int8_channel")

    assert found[NO_WINDOWS, "bfloat16"] == 8 * found[AS_MADE, "bfloat16"]
    codes_and_scales = 1 / 2 * (1 + 4 / 128)
    assert found[AS_MADE, "int8_channel"] == codes_and_scales * found[AS_MADE, "bfloat16"]
    assert len(found) == 8


def test_a_model_of_that_kind_has_no_row_twice():
    assert [name for name, _fmt in sizes("llama-2-7b")] == [AS_MADE, MQA]


def test_latent_attention_is_shown_with_the_heads_that_it_does_without():
    rows = kv_variants(MODELS["deepseek-v3"], 1000, "bfloat16")
    found = {row.name: row for row in rows}

    assert list(found) == [MHA, AS_MADE, MQA]
    assert found[AS_MADE].num_kv_heads == 0
    # 128 heads of 2 x 128 numbers against 576: DeepSeek-V2 2024, table 1
    ratio = found[MHA].cache.amount / found[AS_MADE].cache.amount
    assert ratio == pytest.approx(2 * 128 * 128 / 576)
    latent = MODELS["deepseek-v3"]
    assert with_kv_heads(latent, 1) is latent


def test_heads_that_do_not_divide_are_refused_in_a_sentence():
    with pytest.raises(ValueError, match="num_kv_heads is 3, which does not divide num_heads 32"):
        with_kv_heads(MODELS["llama-2-7b"], 3)
