"""What must hold for every row of the catalogue: all models, and all models on all devices."""

import pytest

from core.budget.catalogue.devices import DEVICES
from core.budget.catalogue.models import MODELS
from core.budget.cluster import Cluster
from core.budget.fits.jobs import serving_ways, training_ways
from core.budget.fits.matrix import matrix
from core.budget.recipe import TrainingRecipe
from core.budget.serving.memory import serving_memory
from core.budget.serving.plan import ServingPlan
from core.budget.training.memory import training_budget

pytestmark = pytest.mark.slow
RECIPE = TrainingRecipe(seq_len=1024, precision="mixed_bf16", checkpointing="full")
SPREAD = (1, 2, 4, 8, 16, 64)


def budget(spec, recipe=RECIPE, **layout):
    return training_budget(spec, recipe, Cluster(device=DEVICES["h100-sxm"], **layout)).item


def trained(spec, recipe=RECIPE, **layout):
    return budget(spec, recipe, **layout).amount


def of_its_own(spec, **layout):
    """Return the bytes but for what comes from other ranks: buffers of a group, a block of keys."""
    parts = budget(spec, **layout).children
    others = {"communication buffers", "received keys and values", "allocator reserve"}
    return sum(part.amount for part in parts if part.name not in others)


@pytest.mark.parametrize("key", MODELS)
def test_more_devices_never_need_more_memory_each(key):
    """Sharded states (ZeRO-3), shared sequences, and matrices shared where the heads allow it."""
    spec = MODELS[key]
    alone = trained(spec)
    sharded = [trained(spec, num_devices=number, zero_stage=3) for number in SPREAD[1:]]
    assert sharded == sorted(sharded, reverse=True)
    assert sharded[0] < alone
    context = [
        of_its_own(spec, num_devices=64, context=number, zero_stage=3)
        for number in (1, 2, 4, 8, 16)
    ]
    assert context == sorted(context, reverse=True)
    ranks = [number for number in SPREAD if can_share(spec, number)]
    served = [
        serving_memory(spec, ServingPlan(concurrency=4, tensor=number)).amount for number in ranks
    ]
    assert served == sorted(served, reverse=True)


def can_share(spec, tensor):
    try:
        serving_memory(spec, ServingPlan(tensor=tensor))
    except ValueError:
        return False
    return True


def test_no_model_fits_on_less_memory_and_not_on_more():
    by_memory = sorted(DEVICES, key=lambda key: DEVICES[key].memory_usable)
    for ways in (serving_ways(ServingPlan()), training_ways(RECIPE)):
        cells = matrix(MODELS, ways, DEVICES)
        for model in MODELS:
            for way in ways:
                row = [cells[model, way, device] for device in by_memory]
                fits = [cell.need is not None and not cell.reason for cell in row]
                assert fits == sorted(fits), (model, way)
                assert all(cell.need == row[0].need for cell in row), (model, way)
                assert row[0].need is not None or row[0].sentence, (model, way)
