"""Devices: held against each other's data sheets, and against the sheets' own ratios."""

import itertools
from dataclasses import replace

import pytest

from core.budget.catalogue.devices import DEVICES, custom_device, local_device, sold_as
from core.budget.catalogue.models import MODELS
from core.budget.catalogue.usable_memory import CUDA_CONTEXT
from core.budget.cluster import Cluster
from core.budget.recipe import TrainingRecipe
from core.budget.serving.latency import decode_latency
from core.budget.serving.memory import inference_budget
from core.budget.serving.plan import ServingPlan
from core.budget.serving.throughput import user_speed
from core.budget.training.duration import seconds_item, training_time
from core.budget.training.memory import training_budget
from core.machine.kept_probe import Device, Probe, Speed
from core.units import GIB, MIB

AHEAD_IN_FP4 = {("rtx-5080", "fp4"), ("rtx-5090", "fp4"), ("b300-sxm", "fp4")}


def test_every_device_has_a_source_a_date_and_at_least_32_bit_or_16_bit_products():
    for key, device in DEVICES.items():
        assert device.source, key
        assert device.date >= "2026-11", key
        assert device.kind == "sold", key
        assert set(device.peak) <= {
            "float32",
            "tf32",
            "bfloat16",
            "float16",
            "fp8",
            "fp4",
            "int8",
        }, key
        assert {"bfloat16", "float16"} & set(device.peak), key
        assert 0 < device.memory_usable <= device.memory_sold, key
        assert device.bandwidth > device.link > 0, key


def test_dense_peaks_double_when_the_numbers_are_half_as_wide():
    """Every tensor core does so; a sparse figure that slipped in would show as a factor of 4."""
    for key, device in DEVICES.items():
        peak = device.peak
        for wide, narrow in (("tf32", "bfloat16"), ("bfloat16", "fp8"), ("fp8", "fp4")):
            if wide in peak and narrow in peak:
                factor = peak[narrow] / peak[wide]
                assert 1.95 < factor < 2.05 or (key, narrow) in AHEAD_IN_FP4, (key, narrow)


def test_memory_makers_count_in_powers_of_two():
    """nvidia-smi: 81,559 MiB on an H100 of 80 "GB", of which torch sees 79.1 GiB."""
    h100 = DEVICES["h100-sxm"]
    assert h100.memory_sold == 80 * GIB
    assert h100.memory_usable + h100.context == round(79.11 * GIB) < 81_559 * MIB
    assert h100.memory_usable + h100.context > 80e9


def test_a_cuda_context_is_taken_off_once_and_on_cuda_devices_alone():
    """H100: 79.1 GiB that torch sees less 0.5 GiB; an MI300X keeps what torch sees."""
    assert CUDA_CONTEXT == GIB // 2
    assert DEVICES["h100-sxm"].memory_usable / GIB == pytest.approx(78.6, abs=0.06)
    assert DEVICES["mi300x"].memory_usable == round(191.98 * GIB)
    with_context = {key for key, device in DEVICES.items() if device.context}
    assert {DEVICES[key].context for key in with_context} == {CUDA_CONTEXT}
    others = {key for key, device in DEVICES.items() if device.maker != "NVIDIA"}
    assert set(DEVICES) - with_context == others


def test_no_budget_counts_the_context_again():
    for key in ("rtx-4090", "mi300x"):
        cluster = Cluster(device=DEVICES[key])
        trained = training_budget(MODELS["gpt2"], TrainingRecipe(seq_len=1024), cluster)
        served = inference_budget(MODELS["gpt2"], ServingPlan(), cluster)
        for budget in (trained, served):
            assert budget.capacity == DEVICES[key].memory_usable, key
            assert not any("context" in line.name for line in budget.item.walk()), key


def test_a_speed_is_known_as_well_as_its_row_says():
    for key, device in DEVICES.items():
        assert device.known == "data sheet" or (device.known, device.doubts) == ("claimed", {}), key
    assert DEVICES["b200"].known_of("fp8") == "data sheet"
    assert DEVICES["b200"].known_of("fp8", "bandwidth") == "measured"
    assert DEVICES["gb200"].limit("host_link") == "claimed"
    assert DEVICES["gb200"].limit("link") == "bound"
    assert DEVICES["v100-32gb"].known_of("int8") == "claimed"


