"""Published config.json files of hybrids and their kin: totals as published, caches by hand.

The fields are those of the files that their makers published, or of the model's card; what a file
leaves to the code of transformers is left out here too.
"""

import json
import random
from dataclasses import replace
from pathlib import Path

import pytest

from core.budget.catalogue.devices import DEVICES
from core.budget.catalogue.hf_config import compact_config, model_from_config, read_config
from core.budget.catalogue.hf_families import OTHER_NAMES
from core.budget.cluster import Cluster
from core.budget.compute.block_operations import op_intensities
from core.budget.compute.conventions import crossing
from core.budget.compute.forward_flops import forward_flops, is_pairs
from core.budget.compute.step_flops import step_flops
from core.budget.item import Formula
from core.budget.recipe import LoRA, TrainingRecipe
from core.budget.serving.kv_cache import (
    kv_cache,
    kv_cache_bytes_per_token,
    kv_read,
    recurrent_state,
)
from core.budget.serving.latency import decode_latency
from core.budget.serving.memory import inference_budget, memory_sweep
from core.budget.serving.plan import ServingPlan
from core.budget.share import shares, whole
from core.budget.training.memory import training_budget
from core.budget.weights.gguf import gguf_files
from core.budget.weights.parameters import active_parameters, counts, rows_and_columns, share_counts
from core.models.build import build_model
from tests.core.budget.refusals import refused

H100 = DEVICES["h100-sxm"]
PLAN = ServingPlan(prompt_len=1000, output_len=24)
NAMES = (
    *("num_hidden_layers", "hidden_size", "num_attention_heads", "num_key_value_heads"),
    *("intermediate_size", "vocab_size"),
)


def config(kind, *sizes, **more):
    named = {key: size for key, size in zip(NAMES, sizes, strict=True) if size}
    return {"model_type": kind, "max_position_embeddings": 65_536, **named, **more}


def layers(each, times, other="full_attention"):
    return ([each] * 3 + [other]) * times


# Name: the file, its parameters, bytes of cache per token in 16 bits, bytes of state. Gemma 3n E4B
# has 6.87 B as published: its files hold the keys and values of the 15 layers that share others'.
TABLE = {
    name: (
        row["file"],
        row["parameters"],
        Formula(row["cache"]).of({}),
        Formula(row["state"]).of({}),
    )
    for name, row in json.loads(
        Path(__file__).with_name("hybrids.json").read_text(encoding="utf-8")
    ).items()
}
HYBRIDS = [name for name, (*_file, state) in TABLE.items() if state]


def spec_of(name):
    return model_from_config(TABLE[name][0])


def test_parameters_are_as_published_and_caches_and_states_as_worked_out_by_hand():
    for name, (file, num_params, per_token, state) in TABLE.items():
        spec = model_from_config(file)
        assert counts(spec).total == num_params, name
        assert kv_cache_bytes_per_token(spec) == per_token, name
        assert sum(part.amount for part in recurrent_state(spec)) == state, name
        assert (spec.guessed, spec.not_counted) == (False, ()), name
        assert read_config(compact_config(json.dumps(file))) == spec, name


def test_a_window_by_pattern_is_kept_by_the_layers_that_it_names():
    """Command R7B at 32,768 tokens is 1.375 GiB: 24 of its 32 layers keep 4,096."""
    assert kv_cache(spec_of("Command R7B"), 32_768).amount == 1.375 * 2**30
    small = {**dict(zip(NAMES, (8, 64, 4, 2, 128, 100), strict=True)), "head_dim": 16}
    small |= {"sliding_window": 4096, "max_position_embeddings": 65_536}
    listed = layers("sliding_attention", 2)
    for kind in ("cohere2", "exaone4", "llama", "mine"):
        for said in (
            *({"sliding_window_pattern": 4}, {"sliding_window_pattern": "LLLG"}),
            *({"layer_types": listed}, {"layer_types": listed, "sliding_window_pattern": "LLLG"}),
        ):
            spec = model_from_config({"model_type": kind, **small, **said})
            assert kv_cache(spec, 32_768).amount == 352 * 32_768, (kind, said)
    alone = model_from_config({"model_type": "mine", **small})
    assert "sliding_window" in alone.not_counted  # of which layers is not said
    for off in ({"use_sliding_window": False}, {"sliding_window": 65_536}, {"model_type": "llama"}):
        assert model_from_config({"model_type": "mine", **small, **off}).not_counted == (), off
    refused("row of L and G", model_from_config, small | {"sliding_window_pattern": "LXG"})


