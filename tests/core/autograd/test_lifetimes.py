"""How long activations live, against torch's own saved-tensor hooks."""

import torch

from core.autograd.lifetimes import Lifetimes


def watched(weights, x, *, num_layers):
    lives = Lifetimes([x, *weights])
    with lives.watch():
        with lives.passing("forward"):
            h = x
            for w in weights[:num_layers]:
                h = (h @ w).relu()
            loss = h.square().mean()
            del h
        lives.leave_out(loss)
        loss.backward()
    return lives.moments()


def test_what_is_held_is_what_torchs_hooks_see_each_storage_once():
    x, weights = torch.randn(4, 8), [torch.randn(8, 8, requires_grad=True) for _ in range(3)]
    others = {each.untyped_storage().data_ptr() for each in (x, *weights)}
    kept = {}

    def pack(tensor):
        storage = tensor.untyped_storage()
        if storage.data_ptr() not in others:
            kept[storage.data_ptr()] = storage.nbytes()
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(pack, lambda tensor: tensor):
        h = x
        for w in weights:
            h = (h @ w).relu()
        loss = h.square().mean()
    assert loss.grad_fn is not None
    moments = watched(weights, x, num_layers=3)
    last = [each for each in moments if each.phase == "forward"][-1]
    assert last.held == sum(kept.values()) == 3 * 4 * 8 * 4


def test_the_bytes_rise_in_forward_fall_in_backward_and_end_at_nothing():
    x, weights = torch.randn(2, 4), [torch.randn(4, 4, requires_grad=True) for _ in range(5)]
    moments = watched(weights, x, num_layers=5)
    held = [each.held for each in moments]
    begin = sum(each.phase == "forward" for each in moments)
    assert held[:begin] == sorted(held[:begin])
    assert held[begin:] == sorted(held[begin:], reverse=True)
    assert held[-1] == 0
    assert max(held) == 5 * 2 * 4 * 4
    assert moments[-1].operation == ""
    assert all(each.recomputed == 0 for each in moments)


def test_flops_are_those_of_torchs_own_counter():
    from torch.utils.flop_counter import FlopCounterMode

    x, weights = torch.randn(2, 4), [torch.randn(4, 4, requires_grad=True) for _ in range(3)]
    with FlopCounterMode(display=False) as counter:
        h = x
        for w in weights:
            h = (h @ w).relu()
        h.square().mean().backward()
    moments = watched(weights, x, num_layers=3)
    assert sum(each.flops for each in moments) == counter.get_total_flops()


def test_watching_keeps_nothing_alive():
    import weakref

    lives = Lifetimes([])
    with lives.watch():
        with lives.passing("forward"):
            y = torch.ones(3) * 2
        gone = weakref.ref(y)
        del y
    assert gone() is None
    assert [each.operation for each in lives.moments()] == ["ones", "mul", ""]
