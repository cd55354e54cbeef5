"""Scenarios, tidied."""

from hypothesis import given
from hypothesis import strategies as st

from core.budget.catalogue.devices import DEVICES
from core.budget.catalogue.models import MODELS
from core.budget.recipe import CHECKPOINTING, REDUCE_DTYPES, STEP_KINDS, LoRA, TrainingRecipe
from core.budget.training.memory import training_budget
from tests.core.budget.named import named_scenario

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


@given(scenarios())
def test_a_tidied_scenario_needs_the_same_memory(scenario):
    tidy = scenario.tidied()
    assert tidy.tidied() == tidy
    try:
        expected = training_budget(scenario.spec, scenario.recipe, scenario.cluster).item.amount
    except ValueError:
        return
    assert training_budget(tidy.spec, tidy.recipe, tidy.cluster).item.amount == expected
