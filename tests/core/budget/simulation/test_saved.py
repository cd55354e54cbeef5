from dataclasses import replace

from core.budget.catalogue.models import MODELS
from core.budget.recipe import LoRA, TrainingRecipe
from core.budget.simulation.saved import saved_bytes, saved_bytes_per_layer
from tests.core.budget.simulation.test_prepared import LLAMA


def recipe(**changes) -> TrainingRecipe:
    return TrainingRecipe(precision="pure_bf16", profile="hf_eager", **changes)


def test_a_llama_layer_keeps_the_bytes_of_the_published_closed_form():
    # reference/budget.md C.3: T (20 h + 4 kv d + 8 f + 4 a + 8), to 64 bytes
    for key in ("llama-2-7b", "llama-3.1-8b", "llama-3.2-1b"):
        spec = MODELS[key]
        per_token = (
            20 * spec.hidden_dim
            + 4 * spec.num_kv_heads * spec.head_dim
            + 8 * spec.ffn_dim
            + 4 * spec.num_heads
            + 8
        )
        assert abs(saved_bytes_per_layer(spec, recipe(seq_len=512)) - 512 * per_token) <= 64


def test_korthikantis_layer_is_34_sbh_and_5_as2b():
    spec = replace(MODELS["gpt2"], name="a GPT layer")
    for seq_len in (128, 512):
        kept = saved_bytes_per_layer(
            spec, TrainingRecipe(precision="pure_bf16", profile="megatron", seq_len=seq_len)
        )
        published = 34 * seq_len * spec.hidden_dim + 5 * spec.num_heads * seq_len**2
        assert abs(kept / published - 1) < 0.005, seq_len


def test_checkpointing_keeps_less_and_full_only_the_input():
    kept = {
        mode: saved_bytes_per_layer(LLAMA, recipe(seq_len=64, checkpointing=mode))
        for mode in ("none", "selective", "full", "every_k")
    }
    assert kept["none"] > kept["selective"] > kept["full"]
    assert kept["full"] == kept["every_k"] == 2 * 64 * LLAMA.hidden_dim
    wider = recipe(seq_len=64, checkpointing="every_k", checkpoint_every=4)
    assert saved_bytes_per_layer(LLAMA, wider) == kept["full"] // 4


def test_adapters_keep_less_than_training_every_weight():
    whole, adapted = recipe(seq_len=64), recipe(seq_len=64, lora=LoRA())
    assert saved_bytes(LLAMA, adapted) < saved_bytes(LLAMA, whole)
