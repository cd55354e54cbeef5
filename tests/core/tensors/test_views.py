"""The view rule against torch, and its failing pairs against every possible stride."""

import itertools
import math
from random import Random

import pytest
import torch

from core.tensors.layout import Layout
from core.tensors.views import explain_view, neighbours
from tests.core.tensors.random_tensors import random_strided, random_target

NUM_TRIPLES = 20_000


@pytest.mark.slow
def test_the_rule_is_torchs_own_for_20_000_random_triples():
    rng = Random(20261122)  # noqa: S311  a seeded test
    kinds = dict.fromkeys(("view", "size", "infer", "break"), 0)
    for _ in range(NUM_TRIPLES):
        x = random_strided(rng)
        target = random_target(rng, x.numel())
        verdict = explain_view(x.shape, x.stride(), target)
        kinds[verdict.kind] += 1
        case = (tuple(x.shape), x.stride(), target, verdict)
        try:
            viewed = x.view(target)
        except RuntimeError as error:
            told = str(error)
            is_break = "view size is not compatible" in told
            found = (verdict.ok, verdict.kind == "break")
        else:
            assert (verdict.shape, verdict.stride) == (tuple(viewed.shape), viewed.stride()), case
            continue
        assert found == (False, is_break), case
    assert min(kinds.values()) > 500, kinds


def strided_view_exists(layout, target):
    """Whether any strides at all reach the elements in the order of the target."""
    wanted = layout.addresses().reshape(-1)
    if math.prod(target) != len(wanted):
        return False
    grid = wanted.reshape(target)
    strides = []
    for axis, length in enumerate(target):
        first = [slice(0, 1)] * len(target)
        first[axis] = slice(0, 2)
        pair = grid[tuple(first)].reshape(-1)
        strides.append(int(pair[1] - pair[0]) if length > 1 else 0)
    made = Layout(shape=tuple(target), stride=tuple(strides), offset=layout.offset)
    return bool((made.addresses().reshape(-1) == wanted).all())


@pytest.mark.slow
def test_impossible_means_that_no_strides_would_do():
    rng = Random(7)  # noqa: S311  a seeded test
    found = {True: 0, False: 0}
    for _ in range(3000):
        x = random_strided(rng)
        target = random_target(rng, x.numel())
        if not x.numel() or min(target, default=1) < 1 or math.prod(target) != x.numel():
            continue
        layout = Layout(shape=tuple(x.shape), stride=x.stride())
        verdict = explain_view(x.shape, x.stride(), target)
        assert verdict.ok == strided_view_exists(layout, target), (layout, target)
        found[verdict.ok] += 1
    assert min(found.values()) > 200, found


def test_the_failing_pairs_are_all_there_are_on_small_shapes():
    """A pair fails if the target still cannot be had after every other break is mended."""
    rng = Random(3)  # noqa: S311  a seeded test
    num_pairs = 0
    for _ in range(1500):
        x = random_strided(rng)
        target = random_target(rng, x.numel())
        verdict = explain_view(x.shape, x.stride(), target)
        if verdict.kind != "break":
            continue
        named = {(pair.dim, pair.right) for pair in verdict.failures}
        assert named == pairs_that_break_alone(tuple(x.shape), x.stride(), verdict.shape)
        num_pairs += len(named)
    assert num_pairs > 100


def pairs_that_break_alone(shape, stride, target):
    """Every pair of longer neighbours, alone uneven in a tensor that is even elsewhere."""
    dims = [dim for dim, length in enumerate(shape) if length != 1]
    broken = set()
    for left, right in itertools.pairwise(dims):
        if stride[left] == shape[right] * stride[right]:
            continue
        outer = math.prod(shape[: left + 1])
        inner = math.prod(shape[left + 1 :])
        # two blocks that are even inside, and do not follow each other
        if not strided_view_exists(Layout(shape=(outer, inner), stride=(inner + 1, 1)), target):
            broken.add((left, right))
    return broken


def test_the_transposed_heads_need_64_and_have_8192():
    verdict = explain_view((2, 128, 12, 64), (98304, 64, 8192, 1), (2, 128, 768))
    (pair,) = verdict.failures
    assert (pair.dim, pair.right, pair.need, pair.have, pair.target_dim) == (2, 3, 64, 8192, 2)
    x = torch.empty(2, 128, 12, 64).transpose(1, 2).contiguous().transpose(1, 2)
    for fix in verdict.fixes:
        assert eval(f"x{fix}", {"x": x}).shape == (2, 128, 768)  # noqa: S307  the verdict's own


def test_some_tensors_that_are_not_contiguous_can_be_viewed():
    x = torch.arange(24).view(4, 6)[:, :3]
    verdict = explain_view(x.shape, x.stride(), (2, 2, 3))
    assert verdict.stride == x.view(2, 2, 3).stride() == (12, 6, 1)


def test_neighbours_can_be_merged_exactly_if_torch_views_them_as_one_dimension():
    rng = Random(41)  # noqa: S311  a seeded test
    found = {True: 0, False: 0}
    for _ in range(1500):
        x = random_strided(rng)
        if not x.numel():
            continue
        for pair in neighbours(x.shape, x.stride()):
            two = x[tuple(slice(None) if d in {pair.dim, pair.right} else 0 for d in range(x.ndim))]
            try:
                two.view(-1)
                can = True
            except RuntimeError:
                can = False
            case = (tuple(x.shape), x.stride(), pair)
            assert pair.can_be_merged == can, case
            assert pair.have == x.stride(pair.dim), case
            assert pair.need == pair.length * pair.step, case
            assert (pair.length, pair.step) == (x.shape[pair.right], x.stride(pair.right)), case
            found[can] += 1
    assert min(found.values()) > 200, found


def test_every_dimension_longer_than_1_stands_beside_the_next_one():
    pairs = neighbours((2, 1, 3, 1, 1, 4), (12, 9, 4, 7, 7, 1))
    assert [(pair.dim, pair.right) for pair in pairs] == [(0, 2), (2, 5)]
    assert [(pair.need, pair.have) for pair in pairs] == [(12, 12), (4, 4)]
    assert neighbours((1, 5, 1), (5, 1, 1)) == ()
    assert neighbours((), ()) == ()
