"""Storages that are born and die, and the modules that they belong to."""

import torch
from torch import nn

from core.budget.simulation.timeline import BACKWARD, GRADIENT, SAVED, TEMPORARY
from core.budget.simulation.tracker import StorageTracker, watch_modules, watch_saved


def test_a_storage_counts_once_from_its_birth_to_its_end():
    tracker = StorageTracker()
    weight = torch.empty(100, device="meta")
    assert tracker.ignore([weight, weight[:10]]) == 400
    with tracker:
        x = torch.empty(1000, device="meta")
        view = x.view(10, 100)
        weight.add_(1)
        y = view * 2
        assert tracker.live == 8000
        del x
        assert tracker.live == 8000  # the view holds the storage
        del view
        assert tracker.live == 4000
    timeline = tracker.timeline({"weights": 400})
    assert [(event.op, event.live) for event in timeline.events] == [
        ("aten.empty.memory_format".rpartition(".")[0], 4400),
        ("aten.mul", 8400),
    ]
    assert timeline.peak == 8400
    del y
    assert tracker.live == 0


def test_gradients_and_saved_tensors_are_told_from_temporaries():
    tracker = StorageTracker()
    w = torch.empty(64, 64, device="meta", requires_grad=True)
    x = torch.empty(8, 64, device="meta")
    tracker.ignore([w, x])
    with tracker:
        hidden = (x @ w).relu()
        loss = (hidden * hidden).sum()
        tracker.mark_saved()
        del hidden
        loss.backward()
        tracker.mark_gradients([w])
    kinds = {each.kind: 0 for each in tracker.timeline({}).allocations}
    assert set(kinds) == {SAVED, GRADIENT, TEMPORARY}
    gradient = [a.num_bytes for a in tracker.timeline({}).allocations if a.kind == GRADIENT]
    assert gradient == [64 * 64 * 4]


def test_gradients_are_summed_in_place_as_without_a_mode():
    def loss(device: str) -> torch.Tensor:
        x = torch.empty(50_000, device=device, requires_grad=True)
        h = x * 2
        y = h + h.sin()
        return (y * 3).sin().sum()

    tracker = StorageTracker()
    with tracker:
        out = loss("meta")
        with tracker.during(BACKWARD):
            out.backward()
    sums = [each.op for each in tracker.timeline({}).events if each.op == "aten.add"]
    assert len(sums) == 1  # the forward one; without the rule the backward one too
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU]) as seen:
        loss("cpu").backward()
    counted = {event.key: event.count for event in seen.key_averages()}
    assert (counted["aten::add"], counted["aten::add_"]) == (1, 1)


def test_forward_and_backward_operations_know_their_module():
    model = nn.Sequential(nn.Linear(8, 8), nn.Sequential(nn.GELU(), nn.Linear(8, 4)))
    model.to("meta")
    tracker = StorageTracker()
    tracker.ignore(model.parameters())
    with watch_modules(dict(model.named_modules()), tracker), tracker:
        with watch_saved(tracker):
            out = model(torch.empty(2, 8, device="meta")).sum()
        tracker.phase = "backward"
        out.backward()
    where = {(e.phase, e.op): e.module for e in tracker.timeline({}).events}
    assert where["forward", "aten.gelu"] == where["backward", "aten.gelu_backward"] == "1.0"
    assert where["forward", "aten.sum"] == ""
    assert not model[0]._forward_pre_hooks
