"""State and step transient of every optimizer against torch.optim itself, on meta tensors."""

import torch

from core.budget.catalogue.optimizers import OPTIMIZERS, walk
from core.budget.simulation.step import OptimizerStep
from core.budget.simulation.tracker import StorageTracker

SIDE, COUNT = 256, 8
NUMBERS = COUNT * SIDE**2
SIZES = {"num_updated": NUMBERS, "num_in_matrices": NUMBERS, "rows_and_columns": COUNT * 2 * SIDE}


def step_of(key, kind, dtype, device="meta"):
    """Return the state's bytes, step counts apart, and the most bytes that a step adds."""
    tensors = [torch.zeros(SIDE, SIDE, dtype=dtype, device=device) for _ in range(COUNT)]
    step = OptimizerStep([(f"w{i}", each) for i, each in enumerate(tensors)], key, kind)
    states = sum(each.untyped_storage().nbytes() for each in step.states() if each.dim() > 0)
    for each in tensors:
        each.grad = torch.zeros_like(each)
    tracker = StorageTracker()
    for known in (tensors, list(step.states()), [each.grad for each in tensors]):
        tracker.ignore(known)
    base = tracker.live
    with tracker:
        step.step()
    events = tracker.timeline({}).events
    return states, max((event.live for event in events), default=base) - base


def test_states_are_those_of_torch():
    for dtype in (torch.float32, torch.bfloat16):
        for key, row in OPTIMIZERS.items():
            device = "cpu" if key == "adafactor" else "meta"
            states, _ = step_of(key, "for_loop", dtype, device)
            expected = row.state.of({**SIZES, "state_bytes": dtype.itemsize})
            assert states == expected, (key, dtype)


def test_a_foreach_step_makes_as_many_copies_of_all_parameters_as_the_table_says():
    everything = NUMBERS * 4
    for key, row in OPTIMIZERS.items():
        if row.foreach_copies is None or key == "adafactor":
            continue
        _, transient = step_of(key, "foreach", torch.float32)
        assert transient == row.foreach_copies * everything, key


def test_a_loop_makes_copies_of_one_tensor_only():
    for key in ("sgd", "momentum", "adagrad", "rmsprop", "adam", "adamw", "muon"):
        _, transient = step_of(key, "for_loop", torch.float32)
        assert transient == OPTIMIZERS[key].loop_copies * SIDE**2 * 4, key


def test_an_optimizer_steps_as_asked_or_as_it_can():
    assert walk(OPTIMIZERS["adamw"], "foreach") == "foreach"
    assert walk(OPTIMIZERS["adam8bit"], "foreach") == "fused"
    assert walk(OPTIMIZERS["muon"], "fused") == "for_loop"
    assert walk(OPTIMIZERS["rmsprop"], "fused") == "for_loop"