def test_layers_that_are_no_attention_keep_no_keys_in_any_family():
    small = {**dict(zip(NAMES, (8, 64, 4, 2, 128, 100), strict=True)), "head_dim": 16}
    for kind in ("llama", "qwen3", "mine"):
        for each, other in (("linear_attention", "full_attention"), ("mamba", "attention")):
            for name in (each, "rwkv"):
                file = small | {"model_type": kind, "layer_types": layers(name, 2, other)}
                spec = model_from_config(file)
                assert kv_cache(spec, 32_768).amount == 256 * 32_768, file
                assert spec.not_counted == ("layer_types",), file
                assert read_config(compact_config(json.dumps(file))) == spec


def test_a_model_without_any_attention_has_a_state_alone():
    only = config("mine", 4, 64, 4, 2, 128, 100, layer_types=["mamba"] * 4)
    only |= {"mamba_num_heads": 8, "mamba_head_dim": 16, "ssm_state_size": 32}
    spec = model_from_config(only)
    assert kv_cache(spec, 1000).amount == kv_cache_bytes_per_token(spec) == 0
    assert kv_read(spec, 1000) == 4 * (128 * 32 * 4 + (128 + 64) * 3 * 2)
    assert crossing(spec) is None
    assert step_flops(spec, TrainingRecipe(lora=LoRA(targets=("down",)))).amount > 0


def test_the_same_thing_under_another_name_counts_the_same():
    file, *_rest = TABLE["Nemotron-H 8B"]
    granite, *_rest = TABLE["Granite 4.0 H-Small"]
    ernie, *_rest = TABLE["ERNIE 4.5 21B-A3B"]
    for published in (file, granite, ernie):
        spec = model_from_config(published)
        for first, others in OTHER_NAMES.items():
            for other in (first, *others):
                for own in {first, *others} & {*published}:
                    renamed = {other if key == own else key: published[key] for key in published}
                    assert model_from_config(renamed) == spec, (own, other)
    listed = {key: each for key, each in file.items() if key != "num_hidden_layers"}
    assert model_from_config(listed) == model_from_config(file)
    mine = {
        "model_type": "myexperts",
        "hidden_size": 256,
        "num_hidden_layers": 4,
        "num_attention_heads": 4,
        "num_key_value_heads": 2,
        "intermediate_size": 512,
        "vocab_size": 1000,
        "max_position_embeddings": 4096,
        "moe_num_experts": 64,
        "moe_k": 6,
        "moe_intermediate_size": 128,
    }
    assert counts(model_from_config(mine)).experts == 3 * 256 * 128 * 64 * 4
    token = {"num_experts": 4, "num_experts_per_token": 2}
    assert model_from_config(mine | token).mixture.experts_per_token == 2


def test_an_activation_without_a_gate_has_two_matrices():
    mine = config("mine", 2, 64, 4, 2, 128, 100)
    for act, matrices in (("silu", 3), ("relu2", 2), ("xielu", 2)):
        for key in ("hidden_act", "mlp_hidden_act"):
            assert counts(model_from_config(mine | {key: act})).dense_ffn == matrices * 2 * 64 * 128


def test_a_list_of_equal_numbers_is_the_number_and_of_others_is_refused():
    mine = config("mine", 2, 64, 4, 2, 128, 100)
    experts = {"num_experts": 4, "num_experts_per_tok": 2, "moe_intermediate_size": 32}
    for file, key in ((mine, "intermediate_size"), (mine | experts, "moe_intermediate_size")):
        assert model_from_config(file | {key: [file[key]] * 2}) == model_from_config(file)
        refused(f"{key} in config.json differs", model_from_config, file | {key: [9, 8]})


def test_a_decoder_under_another_key_is_found():
    inner = TABLE["Qwen2.5-72B"][0]
    paths = (["llm_config"], ["thinker_config", "text_config"], ["language_config"], ["llm"])
    for path in (*paths, ["text_config"], ["model", "decoder"]):
        file = inner
        for key in reversed(path):
            seeing = {"vision_config": {"num_hidden_layers": 2}, "audio_encoder": {"n_layers": 2}}
            file = {
                "model_type": "seeing",
                "architectures": ["InternVLChatModel"],
                **seeing,
                key: file,
            }
        assert model_from_config(file) == model_from_config(inner), path
    two = {"global_config": inner, "local_config": inner}
    refused("no num_hidden_layers", model_from_config, two)
    for key, value in (("block_ffn_dim_multiplier", "x"), ("block_ffn_dim_multiplier", [1])):
        file = inner | {"block_auto_adjust_ff_dim": True, key: value}
        refused(key, model_from_config, file)
    deep = '{"a":' * 900 + "1" + "}" * 900
    refused("no num_hidden_layers|nested or long", read_config, deep)


