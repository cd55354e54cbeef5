"""A capture against torch itself: gradients, the engine's plan, sums at joins."""

import threading

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn
from torch.nn import functional as F  # noqa: N812
from torch.utils.checkpoint import checkpoint

from core.autograd.capture import capture
from core.autograd.forward import Limits
from core.models.gpt import GPT
from core.models.spec import GPTShape
from tests.core.autograd.agreement import check


def leaf(values, *, requires_grad=True, dtype=torch.float64):
    return torch.tensor(values, dtype=dtype, requires_grad=requires_grad)


def test_a_square_has_the_values_and_gradients_of_the_chain_rule():
    leaves = {"w": leaf(2.0), "x": leaf(3.0, requires_grad=False), "b": leaf(1.0)}
    found = capture(lambda w, x, b: (w * x + b) ** 2, leaves)
    check(found)
    assert [node.type for node in found.nodes] == [
        *("AccumulateGrad", "MulBackward0", "AccumulateGrad", "AddBackward0", "PowBackward0")
    ]
    assert found.leaves["w"].gradient == 2 * 7 * 3
    assert found.leaves["b"].gradient == 2 * 7
    assert found.leaves["x"].gradient is None
    (ghost,) = found.ghosts
    assert (ghost.label, ghost.reason) == ("x", "data")
    assert leaves["w"].grad is None, "the reader's own tensors stay as they are"


UNARY = (torch.sin, torch.exp, torch.tanh, torch.sigmoid, lambda x: x * 2 + 1, lambda x: x.mean())
BINARY = (torch.add, torch.sub, torch.mul, lambda x, y: x / (y * y + 1), torch.maximum)


@given(st.data())
@settings(max_examples=150, deadline=None)
def test_random_programs_agree_with_torch_and_with_themselves(data):
    steps = data.draw(
        st.lists(st.tuples(st.integers(0, 10), st.integers(0, 30), st.integers(0, 30)), max_size=9)
    )
    shapes = data.draw(st.lists(st.sampled_from([(), (3,), (2, 3)]), min_size=1, max_size=3))
    torch.manual_seed(data.draw(st.integers(0, 1000)))
    leaves = {
        f"x{at}": torch.randn(shape, dtype=torch.float64, requires_grad=True)
        for at, shape in enumerate(shapes)
    }

    def run(**given):
        values = list(given.values())
        for choice, first, second in steps:
            x, y = values[first % len(values)], values[second % len(values)]
            values.append(
                UNARY[choice](x) if choice < len(UNARY) else BINARY[choice - len(UNARY)](x, y)
            )
        return values[-1].sum() * 1.0

    found = capture(run, leaves)
    check(found)
    wanted = torch.autograd.grad(run(**leaves), list(leaves.values()), allow_unused=True)
    for (name, x), gradient in zip(leaves.items(), wanted, strict=True):
        told = found.leaves[name].gradient
        if gradient is None:
            assert told is None
        else:
            assert torch.allclose(
                torch.tensor(told, dtype=torch.float64).reshape(x.shape), gradient
            )


def small_gpt(num_layers=2):
    torch.manual_seed(0)
    shape = GPTShape(num_layers=num_layers, hidden_dim=16, num_heads=2, vocab_size=11, seq_len=8)
    return GPT(shape)


def batch():
    ids = torch.arange(16).reshape(2, 8) % 11
    return {"token_ids": ids, "targets": ids.roll(-1, 1)}


def test_a_gpt_is_told_with_module_paths_and_a_tied_weight_has_two_edges():
    model = small_gpt()
    before = [x.clone() for x in model.parameters()]
    found = capture(model, batch(), model)
    check(found)
    paths = {node.module for node in found.nodes}
    assert {"blocks.0.attention.qkv", "blocks.1.feed_forward.up", "head"} <= paths
    tied = found.leaves["tokens.weight"].node
    kinds = {edge.source for edge in found.edges if edge.target == tied}
    assert len(kinds) == 2
    model.zero_grad()
    model(**batch()).backward()
    for name, x in model.named_parameters():
        told = torch.tensor(found.leaves[name].gradient)
        assert torch.allclose(told, x.grad, atol=1e-6), name
    assert all(map(torch.equal, before, model.parameters()))