def test_no_time_is_better_known_than_the_speeds_that_it_divides_by():
    spec, plan = MODELS["llama-2-7b"], ServingPlan(weight_format="float16", tensor=2)
    recipe = TrainingRecipe(precision="mixed_bf16")
    for key, device in DEVICES.items():
        pair = Cluster(device=device, num_devices=2)
        half = "bfloat16" if "bfloat16" in device.peak else "float16"
        token = decode_latency(spec, plan, pair)
        assert token.kind == device.estimate("bandwidth", "link", half), key
        assert user_speed(token).kind == token.kind, key
        time = training_time(spec, recipe, pair, 1e9, 0.4)
        assert time.kind == device.estimate(half, "link"), key
        assert time.child("compute").kind == device.estimate(half), key
    assert seconds_item(7, 7, 1, 1e12, 0.5, known="claimed").kind == "claimed"


def test_links_are_half_of_what_the_data_sheet_adds_up_over_both_directions():
    both = {
        "v100-32gb": 300e9, "a100-80gb": 600e9, "h100-sxm": 900e9, "b200": 1800e9,
        "h20": 900e9, "h800-sxm": 400e9, "a800-80gb": 400e9, "b300-sxm": 1800e9,
        "rtx-a6000": 112.5e9, "mi300x": 896e9, "mi325x": 896e9, "ascend-910b2": 392e9,
        "tpu-v5e": 400e9, "tpu-v5p": 1200e9, "tpu-v6e": 800e9,  # Google's documentation of each
    }  # fmt: skip
    for key, figure in both.items():
        assert DEVICES[key].link == figure / 2, key


def test_links_of_a_torus_and_a_mesh_add_up_to_the_link_of_the_device():
    """Ports of a TPU (2D torus 4, 3D torus 6) and Infinity Fabric links of a board of eight."""
    ports = {
        "tpu-v5e": 4, "tpu-v5p": 6, "tpu-v6e": 4,
        "mi300x": 7, "mi325x": 7, "mi355x": 7, "mi250x": 4, "ascend-910b2": 7,
    }  # fmt: skip
    for key, number in ports.items():
        device = DEVICES[key]
        assert device.link == pytest.approx(number * device.pair_link), key
        assert device.link_among(2) == device.pair_link, key
        assert device.link_among(4) == pytest.approx(3 * device.pair_link), key
        assert device.link_among(256) == device.link, key


def test_a_bridge_joins_two_cards_and_the_others_go_through_the_host():
    bridged = {key: device for key, device in DEVICES.items() if device.joined}
    assert {"rtx-3090", "a100-pcie-80gb", "h100-nvl"} <= set(bridged)
    for key, device in bridged.items():
        assert device.link_among(2) == device.link > device.host_link, key
        assert device.link_among(4) == device.host_link, key


def test_geforce_cards_since_ada_have_no_peer_to_peer_and_send_no_faster_than_the_host_takes():
    for key in ("rtx-4070", "rtx-4090", "rtx-5090"):
        assert DEVICES[key].link == DEVICES[key].host_link, key


def test_devices_of_one_maker_stand_together():
    makers = [maker for maker, _rows in itertools.groupby(DEVICES.values(), lambda row: row.maker)]
    assert len(makers) == len(set(makers))
    assert len({device.name for device in DEVICES.values()}) == len(DEVICES)


def test_whatever_the_device_a_budget_is_the_same_and_time_follows_its_speeds():
    """Metamorphic, over all rows: bytes do not depend on the device; seconds only fall with it."""
    spec, plan = MODELS["llama-2-7b"], ServingPlan(weight_format="float16")
    need = inference_budget(spec, plan, Cluster(device=DEVICES["h100-sxm"])).item
    for key, device in DEVICES.items():
        assert inference_budget(spec, plan, Cluster(device=device)).item == need, key
        seconds = decode_latency(spec, plan, Cluster(device=device)).amount
        faster = replace(device, bandwidth=2 * device.bandwidth)
        assert decode_latency(spec, plan, Cluster(device=faster)).amount < seconds, key
        wider = Cluster(device=replace(device, link=2 * device.link, pair_link=0, joined=0))
        spread = replace(plan, tensor=4)
        slow = decode_latency(spec, spread, Cluster(device=device)).amount
        assert decode_latency(spec, spread, wider).amount < slow, key


