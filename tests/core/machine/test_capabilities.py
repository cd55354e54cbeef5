"""What torch tells about the processor: a canary for the names we rely on."""

import psutil
import pytest
import torch

from core.machine.capabilities import FEATURES, cpu_features, cpu_name, kernel_libraries


def test_torch_still_knows_the_features_by_these_names():
    known = torch.cpu.get_capabilities()
    wanted = {
        "x86_64": {"avx2", "avx512_f", "avx512_bf16", "amx_tile", "amx_bf16"},
        "arm64": {"neon", "bf16"},
    }
    expected = wanted.get(known["architecture"])
    if expected is None:
        pytest.skip(f"torch names no features on {known['architecture']}")
    assert expected <= set(known)


def test_features_are_torchs_own_answers():
    known = torch.cpu.get_capabilities()

    assert dict(cpu_features()) == {
        label: bool(known[key]) for key, label in FEATURES.items() if key in known
    }


def test_the_processors_name_is_a_word():
    assert isinstance(cpu_name(), str)
    assert torch.cpu.get_capabilities().get("num_logical_cores", 1) <= psutil.cpu_count()


def test_the_libraries_under_torch_are_named_with_their_versions():
    built_with = torch.__config__.show()

    for library in kernel_libraries():
        name, version = library.split(" ", 1)
        assert version in built_with or name == "cuDNN", library
    if torch.backends.mkldnn.is_available():
        assert any(library.startswith("oneDNN v") for library in kernel_libraries())
