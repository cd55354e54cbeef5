"""Names in lists multiply what the lists hold: every program ends all the same, and soon."""

import threading
import time
from random import Random

import psutil
import pytest
import torch

from core.autograd.program import capture_program, function_of
from core.expressions import MATERIALIZED, ON_META, ExpressionError
from core.expressions.grammar import parse
from core.expressions.interpreter import evaluate
from core.expressions.limits import GRADIENTS, MAX_LEVELS, MAX_VALUES
from core.expressions.names import GRADIENT, LAYOUT, MUTATION
from core.tensors.trace import trace
from core.tensors.writes import run_writes
from tests.core.expressions.random_programs import nested_program

PROFILES = (
    (LAYOUT, MATERIALIZED),
    (LAYOUT, ON_META),
    (MUTATION, MATERIALIZED),
    (GRADIENT, GRADIENTS),
)
BOMB = "\n".join(
    ["a=[1,1,1,1,1,1,1,1,1,1]"]
    + [f"{name}=[{','.join(10 * [old])}]" for old, name in zip("abcdefgh", "bcdefghi", strict=True)]
)


def tensors(device="cpu"):
    return {"x": torch.arange(24.0, device=device).view(4, 6)}


ENTRANCES = {
    "strides_code": lambda source: trace(source, tensors()),
    "strides_code of a large x": lambda source: trace(source, tensors("meta"), ON_META),
    "index_code": lambda source: run_writes(source, tensors),
    "graph_code": lambda source: capture_program(source, tensors()),
}


@pytest.fixture(scope="module", autouse=True)
def warm():
    for profile, limits in PROFILES:
        given = tensors("meta" if limits.on_meta else "cpu")
        evaluate(parse("x @ x.t() + 1"), given, limits, profile)


def refusal_of(source, profile, limits):
    given = tensors("meta" if limits.on_meta else "cpu")
    with pytest.raises(ExpressionError, match=r"\w") as refused:
        evaluate(parse(source, profile.syntax), given, limits, profile)
    return refused.value


@pytest.mark.parametrize("use", ["i", "torch.tensor(i)", "x[i]", "x[i]=1", "torch.cat(i)", "x+i"])
def test_nine_lines_that_hold_a_billion_numbers_are_refused_where_they_pass_the_limit(use):
    for profile, limits in PROFILES:
        begins = time.thread_time()
        error = refusal_of(f"{BOMB}\n{use}", profile, limits)
        assert (error.line, error.column) == (3, 2), profile
        assert f"{MAX_VALUES:,}" in error.message, profile
        assert time.thread_time() - begins < limits.seconds, profile


@pytest.mark.parametrize(
    ("source", "place", "word"),
    [
        ("a=(x,x,x,x)\n" + "a=(a,a,a,a)\n" * 5, (5, 2), f"{MAX_VALUES:,}"),
        ("a=[]\n" + "a=[a,a,a,a,a,a,a,a]\n" * 4, (5, 2), f"{MAX_VALUES:,}"),  # nothing, often
        ("a=['a','a']\n" + "a=[a,a,a,a,a,a,a,a]\n" * 4, (4, 2), f"{MAX_VALUES:,}"),
        ("a=x.unbind()\n" + "a=[a,a,a,a,a,a,a,a]\n" * 4, (4, 2), f"{MAX_VALUES:,}"),
        ("a=[0,0,0,0]\n" + "a=[a,a,a,a]\n" * 3 + "x[a,a,a,a,a]", (5, 2), f"{MAX_VALUES:,}"),
        ("a=1\n" + "a=[a]\n" * 40, (18, 2), f" {MAX_LEVELS} "),
        ("a=[1,2]\nx.view(a[::0])", (2, 7), "step"),
    ],
)
def test_brothers_of_it_are_refused_at_their_place(source, place, word):
    for profile, limits in PROFILES:
        error = refusal_of(source, profile, limits)
        assert (error.line, error.column) == place, profile
        assert word in error.message, profile


def test_a_list_of_as_many_values_as_are_allowed_is_a_tensor():
    rows = "a=[" + ",".join("1" * 31) + "]\nb=[" + ",".join("a" * 32) + "]\ntorch.tensor(b)"
    assert MAX_VALUES == 31 * 32 + 32
    for profile, limits in PROFILES:
        device = "meta" if limits.on_meta else "cpu"
        ended = evaluate(parse(rows, profile.syntax), tensors(device), limits, profile)
        assert ended.result.shape == (32, 31)


@pytest.mark.filterwarnings("ignore")
def test_a_hundred_random_programs_of_names_lists_and_tuples_end_soon_under_every_entrance():
    rng = Random(20261126)  # noqa: S311  a seeded test
    before, num_threads = psutil.Process().memory_info().rss, threading.active_count()
    errors = []
    for _ in range(100):
        source = nested_program(rng)
        for name, run in ENTRANCES.items():
            begins = time.thread_time()
            ended = run(source)
            assert time.thread_time() - begins < GRADIENTS.seconds, (name, source)
            errors.append(getattr(ended, "trace", ended).error)
    assert 0.1 * len(errors) < errors.count(None) < 0.9 * len(errors)
    assert psutil.Process().memory_info().rss - before < 100e6
    assert threading.active_count() == num_threads


def test_the_calls_of_one_function_share_its_seconds(monkeypatch):
    now = time.monotonic()
    function = function_of("y = (x * x).sum()\ny.backward()")
    x = torch.ones(2, requires_grad=True)
    assert function(x=x) == 2
    monkeypatch.setattr(time, "monotonic", lambda: now + GRADIENTS.seconds + 60)
    with pytest.raises(ExpressionError, match="longer than"):
        function(x=x)