def test_a_module_keeps_its_own_gradients_and_buffers():
    module = nn.Sequential(nn.Linear(3, 3), nn.BatchNorm1d(3))
    module[0].weight.grad = torch.ones(3, 3)
    mean = module[1].running_mean.clone()
    found = capture(lambda x: module(x).sum(), {"x": torch.randn(4, 3)}, module)
    assert found.error is None
    assert torch.equal(module[0].weight.grad, torch.ones(3, 3))
    assert torch.equal(module[1].running_mean, mean)
    assert not module._forward_hooks
    assert not any(each._forward_pre_hooks for each in module.modules())


def test_opening_a_checkpointed_graph_runs_no_further_forward():
    calls = []

    def part(x):
        calls.append(1)
        return (x * 2).sin()

    found = capture(lambda x: checkpoint(part, x, use_reentrant=False).sum(), {"x": leaf([1.0])})
    assert found.error is None
    assert len(calls) == 2, "once forward, once again in backward"
    assert any(saved.kind == "packed" for node in found.nodes for saved in node.saved)
    assert [event.kind for event in found.events].count("recompute") == 1


def test_saved_bytes_rise_in_the_forward_pass_and_are_let_go_node_by_node():
    found = capture(lambda x: x.exp().sin().sum(), {"x": leaf([1.0, 2.0])})
    curve = [(event.kind, event.saved_bytes) for event in found.events]
    assert curve[:3] == [("forward", 16), ("forward", 16), ("forward", 16)]
    assert curve[-1] == ("accumulate", 0)
    freed = [event.num_bytes for event in found.events if event.kind == "release"]
    assert sum(freed) == 16, "sin keeps its input, which exp keeps as its output: 2 float64"
    kept = capture(lambda x: x.exp().sin().sum(), {"x": leaf([1.0, 2.0])}, retain_graph=True)
    assert kept.events[-1].saved_bytes == 16


def packed_bytes(function, leaves):
    """The oracle: bytes of the storages that torch packs for the backward pass, leaves aside."""
    own = {x.untyped_storage()._cdata for x in leaves.values()}
    packed = {}

    def pack(x):
        packed[x.untyped_storage()._cdata] = x
        return x

    with torch.autograd.graph.saved_tensors_hooks(pack, lambda x: x):
        result = function(**leaves)
    assert result.requires_grad
    return sum(x.untyped_storage().nbytes() for key, x in packed.items() if key not in own)


class TimesTwice(torch.autograd.Function):
    """x * x, which keeps x + 1 and gives a view of what it made."""

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x + 1)
        return (x * x).view(-1)

    @staticmethod
    def backward(ctx, gradient):
        (more,) = ctx.saved_tensors
        return gradient.view(more.shape) * 2 * (more - 1)


def written(z, w, write):
    z = z.clone()
    write(z, w)
    return z.sum()


WRITES = {
    "a part": lambda z, w: z[0, 0:2].mul_(w),
    "twice": lambda z, w: (z[0, 0:2].mul_(w), z[1, 1:3].mul_(w)),
    "one view twice": lambda z, w: [z[0, 0:2].mul_(w) for _turn in range(2)],
    "a transpose": lambda z, w: z.t()[:2].div_(w[:, None]),
    "as_strided": lambda z, w: z.as_strided((2,), (1,), 2).mul_(w),
    "its result": lambda z, _w: z[0].exp_(),
    "an activation": lambda z, w: z[0, 0:2].mul_(w.exp()),
    "a copy": lambda z, w: z[0, 0:2].copy_(w * w),
    "all": lambda z, w: z.mul_(w[0]),
    "a number": lambda z, _w: z[0].mul_(3.0),
}


