"""Devices: held against each other's data sheets, and against the sheets' own ratios."""

import pytest

from core.budget.catalogue.devices import DEVICES, custom_device, local_device
from core.budget.catalogue.models import MODELS
from core.budget.catalogue.usable_memory import CUDA_CONTEXT
from core.budget.claims.claim import DTYPES
from core.budget.cluster import Cluster
from core.budget.recipe import TrainingRecipe
from core.budget.serving.memory import inference_budget
from core.budget.serving.plan import ServingPlan
from core.budget.training.memory import training_budget
from core.machine.kept_probe import Device, Probe, Speed
from core.units import GIB, MIB


def test_every_device_has_a_source_a_date_and_at_least_32_bit_or_16_bit_products():
    for key, device in DEVICES.items():
        assert device.source, key
        assert device.date == "2026-11", key
        assert device.kind == "sold", key
        assert set(device.peak) <= set(DTYPES), key
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
                assert 1.95 < factor < 2.05 or (key, narrow) == ("rtx-5090", "fp4"), (key, narrow)


def test_no_peak_is_the_sparse_figure_of_the_data_sheet():
    sparse = {"h100-sxm": 1979e12, "h100-pcie": 1513e12, "a100-80gb": 624e12, "l4": 242e12}
    for key, figure in sparse.items():
        assert DEVICES[key].peak["bfloat16"] == pytest.approx(figure / 2, rel=0.01), key


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
    others = {"mi250x", "mi300x", "mi355x", "tpu-v5e", "tpu-v5p", "tpu-v6e", "m2-max", "m4-max"}
    assert set(DEVICES) - with_context == others


def test_no_budget_counts_the_context_again():
    for key in ("rtx-4090", "mi300x"):
        cluster = Cluster(device=DEVICES[key])
        trained = training_budget(MODELS["gpt2"], TrainingRecipe(seq_len=1024), cluster)
        served = inference_budget(MODELS["gpt2"], ServingPlan(), cluster)
        for budget in (trained, served):
            assert budget.capacity == DEVICES[key].memory_usable, key
            assert not any("context" in line.name for line in budget.item.walk()), key


def test_rows_from_memory_are_no_data_sheet():
    for key, device in DEVICES.items():
        recalled = "recalled" in device.source and not key.startswith("v100")  # V100: int8 alone
        assert device.known == ("claimed" if recalled else "data sheet"), key


def test_links_are_half_of_what_the_data_sheet_adds_up_over_both_directions():
    both = {"v100-32gb": 300e9, "a100-80gb": 600e9, "h100-sxm": 900e9, "b200": 1800e9}
    for key, figure in both.items():
        assert DEVICES[key].link == figure / 2, key


def test_devices_without_bf16_units_have_no_such_peak():
    for key in ("t4", "v100-32gb"):
        assert "bfloat16" not in DEVICES[key].peak, key


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
