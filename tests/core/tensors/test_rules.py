"""The layout rules against torch, step by step through random chains."""

from random import Random

import pytest
import torch

from core.expressions.dispatch import storage_id
from core.expressions.methods import METHODS
from core.tensors import rules
from core.tensors.rules import Predicted
from core.tensors.trace import layout_of
from tests.core.tensors.random_tensors import ARGUMENTS, random_arguments

NUM_STEPS = 6_000
CALLS = METHODS


def as_view(rule):
    return lambda x, *arguments: Predicted("view", rule(x, *arguments))


RULES = {
    "reshape": rules.reshape,
    "permute": as_view(rules.permute),
    "unsqueeze": as_view(rules.unsqueeze),
    "expand": as_view(rules.expand),
}


def kind_of(y, x):
    return "same" if y is x else "view" if storage_id(y) == storage_id(x) else "copy"


def check_step(name, x, arguments):
    """Compare one step; return its result, or None if both refuse it."""
    case = (name, layout_of(x), arguments)
    try:
        y = CALLS[name].run(x, *arguments)
    except (RuntimeError, IndexError, ValueError, TypeError):
        y = None
    try:
        predicted = RULES[name](layout_of(x), *arguments)
    except ValueError:
        predicted = None
    if y is None:
        assert predicted is None, case
        return None
    assert predicted == Predicted(kind_of(y, x), layout_of(y)), case
    return y


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")  # torch deprecates .T of other than matrices
def test_every_rule_gives_what_torch_gives_in_6_000_random_steps():
    rng = Random(20261122)  # noqa: S311  a seeded test
    counts = dict.fromkeys(RULES, 0)
    num_steps = 0
    while num_steps < NUM_STEPS:
        x = torch.empty([rng.choice([0, 1, 1, 2, 3, 4]) for _ in range(rng.randint(0, 4))])
        while x is not None and x.ndim <= 6 and x.numel() <= 2000 and rng.random() < 0.85:
            name = rng.choice(list(RULES))
            x = check_step(name, x, random_arguments(rng, name, x))
            counts[name] += x is not None
            num_steps += 1
    assert min(counts.values()) > 100, counts


def test_every_rule_is_compared():
    assert set(ARGUMENTS) == set(RULES)