def test_what_writes_and_custom_functions_keep_is_counted_and_let_go():
    x = torch.tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]], requires_grad=True)
    w = torch.tensor([5.0, 7.0], requires_grad=True)
    functions = {
        name: lambda x, w, write=write: written(x, w, write) for name, write in WRITES.items()
    }
    functions["custom"] = lambda x, w: (TimesTwice.apply(x).sum() * w).sum()
    functions["a list"] = lambda x, w: (x[torch.tensor([0, 1]), torch.tensor([1, 2])] * w).sum()
    for name, function in functions.items():
        for other in (w, w.detach()):
            leaves = {"x": x, "w": other}
            wanted = packed_bytes(function, leaves)
            found = capture(function, leaves)
            assert found.error is None, name
            assert max(event.saved_bytes for event in found.events) == wanted, name
            assert found.events[-1].saved_bytes == 0, name
            freed = [event.num_bytes for event in found.events if event.kind == "release"]
            assert sum(freed) == wanted, name
            kept = capture(function, leaves, retain_graph=True)
            assert kept.events[-1].saved_bytes == wanted, name
            assert not any(event.kind == "release" for event in kept.events), name
    assert wanted, "w is needed for x.grad"


def test_a_write_on_a_saved_tensor_is_told_with_both_versions():
    def run(a):
        b = a.exp()
        b.add_(1)
        return b.sum()

    found = capture(run, {"a": leaf([1.0, 2.0])})
    assert "modified by an inplace operation" in found.error.message
    node = next(node for node in found.nodes if node.type == "ExpBackward0")
    (saved,) = node.saved
    assert (saved.version_saved, saved.version_now) == (0, 1)
    assert found.error.node == node.id


def test_what_no_gradient_reaches_is_a_ghost_with_its_reason():
    def run(w):
        with torch.no_grad():
            a = w * 2
        b = (w * 3).detach()
        with torch.inference_mode():
            c = torch.ones(2)
        return (w * a * b * (w > 1) + c * 0).sum()

    found = capture(run, {"w": leaf([1.0, 2.0])})
    assert found.error is None
    reasons = {(ghost.operation, ghost.reason) for ghost in found.ghosts}
    assert {
        ("mul", "no_grad"),
        ("detach", "detach"),
        ("gt", "integer"),
        ("ones", "inference_mode"),
    } <= reasons
    cut = [edge for edge in found.edges if edge.is_cut]
    assert {edge.target for edge in cut} <= {ghost.id for ghost in found.ghosts}


def test_a_nan_is_told_at_the_node_that_made_it():
    found = capture(lambda x: torch.where(x > 0, x.sqrt(), 0.0).sum(), {"x": leaf([0.0, 4.0])})
    (made,) = [node for node in found.nodes if node.finding]
    assert (made.type, made.finding) == ("SqrtBackward0", "nan")


def test_double_backward_has_a_second_layer():
    def run(x):
        (first,) = torch.autograd.grad((x**3).sum(), x, create_graph=True)
        return first.sum()

    found = capture(run, {"x": leaf([2.0])})
    check(found)
    assert found.leaves["x"].gradient == [12.0]


@pytest.mark.parametrize(
    ("limits", "word"),
    [
        (Limits(num_nodes=3), "nodes"),
        (Limits(num_calls=3), "calls"),
        (Limits(num_bytes=100), "bytes"),
        (Limits(seconds=0.0), "seconds"),
    ],
)
def test_a_limit_ends_a_capture_and_what_came_before_is_kept(limits, word):
    def run(x):
        for _turn in range(5):
            x = x.sin()
        return x.sum()

    found = capture(run, {"x": leaf([1.0] * 10)}, limits=limits)
    assert word in found.limits_hit
    assert found.events or not limits.seconds


@pytest.mark.slow
def test_eight_threads_capture_dropout_without_cross_talk():
    wanted = capture(dropped, {"x": leaf([1.0] * 8)}).leaves["x"].gradient
    wrong = []

    def work():
        for _turn in range(50):
            got = capture(dropped, {"x": leaf([1.0] * 8)}).leaves["x"].gradient
            if got != wanted:
                wrong.append(got)

    threads = [threading.Thread(target=work) for _number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


def dropped(x):
    return (F.dropout(x, 0.5) * 3).sum()


def test_random_numbers_outside_go_on_as_if_nothing_was_captured():
    torch.manual_seed(5)
    wanted = torch.rand(3)
    torch.manual_seed(5)
    capture(dropped, {"x": leaf([1.0] * 8)})
    assert torch.equal(torch.rand(3), wanted)
