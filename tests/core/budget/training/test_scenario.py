"""Scenarios as short texts."""

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from core.budget.catalogue.devices import DEVICES
from core.budget.catalogue.models import MODELS
from core.budget.cluster import Cluster
from core.budget.recipe import CHECKPOINTING, REDUCE_DTYPES, STEP_KINDS, LoRA, TrainingRecipe
from core.budget.training.memory import training_budget
from core.budget.training.scenario import (
    Scenario,
    named_scenario,
    read_scenario,
)
from tests.core.budget.refusals import refused

LORAS = st.builds(
    LoRA,
    rank=st.integers(1, 512),
    targets=st.sampled_from([("q",), ("q", "v"), ("q", "k", "v", "o", "gate", "up", "down")]),
    base_format=st.sampled_from(["bfloat16", "nf4", "nf4_double_quant"]),
)
RECIPES = st.builds(
    TrainingRecipe,
    batch_size=st.integers(1, 4096),
    seq_len=st.integers(1, 10**6),
    accumulation=st.integers(1, 64),
    precision=st.sampled_from(["mixed_bf16", "fp32", "fsdp2"]),
    optimizer=st.sampled_from(["adamw", "muon"]),
    step_kind=st.sampled_from(STEP_KINDS),
    checkpointing=st.sampled_from(CHECKPOINTING),
    checkpoint_every=st.integers(1, 8),
    loss_chunks=st.integers(1, 64),
    lora=st.none() | LORAS,
    reduce_dtype=st.sampled_from(REDUCE_DTYPES),
)


@st.composite
def scenarios(draw):
    tensor, pipeline, data = (draw(st.sampled_from([1, 2, 8])) for _each in range(3))
    return named_scenario(
        draw(st.sampled_from(sorted(MODELS))),
        draw(st.sampled_from(sorted(DEVICES))),
        draw(RECIPES),
        {
            "num_devices": tensor * pipeline * data,
            "tensor": tensor,
            "pipeline": pipeline,
            "zero_stage": draw(st.integers(0, 3)),
            "sequence_parallel": draw(st.booleans()),
            "overlap": draw(st.sampled_from([0.0, 0.25, 0.9])),
            "network": draw(st.sampled_from([50e9, 12.5e9])),
        },
    )


def as_in_old_links(scenario):
    """The text that earlier versions wrote into links."""

    def written(value):
        if isinstance(value, LoRA):
            return f"{value.rank},{'+'.join(value.targets)},{value.base_format}"
        return f"{value:g}" if isinstance(value, float) else str(value)

    plain = named_scenario(scenario.model, scenario.device).choices
    changed = [
        f"{name}={written(value)}"
        for name, value in scenario.choices.items()
        if value != plain[name]
    ]
    return ";".join([scenario.model, scenario.device, *changed])


@given(scenarios())
def test_every_scenario_of_the_catalogues_is_read_from_the_text_of_an_old_link(scenario):
    text = as_in_old_links(scenario)
    assert read_scenario(text) == scenario, text


@given(scenarios())
def test_a_tidied_scenario_needs_the_same_memory(scenario):
    tidy = scenario.tidied()
    assert tidy.tidied() == tidy
    try:
        expected = training_budget(scenario.spec, scenario.recipe, scenario.cluster).item.amount
    except ValueError:
        return
    assert training_budget(tidy.spec, tidy.recipe, tidy.cluster).item.amount == expected


def test_a_model_or_a_device_of_the_readers_own_has_no_key():
    plain = named_scenario("gpt2", "t4")
    wide = Scenario(
        spec=replace(plain.spec, hidden_dim=999), recipe=plain.recipe, cluster=plain.cluster
    )
    mine = replace(plain.cluster.device, name="mine")
    slow = Scenario(spec=plain.spec, recipe=plain.recipe, cluster=Cluster(device=mine))
    assert (wide.model, wide.device) == ("", "t4")
    assert (slow.model, slow.device) == ("gpt2", "")


def test_a_text_that_is_no_scenario_is_refused_in_a_sentence():
    refused("'' is no scenario: it starts with a model, a semicolon and", read_scenario, "")
    refused("model is 'gpt9'; use one of: gpt2,", read_scenario, "gpt9;t4")
    refused("device is 't5'; use one of: t4,", read_scenario, "gpt2;t5")
    refused("setting is 'device'; use one of: num_devices,", read_scenario, "gpt2;t4;device=t4")
    refused("'many' cannot be read as batch_size", read_scenario, "gpt2;t4;batch_size=many")
    refused("'1' cannot be read as sequence_parallel", read_scenario, "gpt2;t4;sequence_parallel=1")
    refused("'8' cannot be read as lora", read_scenario, "gpt2;t4;lora=8")
    refused("'8,z,nf4' cannot be read as lora", read_scenario, "gpt2;t4;lora=8,z,nf4")
    refused("batch_size is 0; it must lie between 1 and", read_scenario, "gpt2;t4;batch_size=0")
    refused(
        "1 devices cannot be split into 3 tensor-parallel ranks", read_scenario, "gpt2;t4;tensor=3"
    )
