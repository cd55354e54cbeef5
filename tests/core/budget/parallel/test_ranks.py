"""Where ranks stand, and which link each group talks over, on nodes of eight H100."""

from dataclasses import replace

import pytest

from core.budget.catalogue.devices import DEVICES
from core.budget.cluster import Cluster
from core.budget.parallel.ranks import (
    BETWEEN,
    INSIDE,
    check_speed,
    group,
    rank_at,
)
from tests.core.budget.refusals import refused
from tests.core.budget.test_share import cluster

NVLINK, CARD = 450e9, 50e9


def test_one_node_needs_no_network():
    for axis in ("data", "tensor", "pipeline", "expert", "expert data"):
        found = group(cluster(8, tensor=2, pipeline=2), axis)
        assert (found.inside, found.ring, found.link_name) == (True, NVLINK, INSIDE), axis


def test_a_pair_of_a_torus_has_one_of_its_links_and_a_whole_torus_all():
    """A TPU v5e: 50 GB/s to a neighbour, 200 to all four."""
    for tensor, speed in ((2, 50e9), (4, 150e9), (8, 200e9)):
        slice_of_8 = Cluster(device=DEVICES["tpu-v5e"], num_devices=8, tensor=tensor)
        found = group(slice_of_8, "tensor")
        assert (found.ring, found.all_to_all, found.neighbour) == (speed, speed, 50e9), tensor


def test_four_bridged_cards_wait_for_the_host():
    cards = Cluster(device=DEVICES["h100-pcie"], num_devices=4, tensor=4)
    assert group(cards, "tensor").ring == 64e9
    assert group(replace(cards, tensor=2), "tensor").ring == 300e9


def test_tensor_ranks_stay_inside_a_node_as_long_as_they_fit():
    assert group(cluster(64, tensor=8), "tensor").inside
    assert not group(cluster(64, tensor=16), "tensor").inside
    assert not group(cluster(48, tensor=6), "tensor").inside  # the second six would straddle


def test_data_ranks_cross_over_as_many_network_cards_as_they_have_in_a_node():
    for tensor, cards in ((1, 8), (2, 4), (4, 2), (8, 1)):
        found = group(cluster(64, tensor=tensor), "data")
        assert (found.per_node, found.ring) == (cards, min(NVLINK, cards * CARD)), tensor
        assert found.link_name == BETWEEN


def test_all_to_all_is_slowed_by_the_part_that_leaves_the_node():
    found = group(cluster(64, expert=64), "expert")
    seconds = (63 / 64) / found.all_to_all
    assert seconds == pytest.approx((56 / 64) / CARD)  # 56 of 64 parts go to other nodes


def test_a_link_that_carries_nothing_is_a_sentence():
    assert check_speed(1.0) == 1.0
    refused("carries 0 bytes a second; type its bandwidth", check_speed, 0)


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
