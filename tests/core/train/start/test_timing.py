import json
import subprocess
from dataclasses import asdict, replace

import pytest

from core.train.control.device import hold_device
from core.train.start import timing
from core.train.start.timing import (
    TimingError,
    config_flops,
    is_worth_timing,
    measure_timing,
    predicted_timing,
    remember,
    timing_key,
)


@pytest.fixture
def timed(made_timing):
    """Return timed(config, seconds): a kept measurement."""

    def make(config, seconds):
        spread = {"fastest_seconds": seconds * 0.9, "slowest_seconds": seconds * 1.2}
        flops = config_flops(config, 65)
        timing = replace(made_timing, seconds_per_step=seconds, flops=flops, **spread)
        remember(timing_key(config, 65), timing)
        return timing

    return make


@pytest.mark.slow
def test_real_steps_are_timed_in_a_child_and_remembered(small_config):
    config = small_config(precision="auto")
    assert predicted_timing(config, 30) is None
    timing = measure_timing(config, 30)
    assert 0 < timing.fastest_seconds <= timing.seconds_per_step <= timing.slowest_seconds < 5
    assert (timing.device, timing.num_steps_timed) == ("cpu", 20)
    assert set(timing.tried) == {"fp32", "bf16_fp32_attention"}
    assert timing.precision == min(timing.tried, key=timing.tried.get)
    assert predicted_timing(config, 30) == timing


def test_one_measurement_predicts_by_flops_alone(small_config, timed):
    timed(small_config(), 0.01)
    doubled = predicted_timing(small_config(accumulation_steps=2), 65)
    assert doubled.seconds_per_step == pytest.approx(0.02)
    assert doubled.num_steps_timed == 0
    assert doubled.fastest_seconds < 0.02 < doubled.slowest_seconds


def test_two_measurements_predict_on_the_line_through_them(small_config, timed):
    small, large = small_config(), small_config(accumulation_steps=5)
    timed(small, 0.010)
    timed(large, 0.030)
    between = predicted_timing(small_config(accumulation_steps=3), 65)
    assert between.seconds_per_step == pytest.approx(0.020)


def test_a_busy_machine_that_timed_the_larger_faster_still_gives_a_rising_line(small_config, timed):
    timed(small_config(), 0.030)
    timed(small_config(accumulation_steps=5), 0.010)
    third = predicted_timing(small_config(accumulation_steps=3), 65)
    fourth = predicted_timing(small_config(accumulation_steps=4), 65)
    assert 0 < third.seconds_per_step < fourth.seconds_per_step


def test_a_damaged_or_older_file_is_measured_anew(small_config, timed, tmp_path, monkeypatch):
    monkeypatch.setenv("B2G_STATE_DIR", str(tmp_path))
    for content in ("not json", "[]", '{"a": 3}'):
        (tmp_path / "timings.json").write_text(content)
        assert predicted_timing(small_config(), 65) is None
    timed(small_config(), 0.01)
    stored = json.loads((tmp_path / "timings.json").read_text())
    key = next(iter(stored))
    (tmp_path / "timings.json").write_text(json.dumps({key: {"seconds_per_step": 1}}))
    assert predicted_timing(small_config(), 65) is None


@pytest.mark.slow
def test_a_child_that_fails_is_quoted(small_config):
    config = replace(small_config(), device="cuda")
    with pytest.raises(TimingError, match="no cuda device that torch can use"):
        measure_timing(config, 30)


def test_steps_are_timed_once_and_never_when_they_take_minutes(made_timing):
    estimate = replace(made_timing, num_steps_timed=0)
    assert is_worth_timing(None)
    assert is_worth_timing(estimate)
    assert not is_worth_timing(made_timing)
    assert not is_worth_timing(replace(estimate, seconds_per_step=60.0))


def test_another_driver_or_card_needs_another_timing(small_config, timed, monkeypatch):
    monkeypatch.setattr(timing, "gpu_facts", lambda: ())
    timed(small_config(), 0.01)
    monkeypatch.setattr(timing, "gpu_facts", lambda: ("NVRM version: 580.65",))
    assert predicted_timing(small_config(), 65) is None


def test_rows_of_two_devices_are_not_mixed(small_config, made_timing):
    """ "auto" came to the CPU first, then to a GPU: a third config is scaled from the GPU alone."""

    def keep(config, seconds, device_name, measured_at):
        flops = config_flops(config, 65)
        row = {"seconds_per_step": seconds, "flops": flops, "measured_at": measured_at}
        kept = replace(made_timing, device_name=device_name, **row)
        remember(timing_key(config, 65), kept)

    keep(small_config(accumulation_steps=4), 4.0, "CPU", 1.0)
    keep(small_config(), 0.01, "A GPU", 2.0)
    scaled = predicted_timing(small_config(accumulation_steps=2), 65)
    assert (scaled.device_name, scaled.seconds_per_step) == ("A GPU", pytest.approx(0.02))


def test_a_run_that_trains_elsewhere_than_on_the_gpu_says_why(made_timing):
    assert made_timing.trouble_sentence() == ""
    hindered = replace(made_timing, gpu_trouble="no kernel image")
    assert "cannot use the GPU here (no kernel image): the run trains on" in (
        hindered.trouble_sentence()
    )


@pytest.fixture
def child(monkeypatch, made_timing):
    """The environments of the children that would time the steps."""
    seen = []
    row = asdict(made_timing) | {"device": "cuda"}
    answer = json.dumps({name: row[name] for name in row if name not in ("flops", "measured_at")})

    def run(command, *, env, **_options):
        seen.append(env.get("CUDA_VISIBLE_DEVICES"))
        return subprocess.CompletedProcess(command, 0, answer, "")

    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    monkeypatch.setattr(subprocess, "run", run)
    return seen


def test_steps_are_timed_on_the_gpu_that_would_train(small_config, child, gpus):
    gpus(GPU_a=20, GPU_b=60)
    for changes in ({"device": "cuda"}, {"device": "auto"}, {"device": "cuda", "gpu": "0"}):
        measure_timing(small_config(**changes), 30)
    with hold_device("cuda", "another"):
        measure_timing(small_config(device="cuda"), 30)
    assert child == ["GPU-b", "GPU-b", "GPU-a", "GPU-a"]


def test_the_cpu_is_timed_without_asking_for_gpus_and_unknown_ones_are_not_pinned(
    small_config, child, gpus, monkeypatch
):
    gpus()
    measure_timing(small_config(device="cuda"), 30)
    monkeypatch.setattr("core.train.control.device.visible_gpus", None)
    measure_timing(small_config(gpu="GPU-a"), 30)
    assert child == [None, None]


def test_a_named_gpu_has_timings_of_its_own(small_config, timed):
    timed(small_config(gpu="GPU-a"), 0.01)
    assert predicted_timing(small_config(gpu="GPU-b"), 65) is None
    assert predicted_timing(small_config(), 65) is None
    doubled = predicted_timing(small_config(gpu="GPU-a", accumulation_steps=2), 65)
    assert doubled.seconds_per_step == pytest.approx(0.02)
