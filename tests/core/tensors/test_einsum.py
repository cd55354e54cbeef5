"""Plans of einsum against torch: values, FLOPs, and the best order against numpy's."""

import itertools
import re
from random import Random

import einops
import numpy as np
import pytest
import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils.flop_counter import FlopCounterMode

from core.expressions.grammar import parse
from core.expressions.interpreter import evaluate
from core.tensors.einsum import plan_einsum

NUM_EQUATIONS = 5_000


def random_equation(rng, odd=True):
    """An equation and shapes: now and then a length of 0 or 1, a letter twice, dots, no arrow."""
    lengths = {letter: rng.choice([1, 2, 2, 3, 3]) for letter in "abcdef"}
    if odd and rng.random() < 0.05:
        lengths["a"] = 0
    terms, shapes = [], []
    for _ in range(rng.choice([1, 2, 2, 2, 3, 3, 4])):
        letters = rng.sample("abcdef", rng.randint(0 if odd else 1, 3))
        if odd and letters and rng.random() < 0.1:
            letters.insert(rng.randint(0, len(letters)), letters[0])
        stretched = {x for x in letters if odd and rng.random() < 0.05}
        terms.append("".join(letters))
        shapes.append([1 if x in stretched else lengths[x] for x in letters])
    used = sorted(set("".join(terms)))
    result = "".join(rng.sample(used, rng.randint(0, len(used))))
    if odd and rng.random() < 0.15:
        lead = [rng.choice([1, 2]) for _ in range(2)]
        places = [rng.randint(0, 2) for _ in terms]
        shapes = [
            lead[2 - n :] + shape if n else shape for n, shape in zip(places, shapes, strict=True)
        ]
        terms = [f"...{term}" if n else term for n, term in zip(places, terms, strict=True)]
        result = f"...{result}" if any(places) else result
    arrow = "" if odd and rng.random() < 0.1 else f"->{result}"
    return ",".join(terms) + arrow, shapes


def run(code, tensors):
    names = {f"x{number}": x for number, x in enumerate(tensors)}
    exec(code, {"torch": torch}, names)  # noqa: S102  the plan's own code
    return names["result"]


@pytest.mark.slow
def test_5_000_random_equations_have_the_values_of_torch_in_both_orders():
    rng = Random(20261123)  # noqa: S311  a seeded test
    better = 0
    for _ in range(NUM_EQUATIONS):
        equation, shapes = random_equation(rng)
        tensors = [torch.randn(shape, dtype=torch.float64) for shape in shapes]
        plan, case = plan_einsum(equation, shapes), (equation, shapes)
        wanted = torch.einsum(equation, *tensors)
        assert plan.shape == tuple(wanted.shape), case
        for order in {plan.left_to_right, plan.best}:
            told = (case, order.code)
            got = run(order.code, tensors)
            assert got.shape == wanted.shape, told
            assert torch.allclose(got, wanted, atol=1e-9), told
        assert plan.best.flops <= plan.flops
        better += plan.best.flops < plan.flops
    assert better > 100


def test_each_step_alone_is_what_its_equation_says():
    rng = Random(4)  # noqa: S311  a seeded test
    for _ in range(300):
        equation, shapes = random_equation(rng, odd=False)
        names = {f"x{n}": torch.randn(shape, dtype=torch.float64) for n, shape in enumerate(shapes)}
        for step in plan_einsum(equation, shapes).best.steps:
            wanted = torch.einsum(step.equation, *[names[each.name] for each in step.factors])
            assert wanted.shape == step.made.shape
            done = eval(step.code, {}, names)  # noqa: S307  the plan's own code
            assert torch.allclose(done, wanted), step
            names[step.made.name] = wanted


def test_the_best_order_is_as_good_as_numpys():
    rng = Random(5)  # noqa: S311  a seeded test
    num_compared = 0
    for _ in range(800):
        equation, shapes = random_equation(rng, odd=False)
        plan = plan_einsum(equation, shapes)
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
    plan = plan_einsum("ij,jk,kl->il", [(100, 2), (2, 100), (100, 2)])
    assert (plan.flops, plan.best.flops) == (2 * 2 * 100 * 2 * 100, 2 * 2 * (2 * 100 * 2))
    assert (plan.left_to_right.largest_intermediate, plan.best.largest_intermediate) == (
        10_000,
        200,
    )
    assert plan.code == "t1 = x1 @ x2\nresult = x0 @ t1"


@pytest.mark.parametrize(
    ("equation", "shapes"),
    [
        ("a b, c b -> a c", [(2, 3), (4, 3)]),
        ("batch i dim, batch j dim -> batch i j", [(2, 3, 4), (2, 5, 4)]),
        ("b h q d, b h k d, b h k v -> b q h v", [(1, 2, 3, 4), (1, 2, 5, 4), (1, 2, 5, 6)]),
        ("... wide, high wide -> ... high", [(2, 3, 4), (5, 4)]),
        ("row col -> col row", [(2, 3)]),
    ],
)
def test_the_notation_of_einops_means_what_einops_makes_of_it(equation, shapes):
    tensors = [torch.randn(shape, dtype=torch.float64) for shape in shapes]
    plan = plan_einsum(equation, shapes)
    assert plan.equation.notation == "einops"
    wanted = einops.einsum(*tensors, equation)
    assert torch.allclose(run(plan.code, tensors), wanted)
    assert torch.allclose(torch.einsum(plan.equation.torch, *tensors), wanted)


