"""Plans of einsum against torch: values, FLOPs, and the best order against numpy's."""

import re
from random import Random

import einops
import numpy as np
import pytest
import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils.flop_counter import FlopCounterMode

from core.expressions.dispatch import Watching
from core.tensors.einsum import plan_einsum, run_einsum
from core.tensors.einsum_equation import indices_in
from core.tensors.examples import EINSUMS

NUM_EQUATIONS = 5_000


def random_equation(rng):
    """An equation of up to three tensors, and the lengths of its letters."""
    lengths = {letter: rng.choice([1, 2, 2, 3, 3]) for letter in "abcdef"}
    terms = []
    for _ in range(rng.choice([1, 2, 2, 2, 3, 3])):
        letters = rng.sample("abcdef", rng.randint(1, 3))
        if rng.random() < 0.1:
            letters.insert(rng.randint(0, len(letters)), letters[0])
        terms.append("".join(letters))
    used = sorted(set("".join(terms)))
    result = "".join(rng.sample(used, rng.randint(0, len(used))))
    return f"{','.join(terms)}->{result}", lengths


def shapes_of(equation, lengths):
    return [[lengths[a] for a in term] for term in equation.split("->")[0].split(",")]


def run(code, tensors):
    names = {f"x{number}": x for number, x in enumerate(tensors)}
    exec(code, {"torch": torch}, names)  # noqa: S102  the plan's own code
    return names["result"]


@pytest.mark.slow
def test_5_000_random_equations_have_the_values_of_torch_in_both_orders():
    rng = Random(20261123)  # noqa: S311  a seeded test
    better = 0
    for _ in range(NUM_EQUATIONS):
        equation, lengths = case = random_equation(rng)
        tensors = [
            torch.randn(shape, dtype=torch.float64) for shape in shapes_of(equation, lengths)
        ]
        plan, wanted = plan_einsum(equation, lengths), torch.einsum(equation, *tensors)
        assert plan.equation.shape == tuple(wanted.shape), case
        for order in {plan.left_to_right, plan.best}:
            told = (case, order.code)
            got = run(order.code, tensors)
            assert got.shape == wanted.shape, told
            assert torch.allclose(got, wanted, atol=1e-9), told
        assert plan.best.flops <= plan.left_to_right.flops
        better += plan.best.flops < plan.left_to_right.flops
    assert better > 100


def test_each_step_alone_is_what_its_equation_says():
    rng = Random(4)  # noqa: S311  a seeded test
    for _ in range(300):
        equation, lengths = random_equation(rng)
        shapes = enumerate(shapes_of(equation, lengths))
        names = {f"x{n}": torch.randn(shape, dtype=torch.float64) for n, shape in shapes}
        for step in plan_einsum(equation, lengths).best.steps:
            text = f"{','.join(each.letters for each in step.factors)}->{step.made.letters}"
            wanted = torch.einsum(text, *[names[each.name] for each in step.factors])
            assert wanted.shape == step.made.shape
            done = eval(step.code, {}, names)  # noqa: S307  the plan's own code
            assert torch.allclose(done, wanted), step
            names[step.made.name] = wanted


def test_the_best_order_is_as_good_as_numpys():
    rng = Random(5)  # noqa: S311  a seeded test
    num_compared = 0
    for _ in range(800):
        equation, lengths = random_equation(rng)
        plan, shapes = plan_einsum(equation, lengths), shapes_of(equation, lengths)
        if len(shapes) < 3 or any(step.additions for step in plan.best.steps) or "1" in str(shapes):
            continue
        operands = [np.empty(shape) for shape in shapes]
        _path, told = np.einsum_path(equation, *operands, optimize=("optimal", 10**12))
        flops = float(re.search(r"Optimized FLOP count:\s+(\S+)", told)[1])
        # numpy keeps all operands together where a pair saves nothing
        assert plan.best.flops <= flops * 1.001, (equation, shapes)
        num_compared += 1
    assert num_compared > 30


def test_a_chain_of_matrices_is_fifty_times_cheaper_from_the_right():
    plan = plan_einsum("ij,jk,kl->il", {"i": 100, "j": 2, "k": 100, "l": 2})
    assert (plan.left_to_right.flops, plan.best.flops) == (
        2 * 2 * 100 * 2 * 100,
        2 * 2 * (2 * 100 * 2),
    )
    assert (plan.left_to_right.largest_intermediate, plan.best.largest_intermediate) == (
        10_000,
        200,
    )
    assert plan.best.code == "t1 = x1 @ x2\nresult = x0 @ t1"


