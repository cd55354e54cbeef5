"""The peak of a run's MFU: a data sheet's only for the very card, else what was measured here."""

from dataclasses import replace
from types import SimpleNamespace

import pytest

from core.budget.catalogue.devices import DEVICES
from core.machine import Device, Speed
from core.train.start import timing
from core.train.start.timing import peak_of_run
from tests.made_probe import CPU, GPU, PROBE

H100 = "NVIDIA H100 80GB HBM3"


def timed(device: Device, **rates) -> Device:
    speeds = (("copy", 3e12), *((f"matmul {dtype}", rate) for dtype, rate in rates.items()))
    made = {"unit": "FLOP/s", "low": 1.0, "high": 9e15, "num_runs": 7}
    return replace(
        device, speeds=tuple(Speed(what=what, median=rate, **made) for what, rate in speeds)
    )


@pytest.fixture
def here(monkeypatch):
    """Return here(*devices, num_threads=8, slices=False): what the probe found on this machine."""

    def install(*devices, num_threads=8, slices=False):
        probe = replace(PROBE, devices=devices, num_threads=num_threads) if devices else None
        monkeypatch.setattr(timing, "cached_probe", lambda: probe)
        found = (SimpleNamespace(is_slice=True),) if slices else ()
        monkeypatch.setattr(timing, "visible_gpus", lambda: found)

    install()
    return install


@pytest.fixture
def on_gpu(made_timing):
    """Return on_gpu(name, precision): the timing of a run there."""
    return lambda name=H100, precision="bf16": replace(
        made_timing, device="cuda", device_name=name, precision=precision
    )


@pytest.mark.parametrize(
    ("name", "precision", "key", "dtype"),
    [
        (H100, "bf16", "h100-sxm", "bfloat16"),
        (H100, "fp32", "h100-sxm", "float32"),
        ("NVIDIA A100-SXM4-80GB", "bf16", "a100-80gb", "bfloat16"),
        ("A100-SXM4-40GB", "fp32", "a100-40gb", "float32"),
        ("Tesla T4", "fp16", "t4", "float16"),
    ],
)
def test_a_card_that_is_sold_has_the_dense_peak_of_its_sheet(
    here, on_gpu, name, precision, key, dtype
):
    assert peak_of_run(on_gpu(name, precision)) == {
        "peak_flops_per_second": DEVICES[key].peak[dtype],
        "peak_source": "data sheet",
    }


@pytest.mark.parametrize(
    "name",
    ["NVIDIA A10G", "NVIDIA GeForce RTX 4090 D", "NVIDIA H100", f"{H100} MIG 1g.10gb", "A GPU"],
)
def test_a_card_of_another_name_has_the_product_that_was_measured_on_it_or_none(here, on_gpu, name):
    assert peak_of_run(on_gpu(name)) == {}
    here(timed(CPU, bfloat16=1e11), timed(replace(GPU, name=name), float32=5e13, bfloat16=6e14))
    assert peak_of_run(on_gpu(name)) == {
        "peak_flops_per_second": 6e14,
        "peak_source": "measured",
    }
    assert peak_of_run(on_gpu(name, "fp32"))["peak_flops_per_second"] == 5e13
    assert peak_of_run(on_gpu(name, "fp16")) == {}, "nobody timed float16"
    assert peak_of_run(on_gpu("another card")) == {}


def test_a_card_without_a_sheet_says_so_and_a_rate_that_nobody_states_is_measured(here, on_gpu):
    h800 = "NVIDIA H800"
    found = {"peak_flops_per_second": 989.4e12, "peak_source": "claimed"}
    assert peak_of_run(on_gpu(h800)) == found
    assert peak_of_run(on_gpu(h800, "fp32")) == {}, "its fp32 rate stands in no table"
    here(timed(replace(GPU, name=h800), float32=4e13))
    assert peak_of_run(on_gpu(h800, "fp32"))["peak_source"] == "measured"


def test_a_slice_never_has_the_peak_of_the_whole_card(here, on_gpu):
    here(slices=True)
    assert peak_of_run(on_gpu()) == {}
    here(timed(replace(GPU, name=H100), bfloat16=9e13), slices=True)
    assert peak_of_run(on_gpu())["peak_source"] == "measured"


def test_a_cpu_has_the_measured_product_only_with_as_many_threads(here, made_timing):
    here(timed(CPU, float32=2e11), num_threads=1)
    assert peak_of_run(replace(made_timing, threads=1)) == {
        "peak_flops_per_second": 2e11,
        "peak_source": "measured",
    }
    assert peak_of_run(replace(made_timing, threads=2)) == {}


def test_a_run_on_the_cpu_does_not_ask_the_gpus(here, made_timing, monkeypatch):
    monkeypatch.setattr(timing, "visible_gpus", None)
    assert peak_of_run(made_timing) == {}
