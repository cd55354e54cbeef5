"""Bytes and seconds of a step's messages: rules that hold for every model and every split."""

import pytest

from core.budget.parallel.communication import communication, exposed_seconds, stage_communication
from core.budget.recipe import TrainingRecipe
from core.budget.share import shares
from tests.core.budget.test_share import cluster, model

RECIPE = TrainingRecipe(accumulation=4)
SPREADS = (
    {"num_devices": 8},
    {"num_devices": 64, "zero_stage": 3},
    {"num_devices": 64, "tensor": 8, "pipeline": 4, "zero_stage": 1, "sequence_parallel": True},
    {"num_devices": 64, "tensor": 2, "pipeline": 8},
)


def test_one_device_talks_to_nobody():
    for rule in (communication, exposed_seconds):
        found = rule(model(), RECIPE, cluster(1))
        assert (found.amount, found.children, found.substituted) == (0, (), "0")


def test_the_busiest_stage_is_the_busiest_of_all_stages():
    for spread in SPREADS:
        split = cluster(**spread)
        stages = shares(model(), split, RECIPE.accumulation)
        sent = [stage_communication(model(), RECIPE, split, share).amount for share in stages]
        assert communication(model(), RECIPE, split).amount == max(sent)


def test_seconds_are_bytes_over_the_link_of_their_axis():
    split = cluster(64, tensor=8, pipeline=4)
    sent, took = communication(model(), RECIPE, split), exposed_seconds(model(), RECIPE, split)

    def speed(axis):
        return sent.child(axis).amount / took.child(axis).amount

    assert speed("tensor parallel") == pytest.approx(450e9)
    assert speed("data parallel") == pytest.approx(50e9)
    assert speed("pipeline parallel") == pytest.approx(50e9)
    assert took.kind == "estimated"
    assert took.high == pytest.approx(3 * took.amount)


def test_a_split_that_cannot_be_is_a_sentence():
    with pytest.raises(
        ValueError, match="128 tensor-parallel ranks cannot share the 64 attention heads"
    ):
        communication(model(), RECIPE, cluster(128, tensor=128))
    with pytest.raises(ValueError, match="carries 0 bytes a second"):
        exposed_seconds(model(), RECIPE, cluster(16, pipeline=2, network=0))
