"""Planes of the matrix against the matrix and the solver themselves."""

from dataclasses import replace

from core.budget.catalogue.devices import DEVICES
from core.budget.catalogue.models import MODELS
from core.budget.fits.jobs import serving_ways, training_ways
from core.budget.fits.matrix import matrix
from core.budget.fits.plane import MOST_DEVICES, models_devices, models_ways, ways_devices
from core.budget.fits.solve import min_devices
from core.budget.recipe import TrainingRecipe
from core.budget.serving.plan import ServingPlan

FEW = {key: MODELS[key] for key in ("gpt2-xl", "llama-2-7b", "llama-2-70b", "mixtral-8x7b")}
SOME = {key: DEVICES[key] for key in ("t4", "rtx-4090", "h100-sxm", "mi300x")}
JOBS = (serving_ways(ServingPlan()), training_ways(TrainingRecipe(checkpointing="full")))


def test_every_plane_shows_the_cells_of_the_matrix():
    for ways in JOBS:
        cells = matrix(FEW, ways, SOME)
        way, model, device = "bf16", "llama-2-7b", "rtx-4090"
        first = models_devices(FEW, ways[way], SOME)
        second = ways_devices(FEW[model], ways, SOME)
        third = models_ways(FEW, ways, SOME[device])
        assert (first.rows, first.columns) == (tuple(FEW), tuple(SOME))
        assert (second.rows, second.columns) == (tuple(ways), tuple(SOME))
        assert (third.rows, third.columns) == (tuple(FEW), tuple(ways))
        pairs = [(first, (key, column), cells[key, way, column]) for key in FEW for column in SOME]
        pairs += [(third, (key, each), cells[key, each, device]) for key in FEW for each in ways]
        pairs += [
            (second, (each, column), cells[model, each, column]) for each in ways for column in SOME
        ]
        for plane, place, cell in pairs:
            binding = {} if plane.fewest[place] else {"reason": plane.cells[place].reason}
            assert plane.cells[place] == replace(cell, **binding), place


def test_the_fewest_devices_are_those_that_the_solver_finds():
    for ways in JOBS:
        plane = models_devices(FEW, ways["bf16"], SOME)
        for (model, device), number in plane.fewest.items():
            found = min_devices(FEW[model], ways["bf16"], SOME[device], MOST_DEVICES)
            assert number == found.amount, (model, device)
            assert (number == 1) == (plane.cells[model, device].reason == "")


def test_training_shards_states_and_not_activations():
    """ZeRO-3: without recomputing, a 70B model's activations fill an H100 on any number."""
    kept = training_ways(TrainingRecipe())["mixed"]
    again = training_ways(TrainingRecipe(checkpointing="full"))["mixed"]
    spec, device = MODELS["llama-2-70b"], DEVICES["h100-sxm"]

    assert min_devices(spec, kept, device).amount == 0
    assert min_devices(spec, kept, device).reason == "activations"
    assert min_devices(spec, again, device).amount in {16, 32}
