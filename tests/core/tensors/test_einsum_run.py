"""einsum in both notations, against torch and einops."""

import einops
import pytest
import torch
from torch.utils.flop_counter import FlopCounterMode

from core.expressions.dispatch import Watching
from core.tensors.einsum_run import orders_of, read_equation, run_einsum
from core.tensors.pattern_examples import EINSUMS

SMALL = [example for example in EINSUMS if max(example.lengths) <= 128]
each_small = pytest.mark.parametrize("example", SMALL, ids=[each.key for each in SMALL])


def lengths_of(example):
    indices = read_equation(example.equation).indices
    return dict(zip(indices, example.lengths, strict=True))


def drawn(run):
    return [torch.randn(shape) for shape in run.shapes]


@each_small
def test_both_notations_give_the_same_numbers(example):
    equation = read_equation(example.equation)
    tensors = drawn(run_einsum(equation, lengths_of(example), "float32"))

    by_torch = torch.einsum(equation.torch, *tensors)
    by_einops = einops.einsum(*tensors, equation.einops)
    assert torch.equal(by_torch, by_einops)


@each_small
def test_shape_bytes_flops_and_hidden_copies_without_data_are_those_of_real_tensors(example):
    run = run_einsum(read_equation(example.equation), lengths_of(example), "float32")
    copies = []

    def note(func, _inputs, outputs, _flops):
        copies.extend(x.nbytes for x in outputs if func is torch.ops.aten.clone.default)

    with FlopCounterMode(display=False) as counter, Watching(note):
        result = torch.einsum(run.equation.torch, *drawn(run))
    assert run.result_shape == tuple(result.shape)
    assert run.num_bytes == result.nbytes
    assert run.flops == counter.get_total_flops()
    assert (run.num_clones, run.hidden_bytes) == (len(copies), sum(copies))


def test_attention_scores_are_copied_twice_for_a_batch_of_two_and_never_for_one():
    equation = read_equation("b q h d, b k h d -> b h q k")
    lengths = {"b": 2, "q": 4, "h": 2, "d": 3, "k": 4}

    assert run_einsum(equation, lengths, "float32").num_clones == 2
    assert run_einsum(equation, lengths | {"b": 1}, "float32").num_clones == 0


def test_what_the_result_does_not_name_is_summed():
    assert read_equation("bij,bjk->bik").summed == ("j",)
    assert read_equation("... i j, ... j k -> ... i k").summed == ("j",)
    assert read_equation("i,j->ij").summed == ()


def test_the_flops_of_every_order_of_three_are_those_of_two_products():
    equation = read_equation("ij,jk,kl->il")
    lengths = {"i": 128, "j": 2, "k": 128, "l": 2}
    x, y, z = (torch.randn(lengths[a], lengths[b]) for a, b in ("ij", "jk", "kl"))
    left, right, _outer = orders_of(equation, lengths)
    for order, run in (
        (left, lambda: (x @ y) @ z),
        (right, lambda: x @ (y @ z)),
        (left, lambda: torch.einsum(equation.torch, x, y, z)),
    ):
        with FlopCounterMode(display=False) as counter:
            run()
        assert counter.get_total_flops() == order.flops, order.code
    assert (left.code, right.code) == ("(x y) z", "x (y z)")
    assert (left.largest, right.largest) == (128 * 128, 2 * 2)
    assert orders_of(read_equation("ij,jk->ik"), lengths) == ()


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("ij,jk", "one arrow"),
        ("ij->ij->i", "one arrow"),
        ("i,i,i,i->", "at most 3"),
        ("abcdefg->a", "use 1 to 6"),
        ("->", "use 1 to 6"),
        ("ij->k", "Index k of the result is in no tensor"),
        ("i!,jk->ik", "'!' is no name"),
    ],
)
def test_what_is_no_einsum_is_refused(text, said):
    with pytest.raises(ValueError, match=said):
        read_equation(text)


def test_more_bytes_than_can_be_counted_are_refused():
    equation = read_equation("abcdef->a")

    with pytest.raises(ValueError, match=r"2\*\*63"):
        run_einsum(equation, dict.fromkeys("abcdef", 32768), "float32")
