"""Plans against einops: values, and view or copy, of random patterns."""

import inspect
import itertools
import math
import re
from random import Random

import einops
import numpy as np
import pytest
import torch

from core.expressions.dispatch import Watching, storage_id
from core.expressions.grammar import parse
from core.expressions.interpreter import evaluate
from core.tensors.einops_plan import REDUCTIONS, plan_einops
from core.tensors.layout import contiguous
from core.tensors.trace import layout_of, trace

NUM_PATTERNS = 5_000


def grouped(rng, names):
    """Names in order, some in brackets, here and there a 1."""
    parts, rest = [], list(names)
    while rest:
        num = rng.choice([1, 1, 1, 2, 3])
        group, rest = rest[:num], rest[num:]
        parts.append((group, f"({' '.join(group)})" if len(group) > 1 else group[0]))
    if rng.random() < 0.15:
        parts.insert(rng.randint(0, len(parts)), ([], rng.choice(["1", "()"])))
    return parts


def random_case(rng):
    names = [f"a{number}" for number in range(rng.randint(1, 5))]
    lengths = {name: rng.choice([1, 2, 2, 3]) for name in names}
    left = grouped(rng, names)
    operation = rng.choice(["rearrange", "reduce", "repeat"])
    kept = list(names)
    if operation == "reduce":
        kept = rng.sample(names, rng.randint(0, len(names)))
    if operation == "repeat":
        extra = [f"r{number}" for number in range(rng.randint(0, 2))]
        lengths |= {name: rng.choice([1, 2, 3]) for name in extra}
        kept += extra
    rng.shuffle(kept)
    sides = [" ".join(text for _, text in side) for side in (left, grouped(rng, kept))]
    pattern = " -> ".join(sides)
    shape = [math.prod(lengths[name] for name in group) for group, _ in left]
    return operation, pattern, shape, lengths


def random_layout(rng, shape):
    """A tensor of the shape: fresh, transposed, or with gaps."""
    x = torch.randn(shape)
    if rng.random() < 0.3 and x.ndim > 1:
        order = rng.sample(range(x.ndim), x.ndim)
        back = [order.index(dim) for dim in range(x.ndim)]
        x = x.permute(order).contiguous().permute(back)
    elif rng.random() < 0.3 and x.ndim:
        x = torch.cat((x, x), dim=-1)[..., : x.shape[-1]]
    return x


@pytest.mark.slow
def test_5_000_random_patterns_have_einops_values_and_its_storage():
    rng = Random(20261122)  # noqa: S311  a seeded test
    kinds = dict.fromkeys(("same", "view", "copy", "new"), 0)
    for _ in range(NUM_PATTERNS):
        operation, pattern, shape, lengths = random_case(rng)
        x = random_layout(rng, shape)
        reduction = rng.choice(list(REDUCTIONS)) if operation == "reduce" else ""
        case = (operation, pattern, layout_of(x), lengths, reduction)
        plan = plan_einops(operation, pattern, layout_of(x), reduction, **lengths)
        more = (reduction,) if reduction else ()
        wanted = getattr(einops, operation)(x, pattern, *more, **lengths)
        got = eval(plan.code, {"x": x})  # noqa: S307  the plan's own code
        assert got.shape == wanted.shape, (case, plan.code)
        assert torch.allclose(got, wanted, atol=1e-5), (case, plan.code)
        left, right = (set(re.findall(r"a\d", side)) for side in pattern.split("->"))
        made = "new" if left - right else "copy"
        actual = "same" if wanted is x else "view" if storage_id(wanted) == storage_id(x) else made
        assert plan.kind == actual, (case, plan.code)
        kinds[plan.kind] += 1
    assert min(kinds.values()) > 100, kinds


@pytest.mark.slow
def test_every_step_of_random_plans_has_the_layout_that_torch_gives_it():
    rng = Random(9)  # noqa: S311  a seeded test
    num_steps = 0
    for _ in range(500):
        operation, pattern, shape, lengths = random_case(rng)
        reduction = rng.choice(["sum", "max", "min", "mean"]) if operation == "reduce" else ""
        x = random_layout(rng, shape)
        plan = plan_einops(operation, pattern, layout_of(x), reduction, **lengths)
        if not plan.steps:
            continue
        made = trace(plan.code, {"x": x})
        told = [(step.kind, step.layout) for step in plan.steps]
        done = [(step.kind, step.outputs[0].layout) for step in made.steps]
        assert told == done, (pattern, plan.code)
        num_steps += len(told)
    assert num_steps > 500


@pytest.mark.parametrize(
    ("shape", "pattern", "sizes"),
    [
        ((2, 3, 4), "a ... -> ... a", {}),
        ((2, 3, 4), "(a b) ... -> a (...) b", {"a": 2}),
        ((2, 3, 4), "... c -> (... c)", {}),
        ((2, 4), "... (a 2) -> ... 2 a", {}),
        ((6,), "(a b) -> a b", {"b": 3}),
    ],
)
def test_dots_and_numbers_are_taken_apart(shape, pattern, sizes):
    x = torch.arange(float(math.prod(shape))).view(shape)
    operation = "rearrange"
    if "2" in pattern:
        with pytest.raises(ValueError, match="one side only"):
            plan_einops(operation, pattern, layout_of(x), **sizes)
        return
    plan = plan_einops(operation, pattern, layout_of(x), **sizes)
    got = evaluate(parse(plan.code), {"x": x}).result
    assert torch.equal(got, einops.rearrange(x, pattern, **sizes))