def test_a_field_that_speaks_of_a_size_is_counted_or_named_and_stays_in_the_link():
    mine = config("mine", 2, 64, 4, 2, 128, 100)
    for key, value in {
        "moe_latent_size": 32,
        "num_zero_experts": 4,
        "ssm_cfg": {"d_state": 8},
        "block_types": ["recurrent", "attention"],
        "lru_width": 64,
        "layer_pattern": "ABAB",
        "global_head_dim": 512,
        "use_double_wide_mlp": True,
        "hidden_size_per_layer_input": 8,
        "attn_type_list": [0, 1],
        "ssm_state_size": 16,
        "multi_query": True,
        "own_intermediate_size": 64,
    }.items():
        for file in (mine | {key: value}, mine | {key: value, "model_type": "llama"}):
            spec = model_from_config(file)
            assert spec.not_counted == (key,), key
            assert read_config(compact_config(json.dumps(file))) == spec, key
    quiet = {
        "rope_theta": 1e6,
        "bos_token_id": 1,
        "attention_dropout": 0.1,
        "torch_dtype": "x",
        "initializer_range": 0.02,
        "auto_map": {"a": "b"},
        "rms_norm_eps": 1e-6,
        "num_logits_to_keep": 1,
        "router_aux_loss_coef": 0.1,
        "altup_coef_clip": 120.0,
        "moe_latent_size": None,
        "num_zero_experts": 0,
        "block_types": [],
    }
    of_published_files = {  # which transformers does not read, or which follow from others
        "reorder_and_upcast_attn": True, "summary_proj_to_labels": True,  # GPT-2
        "use_parallel_block": True, "use_parallel_embedding": True,  # Command R7B
        "full_attn_mod": 1, "interpolate_factor": 1,  # Phi-4-mini
        "mamba_use_mlp": True, "mlp_expansion_factor": 8, "ssm_multipliers": [1, 2],  # Falcon
        "block_dim": 64, "block_use_swiglu": True, "conv_dim_out": 64,  # LFM2
        "use_grouped_topk": True, "num_expert_group": 1, "moe_renormalize": True,  # Kimi Linear
        "moe_capacity": [64, 64, 64], "use_rmsnorm": True, "moe_use_aux_free": True,  # ERNIE
        "num_experts": 1, "num_shared_expert": 1, "moe_topk": 1, "dense_list": [64, 0],
        "org_vocab_size": 100, "num_media_embeds": 257, "anyres_pooling_size": 2,  # Hunyuan
        "num_beams": 1, "num_return_sequences": 1, "no_repeat_ngram_size": 3,
    }  # fmt: skip
    assert model_from_config(mine | quiet | of_published_files) == model_from_config(mine)


def test_a_rank_of_a_hybrid_holds_its_layers_and_its_heads():
    for name in HYBRIDS:
        spec, num_params = spec_of(name), TABLE[name][1]
        stages = shares(spec, Cluster(device=H100, num_devices=3, pipeline=3))
        held = sum(share_counts(spec, share).total for share in stages)
        assert held == num_params + spec.tied * spec.vocab_size * spec.hidden_dim, name
        assert sum(share.num_attention_layers for share in stages) == spec.num_attention_layers
        two = Cluster(device=H100, num_devices=2, tensor=2)
        half = share_counts(spec, shares(spec, two)[0])
        assert 0 <= half.recurrent / counts(spec).recurrent - 0.5 < 0.05, name  # shared groups
        for how in ({"tensor": 1024, "num_devices": 1024}, {"context": 2, "num_devices": 2}):
            refused("ranks", shares, spec, Cluster(device=H100, **how))
    refused("per-layer inputs", shares, spec_of("Gemma 3n E4B"), two)