def test_axes_are_told_with_lengths_operands_and_whether_they_are_summed():
    plan = plan_einsum("batch i dim, batch j dim -> batch i j", [(2, 3, 4), (2, 5, 4)])
    told = [
        (axis.name, axis.letter, axis.size, axis.operands, axis.is_summed) for axis in plan.axes
    ]
    assert told == [
        ("batch", "b", 2, (0, 1), False),
        ("i", "i", 3, (0,), False),
        ("dim", "d", 4, (0, 1), True),
        ("j", "j", 5, (1,), False),
    ]


def test_what_one_operand_alone_has_is_summed_before_it_is_multiplied():
    plan = plan_einsum("abx,bc->ac", [(2, 3, 9), (3, 5)])
    assert plan.flops == 2 * 3 * 8 + 2 * 2 * 3 * 5
    assert plan.code == "result = x0.sum((2,)) @ x1"
    assert plan_einsum("ij->i", [(8, 16)]).flops == 8 * 15
    assert plan_einsum("ii->", [(8, 8)]).flops == 7
    assert plan_einsum("ij,jk->i", [(8, 16), (16, 4096)]).flops == 16 * 4095 + 2 * 8 * 16


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
        equation, shapes = random_equation(rng)
        with FlopCounterMode(display=False) as products, _Sums() as others:
            torch.einsum(equation, *[torch.empty(shape, device="meta") for shape in shapes])
        plan = plan_einsum(equation, shapes)
        assert plan.flops == products.get_total_flops() + others.flops, (equation, shapes)
        num_sums += any(step.additions for step in plan.left_to_right.steps)
    assert num_sums > 50


def test_flops_are_those_that_one_counts_on_ones_fingers():
    rng, num_sums = Random(7), 0  # noqa: S311  a seeded test
    for _ in range(200):
        equation, shapes = random_equation(rng, odd=False)
        if len(shapes) > 2:
            continue
        (*terms,), result = equation.split("->")[0].split(","), equation.split("->")[1]
        lengths = {a: n for term, shape in zip(terms, shapes, strict=True)
                   for a, n in zip(term, shape, strict=True)}  # fmt: skip
        alone = [set(x) - set(result) - set(terms[1 - at] if terms[1:] else "")
                 for at, x in enumerate(terms)]  # fmt: skip
        count = 0
        for term, away in zip(terms, alone, strict=True):
            met = set()
            for index in itertools.product(*[range(lengths[a]) for a in term]):
                kept = tuple(i for i, a in zip(index, term, strict=True) if a not in away)
                count += kept in met  # the first number of a sum is not added to anything
                met.add(kept)
        if terms[1:]:
            both = set("".join(terms)) - set.union(*alone)
            ends = any(lengths[a] > 1 for a in both - set(result))
            combinations = itertools.product(*[range(lengths[a]) for a in both])
            count += (2 if ends else 1) * sum(1 for _each in combinations)
        assert plan_einsum(equation, shapes).flops == count, (equation, shapes)
        num_sums += any(alone)
    assert num_sums > 30


def test_code_runs_in_the_expression_language():
    plan = plan_einsum("bqd,bkd,bkv->bqv", [(2, 3, 4), (2, 5, 4), (2, 5, 6)])
    names = {"x0": torch.randn(2, 3, 4), "x1": torch.randn(2, 5, 4), "x2": torch.randn(2, 5, 6)}
    for order in (plan.best, plan.left_to_right):
        got = evaluate(parse(order.code), names).result
        wanted = torch.einsum("bqd,bkd,bkv->bqv", *names.values())
        assert torch.allclose(got, wanted, atol=1e-4)


@pytest.mark.parametrize(
    ("equation", "shapes", "message"),
    [
        ("ab,bc->ac", [(2, 3)], "2 operands, but there are 1 tensors"),
        ("a,a,a,a,a->a", [(2,)] * 5, "5 operands; at most 4"),
        ("ab,bc->ac", [(2, 3), (4, 5)], "Axis b has length 4 in operand 2, but 3 before"),
        ("abc->a", [(2, 3)], "Operand 1 has 2 dimensions, but the equation names 3"),
        ("aa->a", [(2, 3)], "Axis a has length 3 in operand 1"),
        ("ab->ac", [(2, 3)], "Axis c of the result is in no operand"),
        ("ab->aab", [(2, 3)], "Axis a appears twice"),
        ("a$->a", [(2, 3)], r"\$ is not allowed"),
        ("a->b->c", [(2,)], "is not allowed"),
        ("a......->a", [(2, 3)], "one ..."),
        ("(a b) c -> a b c", [(2, 3)], "is not allowed"),
    ],
)
def test_what_torch_refuses_is_refused_with_a_sentence(equation, shapes, message):
    with pytest.raises(ValueError, match=message):
        plan_einsum(equation, shapes)
    if len(shapes) <= 4:  # torch itself takes more
        with pytest.raises((RuntimeError, ValueError)):
            torch.einsum(equation, *[torch.zeros(shape) for shape in shapes])


def test_an_equation_of_einops_needs_an_arrow():
    with pytest.raises(ValueError, match="needs an arrow"):
        plan_einsum("a b, b c", [(2, 3), (3, 4)])