def test_heads_are_split_for_nothing_and_merged_with_a_copy():
    split = plan_einops("rearrange", "b t (h d) -> b h t d", contiguous((2, 8, 12)), h=3)
    assert (split.kind, split.bytes_moved, split.flops) == ("view", 0, 0)
    assert split.code == "x.reshape(2, 8, 3, 4).permute(0, 2, 1, 3)"
    heads = split.steps[-1].layout
    assert plan_einops("rearrange", "b h t d -> b h d t", heads).kind == "view"
    merged = plan_einops("rearrange", "b h t d -> b h (t d)", heads)
    assert (merged.kind, merged.bytes_moved) == ("copy", 2 * 2 * 8 * 12 * 4)


class Number:
    """A number that counts what is done with it."""

    count = 0

    def done(self, _other):
        Number.count += 1
        return self

    __add__ = __mul__ = __truediv__ = __ge__ = __le__ = done


def test_a_reduction_counts_each_operation_that_python_would_do():
    of_numpy = {"sum": np.add, "mean": np.add, "prod": np.multiply, "max": np.maximum}
    of_numpy["min"] = np.minimum
    for reduction, shape, pattern in itertools.product(
        REDUCTIONS,
        [(8, 16, 2), (3, 1, 4)],
        ["a b c -> a", "a b c -> (a c)", "a b c -> a 1 c", "a b c -> "],
    ):
        x = np.array([Number() for _ in range(math.prod(shape))], dtype=object).reshape(shape)

        def reduce(x, axes, reduction=reduction):
            done = of_numpy[reduction].reduce(x, axis=tuple(axes))
            return done / x.size if reduction == "mean" and np.size(done) < x.size else done

        Number.count = 0
        einops.reduce(x, pattern, reduce)
        flops = plan_einops("reduce", pattern, contiguous(shape), reduction).flops
        assert flops == Number.count, (reduction, shape, pattern)
    assert plan_einops("reduce", "a b -> a", contiguous((8, 16)), "sum").flops == 8 * 15


def test_repeat_reads_each_element_once_and_writes_what_einops_allocates():
    for pattern in ("a b -> r a b", "a b -> (a r) b", "a b -> b (r a)", "a b -> (r b) s a"):
        x, made = torch.randn(4, 6), []
        sizes = {"r": 3} | ({"s": 5} if " s " in pattern else {})
        with Watching(lambda _func, inputs, outputs, _flops, made=made: made.extend(
            y.nbytes for y in outputs if storage_id(y) not in map(storage_id, inputs)
        )):  # fmt: skip
            einops.repeat(x, pattern, **sizes)
        plan = plan_einops("repeat", pattern, layout_of(x), **sizes)
        assert plan.bytes_moved == sum(made) + x.nbytes * len(made), pattern
        assert bool(made) == ("(" in pattern), pattern


@pytest.mark.parametrize(
    ("operation", "pattern", "sizes", "message"),
    [
        ("rearrange", "a b", {}, "one arrow"),
        ("rearrange", "a -> a", {}, "has 1 dimensions"),
        ("rearrange", "a b -> a c", {}, "one side only"),
        ("rearrange", "a (b c) -> a b c", {}, "ambiguous"),
        ("rearrange", "a (b c) -> a b c", {"b": 4}, "length 6"),
        ("reduce", "a b -> a c", {}, "right only"),
        ("repeat", "a b -> a", {}, "left only"),
        ("repeat", "a b -> a b c", {}, "is missing"),
        ("rearrange", "a {b -> a b", {}, "Unknown character"),
        ("rearrange", "a a -> a", {}, "duplicate"),
        ("rearrange", "a (... c) -> a ... c", {"c": 2}, "inside brackets"),
        ("rearrange", "a b -> ... a b", {}, "has to stand on the left"),
    ],
)
def test_what_einops_refuses_is_said(operation, pattern, sizes, message):
    with pytest.raises(ValueError, match=message):
        plan_einops(operation, pattern, contiguous((4, 6)), "sum", **sizes)
    more = ("sum",) if operation == "reduce" else ()
    with pytest.raises((einops.EinopsError, ValueError), match=r"\w"):
        getattr(einops, operation)(torch.zeros(4, 6), pattern, *more, **sizes)


WORDS = ("x", "operation", "pattern", "reduction", "tensor", "tensors", "self", "sizes", "shape")


def named_case(operation, name, rng):
    """A pattern with an axis of this name, and the lengths that einops has to be told."""
    other = rng.choice([word for word in (*WORDS, "b", "h1") if word != name])
    length = rng.choice([1, 2, 3])
    pattern = {
        "rearrange": f"({name} {other}) -> {other} {name}",
        "reduce": f"({name} {other}) -> {name}",
        "repeat": f"{other} -> ({other} {name})",
    }[operation]
    return pattern, {name: length}


@pytest.mark.parametrize("operation", ["rearrange", "reduce", "repeat"])
def test_an_axis_may_have_every_name_that_einops_can_be_told(operation):
    rng = Random(31)  # noqa: S311  a seeded test
    more = ("sum",) if operation == "reduce" else ()
    own = {
        *inspect.signature(einops.reduce).parameters,
        *inspect.signature(plan_einops).parameters,
        *WORDS,
    }
    refused = set()
    for name in sorted(own) * 5:
        pattern, sizes = named_case(operation, name, rng)
        x = torch.arange(6.0)
        try:
            wanted = getattr(einops, operation)(x, pattern, *more, **sizes)
        except TypeError:
            refused.add(name)
            with pytest.raises(ValueError, match=rf"length of {name}\b"):
                plan_einops(operation, pattern, layout_of(x), *more, **sizes)
            continue
        plan = plan_einops(operation, pattern, layout_of(x), *more, **sizes)
        got = eval(plan.code, {"x": x})  # noqa: S307  the plan's own code
        assert torch.equal(got, wanted), (pattern, sizes)
    assert refused == {"tensor", "pattern", "reduction"}