def test_what_one_operand_alone_has_is_summed_before_it_is_multiplied():
    order = plan_einsum("abx,bc->ac", {"a": 2, "b": 3, "x": 9, "c": 5}).best
    assert order.flops == 2 * 3 * 8 + 2 * 2 * 3 * 5
    assert order.code == "result = x0.sum((2,)) @ x1"
    lengths = {"i": 8, "j": 16, "k": 4096}
    flops = [plan_einsum(text, lengths).best.flops for text in ("ij->i", "ii->", "ij,jk->i")]
    assert flops == [8 * 15, 7, 16 * 4095 + 2 * 8 * 16]


class _Sums(TorchDispatchMode):
    """Counts what torch's own counter leaves out: sums, and products that sum nothing."""

    flops = 0

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        result = func(*args, **(kwargs or {}))
        if func.overloadpacket is torch.ops.aten.sum:
            self.flops += max(args[0].numel() - result.numel(), 0)
        if func.overloadpacket is torch.ops.aten.mul:
            self.flops += result.numel()
        return result


def test_flops_are_those_of_all_that_torch_does():
    rng, num_sums = Random(6), 0  # noqa: S311  a seeded test
    for _ in range(300):
        equation, lengths = random_equation(rng)
        shapes = shapes_of(equation, lengths)
        with FlopCounterMode(display=False) as products, _Sums() as others:
            torch.einsum(equation, *[torch.empty(shape, device="meta") for shape in shapes])
        plan = plan_einsum(equation, lengths)
        assert plan.left_to_right.flops == products.get_total_flops() + others.flops, (
            equation,
            shapes,
        )
        num_sums += any(step.additions for step in plan.left_to_right.steps)
    assert num_sums > 50


SMALL = [example for example in EINSUMS.values() if max(example.lengths) <= 128]
each_small = pytest.mark.parametrize("example", SMALL, ids=[each.equation for each in SMALL])


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
    by_einops = einops.einsum(*tensors, run.plan.equation.einops)
    assert torch.equal(by_torch, by_einops)


@each_small
def test_shape_bytes_flops_and_hidden_copies_without_data_are_those_of_real_tensors(example):
    run = run_of(example)
    copies = []

    def note(func, _inputs, outputs, _flops):
        copies.extend(x.nbytes for x in outputs if func is torch.ops.aten.clone.default)

    with FlopCounterMode(display=False) as counter, Watching(note):
        result = torch.einsum(run.plan.equation.torch, *drawn(run))
    assert run.plan.equation.shape == tuple(result.shape)
    assert counter.get_total_flops() in {0, run.plan.left_to_right.flops}
    assert [row.num_bytes for row in run.copies] == copies
    assert run.hidden_bytes == sum(copies)


def test_attention_scores_are_copied_twice_for_a_batch_of_two_and_never_for_one():
    equation = "b q h d, b k h d -> b h q k"
    lengths = {"b": 2, "q": 4, "h": 2, "d": 3, "k": 4}

    assert len(run_einsum(equation, lengths, "float32").copies) == 2
    assert run_einsum(equation, lengths | {"b": 1}, "float32").copies == ()


def test_what_the_result_does_not_name_is_summed():
    lengths = dict.fromkeys(("...", "b", "i", "j", "k"), 2)

    assert run_einsum("bij,bjk->bik", lengths, "float32").plan.equation.summed == ("j",)
    assert run_einsum("... i j, ... j k -> ... i k", lengths, "float32").plan.equation.summed == (
        "j",
    )
    assert run_einsum("i,j->ij", lengths, "float32").plan.equation.summed == ()


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
    [("ij->k", "Axis k of the result is in no operand"), ("ij->ii", "Axis i appears twice"),
     ("ij->ij->i", "is not allowed"),
     ("i!,jk->ik", "! is not allowed")],
)  # fmt: skip
def test_what_is_no_einsum_is_refused(text, said):
    with pytest.raises(ValueError, match=said):
        run_einsum(text, dict.fromkeys(indices_in(text), 2), "float32")


def test_more_bytes_than_can_be_counted_are_refused():
    with pytest.raises(ValueError, match=r"2\*\*63"):
        run_einsum("abcdef->a", dict.fromkeys("abcdef", 32768), "float32")
