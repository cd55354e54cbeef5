import torch
from torch import nn

from core.budget.simulation.places import watch_modules, watch_saved
from core.budget.simulation.tracker import StorageTracker


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