def test_a_product_name_leads_to_one_row_of_an_nvidia_card_and_a_name_like_it_nowhere():
    named = {device.product_name: device for device in DEVICES.values() if device.product_name}
    assert sum(bool(device.product_name) for device in DEVICES.values()) == len(named)
    for name, device in named.items():
        assert device.maker == "NVIDIA"
        assert sold_as(name) is sold_as(f"NVIDIA {name}") is device
    for name in ("A10G", "GeForce RTX 3060", "H20-3e", "H100", "L40", "CPU", ""):
        assert sold_as(f"NVIDIA {name}") is sold_as(name) is None, name


def test_a_custom_device_is_what_was_typed():
    mine = custom_device(name="mine", memory=1e12, flops_per_second=3e15, bandwidth=5e12)

    assert (mine.kind, mine.memory_usable, mine.peak["bfloat16"]) == ("custom", 1e12, 3e15)
    assert (mine.link, mine.host_link) == (32e9, 32e9)
    fast = custom_device(memory=1, flops_per_second=1, bandwidth=1, link=450e9)
    assert (fast.link, fast.host_link) == (450e9, 32e9)
    assert custom_device(memory=1, flops_per_second=1, bandwidth=1).name == "custom device"


def test_impossible_custom_devices_are_refused_in_a_sentence():
    with pytest.raises(ValueError, match=r"memory_sold is -1.*must lie between 0 and"):
        custom_device(memory=-1, flops_per_second=1, bandwidth=1)
    with pytest.raises(ValueError, match=r"peak of bfloat16 is inf.*must lie between 0 and"):
        custom_device(memory=1, flops_per_second=float("inf"), bandwidth=1)


def _probe(*devices):
    return Probe(
        torch="2.13.0", cuda=None, rocm=None, kernels=(), num_threads=2, cpu_name="a CPU",
        features=(), devices=devices,
    )  # fmt: skip


def _device(kind, name, speeds=(), free=6 * GIB):
    return Device(
        kind=kind,
        torch_name=kind,
        name=name,
        memory_total=8 * GIB,
        memory_free=free,
        capability=None,
        speeds=tuple(
            Speed(what=what, unit=unit, median=rate, low=rate, high=rate, num_runs=7)
            for what, unit, rate in speeds
        ),
    )


def test_the_device_at_hand_has_its_measured_speeds_and_nothing_from_a_data_sheet():
    speeds = (("matmul float32", "FLOP/s", 2e11), ("copy", "B/s", 2e10))

    found = local_device(_probe(_device("cpu", "a CPU", speeds)))

    assert dict(found.peak) == {"float32": 2e11}
    assert found.bandwidth == 2e10
    assert (found.memory_sold, found.memory_usable) == (8 * GIB, 6 * GIB)
    assert (found.kind, found.known, found.usable.kind) == ("measured", "measured", "measured")


def test_the_device_at_hand_is_the_accelerator_if_there_is_one():
    found = local_device(_probe(_device("cpu", "a CPU"), _device("cuda", "a GPU", free=None)))
    assert found.name == "a GPU"
    assert (found.memory_usable, found.bandwidth, dict(found.peak)) == (7.5 * GIB, 0, {})


def test_free_memory_was_read_beside_a_context_so_nothing_more_goes_off():
    free = local_device(_probe(_device("cuda", "a GPU")))
    assert (free.memory_usable, free.context) == (6 * GIB, 0)
    host = local_device(_probe(_device("cpu", "a CPU", free=None)))
    assert (host.memory_usable, host.context) == (8 * GIB, 0)


def test_a_cpu_s_memory_is_the_host_s_and_needs_no_link():
    speeds = (("copy", "B/s", 2e10),)
    assert local_device(_probe(_device("cpu", "a CPU", speeds))).host_link == 2e10
    assert local_device(_probe(_device("cuda", "a GPU", speeds))).host_link == 16e9