def test_products_with_weights_are_two_flops_a_weight_and_pairs_only_of_layers_with_attention():
    for name, (_file, *_rest) in TABLE.items():
        spec = spec_of(name)
        if spec.layer_inputs is not None:
            continue
        found, tree = counts(spec), forward_flops(spec, 1, 1)
        vectors = found.biases + (
            spec.num_expert_layers * spec.mixture.num_experts
            if spec.mixture and spec.mixture.correction_bias
            else 0
        )
        weights = found.matrices + found.biases + found.router - vectors - found.idle_experts
        weights += spec.vocab_size * spec.hidden_dim
        exact = sum(part.amount for part in tree.children
                    if not is_pairs(part) and part.kind == "exact")  # fmt: skip
        assert exact == 2 * weights, name
        products = sum(
            each.times * each.flops.amount
            for each in op_intensities(spec, 1)
            if each.name not in {"norm", "rotary positions", "residual sum", "SwiGLU", "GELU"}
        )
        assert products == pytest.approx(tree.amount, rel=1e-3), name
        assert step_flops(spec, TrainingRecipe(seq_len=512)).child("backward").kind == tree.kind
        pairs = sum(part.amount for part in tree.children if is_pairs(part))
        latent = spec.latent
        width = (
            latent.nope_dim + latent.rope_dim + latent.value_dim if latent else 2 * spec.head_dim
        )
        assert pairs == 2 * spec.num_attention_layers * spec.num_heads * width, name
        assert active_parameters(spec).amount <= found.active


def test_a_hybrids_memory_and_speed_are_counted_and_its_training_is_an_estimate():
    one = Cluster(device=H100)
    for name in [*HYBRIDS, "Gemma 3n E4B", "Apertus 8B", "Qwen1.5-MoE A2.7B"]:
        spec, state = spec_of(name), TABLE[name][3]
        served = inference_budget(spec, PLAN, one)
        names = [part.name for part in served.item.children]
        assert ("recurrent state" in names) == bool(state), name
        longer = memory_sweep(spec, PLAN, one)
        assert longer.caches[0] >= state
        assert decode_latency(spec, PLAN, one).amount > 0
        shared = spec.num_kv_shared_layers
        if not (shared or spec.num_windowed_layers):
            assert kv_read(spec, 100) == 100 * kv_cache_bytes_per_token(spec) + state
        assert not gguf_files(spec)[0], name
        refused("not built here", build_model, spec)
        peak = training_budget(spec, TrainingRecipe(seq_len=65_536), one).item.child("step peak")
        assert peak.kind == "estimated", name
        assert peak.low < peak.amount < peak.high, name
        for recipe in (
            TrainingRecipe(seq_len=512, checkpointing="full", optimizer="adafactor"),
            TrainingRecipe(
                seq_len=512, checkpointing="selective", lora=LoRA(rank=8, targets=("o",))
            ),
            TrainingRecipe(seq_len=512, checkpointing="every_k", checkpoint_every=4),
        ):
            assert training_budget(spec, recipe, one).item.kind == "estimated", name
            step = step_flops(spec, recipe)
            assert step.amount > 0
            assert (step.low < step.amount) == (recipe.lora is not None), name
        guess = replace(spec, guessed=True)  # nothing of it is exact, and all of it is counted
        for tree in (
            inference_budget(guess, PLAN, one).item,
            decode_latency(guess, PLAN, one),
            step_flops(guess, recipe),
        ):
            assert tree.kind == "estimated", name
        held = counts(spec)
        assert 0 < rows_and_columns(spec, whole(spec), held) < held.total / 50, name


@pytest.mark.slow
def test_files_with_fields_renamed_added_or_removed_are_counted_named_guessed_or_refused():
    draw = random.Random(1)  # noqa: S311  a repeatable draw
    added = ("num_extra_experts", "ssm_rank", "shared_mlp_dim", "conv_width", "mtp_depth_size")
    for _number in range(200):
        name = draw.choice([*TABLE])
        file = dict(TABLE[name][0].get("text_config", TABLE[name][0]))
        change = draw.choice(("kind", "rename", "add", "remove"))
        key = draw.choice([each for each in file if each not in {"model_type", *NAMES}])
        if change == "kind":
            file["model_type"] = "mine"
        elif change == "rename":
            file[f"own_{key}"] = file.pop(key)
        elif change == "add":
            file[draw.choice(added)] = 7
        else:
            file |= {"model_type": "mine"}
            del file[key]
        try:
            spec = model_from_config(file)
        except ValueError:
            continue
        is_same = counts(spec).total == TABLE[name][1]
        is_seen = is_same or spec.guessed or spec.not_counted
        assert is_seen or key == "tie_word_embeddings", (name, change, key)
