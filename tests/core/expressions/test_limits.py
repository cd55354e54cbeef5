"""Random texts neither crash nor pass the limits."""

from random import Random

import psutil
import pytest
import torch

from core.expressions import MATERIALIZED, ON_META, ExpressionError
from core.expressions.grammar import parse
from core.expressions.interpreter import evaluate
from core.expressions.names import LAYOUT, MUTATION
from core.expressions.operation import tensors_in
from tests.core.expressions.random_programs import random_program

NUM_TEXTS = 5_000


def inputs(device):
    x = torch.arange(24.0, device=device).view(4, 6)
    scalar = torch.ones((), dtype=torch.int64, device=device)
    empty = torch.zeros(0, 3, device=device)
    return {"x": x, "v": torch.arange(7.0, device=device), "m": x > 3, "s": scalar, "e": empty}


def is_within(limits, x):
    if limits.on_meta:
        return x.is_meta
    return x.ndim <= limits.rank and x.numel() <= limits.num_elements


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_5_000_random_texts_end_in_a_result_within_the_limits_or_in_a_sentence():
    rng = Random(20261123)  # noqa: S311  a seeded test
    kinds = {"evaluated": 0, "refused": 0}
    nameless = 0
    before = psutil.Process().memory_info().rss
    for _ in range(NUM_TEXTS):
        text, limits = random_program(rng), ON_META if rng.random() < 0.2 else MATERIALIZED
        tensors = inputs("meta" if limits.on_meta else "cpu")
        try:
            ended = evaluate(parse(text), tensors, limits, rng.choice([LAYOUT, MUTATION]))
        except ExpressionError as error:
            kinds["refused"] += 1
            nameless += not (error.message.strip() and 1 <= error.line <= text.count("\n") + 1)
            continue
        kept = [*tensors_in(ended.result), *tensors_in(list(ended.variables.values()))]
        assert all(is_within(limits, x) for x in kept), text
        kinds["evaluated"] += 1
    assert min(kinds.values()) > NUM_TEXTS / 10, kinds
    assert nameless == 0
    assert psutil.Process().memory_info().rss - before < 400e6
