"""A plan as settings and back."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.budget.catalogue.devices import DEVICES
from core.budget.catalogue.models import MODELS
from core.budget.catalogue.precisions import PRECISIONS
from core.budget.cluster import Cluster
from core.budget.planning.plan import Plan
from core.budget.planning.settings import RELEASED, TARGETS, settings_of, with_settings
from core.budget.recipe import CHECKPOINTING


def plan(model="llama-3.1-8b", **cluster):
    return Plan(spec=MODELS[model], cluster=Cluster(device=DEVICES["h100-sxm"], **cluster))


@given(
    settings=st.fixed_dictionaries(
        {},
        optional={
            "length": st.sampled_from([512, 8192]),
            "precision": st.sampled_from(sorted(PRECISIONS)),
            "checkpointing": st.sampled_from(CHECKPOINTING),
            "sharding": st.sampled_from(list("0123")),
            "lora": st.sampled_from(["none", "bfloat16", "nf4_double_quant"]),
            "devices": st.sampled_from([8, 64]),
            "tokens": st.sampled_from([0.5, 1500.0]),
            "context_length": st.sampled_from([1024, 32768]),
            "kv": st.sampled_from(["bfloat16", "float8_e4m3fn"]),
            "work": st.sampled_from(["train", "serve"]),
        },
    )
)
def test_what_is_set_is_said_again_and_nothing_else_changes(settings):
    before = plan()
    after = settings_of(with_settings(before, settings))
    own = {"rank", "targets"} if settings.get("lora", "none") != "none" else set()
    assert {name: after[name] for name in settings} == settings
    assert {name for name in after if after[name] != settings_of(before).get(name)} <= {
        *settings, *own,
    }  # fmt: skip
    assert with_settings(before, settings_of(before)) == before


@pytest.mark.parametrize("name", TARGETS)
def test_adapters_are_of_the_named_matrices(name):
    made = with_settings(plan(), {"lora": "nf4_double_quant", "rank": 16, "targets": name})
    assert made.recipe.lora.targets == TARGETS[name]
    assert made.recipe.lora.rank == 16
    assert settings_of(made)["targets"] == name
    assert with_settings(made, {"lora": "none"}).recipe.lora is None


def test_a_table_of_positions_ends_a_sequence_and_released_weights_are_the_makers():
    assert with_settings(plan("gpt2"), {"length": 8192}).recipe.seq_len == 1024
    assert with_settings(plan("gpt-oss-20b"), {"weights": RELEASED}).serving.weight_format == (
        MODELS["gpt-oss-20b"].quantized
    )


def test_sequence_parallelism_needs_several_tensor_parallel_ranks():
    assert not with_settings(plan(num_devices=8), {"sequence": True}).cluster.sequence_parallel
    made = with_settings(plan(num_devices=8), {"sequence": True, "tensor": 2})
    assert made.cluster.sequence_parallel


def test_what_cannot_be_is_refused_in_words():
    with pytest.raises(ValueError, match="step_kind is 'slow'"):
        with_settings(plan(), {"kind": "slow"})
