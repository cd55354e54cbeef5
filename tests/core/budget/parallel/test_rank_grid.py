"""Where ranks stand: against torch's own device mesh."""

import pytest

from core.budget.parallel.links import group
from core.budget.parallel.rank_grid import MAX_COLUMNS, MAX_ROWS, rank_at, rank_grid
from tests.core.budget.parallel.test_shares import cluster


def test_every_rank_stands_somewhere_once():
    spread = cluster(96, tensor=4, pipeline=3)
    ranks = [rank_at(spread, number) for number in range(96)]

    assert len({(one.stage, one.replica, one.tensor) for one in ranks}) == 96
    assert {one.node for one in ranks} == set(range(12))


def test_the_places_are_those_of_a_device_mesh():
    torch = pytest.importorskip("torch")
    spread = cluster(48, tensor=4, pipeline=3)
    mesh = torch.arange(48).view(3, 4, 4)  # as init_device_mesh orders (pp, dp, tp)

    for number in range(48):
        one = rank_at(spread, number)
        assert mesh[one.stage, one.replica, one.tensor] == number


def test_groups_are_as_far_apart_as_their_stride():
    spread = cluster(96, tensor=4, pipeline=3)
    places = {
        "tensor": lambda one: (one.stage, one.replica),
        "data": lambda one: (one.stage, one.tensor),
        "pipeline": lambda one: (one.replica, one.tensor),
    }
    for axis, others in places.items():
        found = group(spread, axis)
        first = rank_at(spread, 0)
        members = [n for n in range(96) if others(rank_at(spread, n)) == others(first)]
        assert members == [found.stride * k for k in range(found.size)], axis
        in_one_node = len({rank_at(spread, number).node for number in members}) == 1
        assert found.inside == in_one_node, axis


def test_a_large_cluster_is_cut_and_says_so():
    assert not rank_grid(cluster(64, pipeline=2)).is_cut
    for large in (cluster(2 * MAX_COLUMNS), cluster(2 * MAX_ROWS, pipeline=2 * MAX_ROWS)):
        grid = rank_grid(large)
        assert grid.is_cut
        assert grid.num_stages * grid.num_columns == large.num_devices
    assert len(rank_grid(cluster(16384, tensor=8, pipeline=64)).rows) == MAX_ROWS
