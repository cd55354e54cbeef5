"""Kinds of attention by their bars: codes and scales as long as their bytes."""

from core.budget.catalogue.models import MODELS
from core.budget.serving.kv_cache import kv_variants
from core.figures.budget.serving.kv_bars import kv_alt, kv_figure, kv_table, variant_label
from core.figures.theme import MODES


def test_bars_of_the_cache_are_codes_and_scales_as_long_as_their_bytes():
    variants = kv_variants(MODELS["gemma-2-9b"], 8192, "nvfp4")

    figure = kv_figure(variants, "GiB", "light")

    lengths = [sum(bar.x[row] for bar in figure.data) for row in range(len(variants))]
    assert lengths == [variant.cache.amount for variant in variants]
    assert [trace.name for trace in figure.data] == ["keys and values", "scales"]
    labels = [variant_label(variant) for variant in variants]
    assert "MQA, 1 key head · nvfp4" in labels
    assert "no windows, 8 key heads · bfloat16" in labels
    assert "as made, 8 key heads · bfloat16 1.97 GiB" in kv_alt(variants, "GiB")
    latent = kv_variants(MODELS["deepseek-v3"], 8192, "bfloat16")
    assert "as made: latent vector · bfloat16" in kv_table(latent, "GiB")["attention"]


def test_the_picture_is_drawn_in_both_themes_and_for_a_projector():
    for mode in MODES:
        figure = kv_figure(
            kv_variants(MODELS["gemma-2-9b"], 8192, "nvfp4"), "GB", mode, present=True
        )
        assert figure.layout.font.size == 20
        assert figure.layout.height <= 340
