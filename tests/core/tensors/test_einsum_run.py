"""einsum in both notations, against torch and einops."""

import einops
import pytest
import torch
from torch.utils.flop_counter import FlopCounterMode

from core.expressions.dispatch import Watching
from core.tensors.einsum_run import indices_in, run_einsum
from core.tensors.pattern_examples import EINSUMS

SMALL = [example for example in EINSUMS if max(example.lengths) <= 128]
each_small = pytest.mark.parametrize("example", SMALL, ids=[each.key for each in SMALL])


def run_of(example):
    lengths = dict(zip(indices_in(example.equation), example.lengths, strict=True))
    return run_einsum(example.equation, lengths, "float32")


def drawn(run):
    return [torch.randn(shape) for shape in run.plan.equation.shapes]


@each_small
def test_both_notations_give_the_same_numbers(example):
    run = run_of(example)
    tensors = drawn(run)

    by_torch = torch.einsum(run.plan.equation.torch, *tensors)
    by_einops = einops.einsum(*tensors, run.einops)
    assert torch.equal(by_torch, by_einops)


@each_small
def test_shape_bytes_flops_and_hidden_copies_without_data_are_those_of_real_tensors(example):
    run = run_of(example)
    copies = []

    def note(func, _inputs, outputs, _flops):
        copies.extend(x.nbytes for x in outputs if func is torch.ops.aten.clone.default)

    with FlopCounterMode(display=False) as counter, Watching(note):
        result = torch.einsum(run.plan.equation.torch, *drawn(run))
    assert run.plan.shape == tuple(result.shape)
    assert run.num_bytes == result.nbytes
    products = [step.flops for step in run.plan.left_to_right.steps if step.is_matmul]
    assert sum(products) == counter.get_total_flops()
    assert [row.num_bytes for row in run.copies] == copies
    assert run.hidden_bytes == sum(copies)


def test_attention_scores_are_copied_twice_for_a_batch_of_two_and_never_for_one():
    equation = "b q h d, b k h d -> b h q k"
    lengths = {"b": 2, "q": 4, "h": 2, "d": 3, "k": 4}

    assert len(run_einsum(equation, lengths, "float32").copies) == 2
    assert run_einsum(equation, lengths | {"b": 1}, "float32").copies == ()


def test_what_the_result_does_not_name_is_summed():
    lengths = dict.fromkeys(("...", "b", "i", "j", "k"), 2)

    assert run_einsum("bij,bjk->bik", lengths, "float32").summed == ("j",)
    assert run_einsum("... i j, ... j k -> ... i k", lengths, "float32").summed == ("j",)
    assert run_einsum("i,j->ij", lengths, "float32").summed == ()


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("ij,jk", "one arrow"),
        ("i,i,i,i->", "at most 3"),
        ("abcdefg->a", "use 1 to 6"),
        ("->", "use 1 to 6"),
    ],
)
def test_what_names_too_many_or_nothing_is_refused(text, said):
    with pytest.raises(ValueError, match=said):
        indices_in(text)


@pytest.mark.parametrize(
    ("text", "said"),
    [("ij->k", "Axis k of the result is in no operand"), ("ij->ij->i", "is not allowed"),
     ("i!,jk->ik", "! is not allowed")],
)  # fmt: skip
def test_what_is_no_einsum_is_refused(text, said):
    with pytest.raises(ValueError, match=said):
        run_einsum(text, dict.fromkeys(indices_in(text), 2), "float32")


def test_more_bytes_than_can_be_counted_are_refused():
    with pytest.raises(ValueError, match=r"2\*\*63"):
        run_einsum("abcdef->a", dict.fromkeys("abcdef", 32768), "float32")
