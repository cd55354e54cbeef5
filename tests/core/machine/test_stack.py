"""The layers under a line of Python, with the versions of the machine described."""

from dataclasses import replace

from core.machine import describe_machine
from core.machine.stack import software_stack
from core.units import format_bytes


def test_on_a_gpu_the_kernels_are_cudas_and_the_hardware_is_the_card(made_probe):
    layers = software_stack(describe_machine(), made_probe)
    assert layers[2].found == f"torch {made_probe.torch}"
    assert layers[3].found == "CUDA 13.0"
    assert layers[4].found == f"A GPU, {format_bytes(80 << 30)}"


def test_on_a_cpu_the_kernels_are_the_libraries_torch_was_built_with(made_probe):
    cpu_only = replace(made_probe, devices=made_probe.devices[:1], cuda=None)
    layers = software_stack(describe_machine(), cpu_only)
    assert layers[3].found == "oneDNN v3.12.0, AVX2"
    assert layers[4].found.startswith("A CPU, ")


def test_an_amd_card_is_told_by_its_rocm(made_probe):
    card = replace(made_probe.devices[1], kind="rocm", capability="gfx942")
    amd = replace(made_probe, devices=(made_probe.devices[0], card), cuda=None, rocm="7.2")
    assert software_stack(describe_machine(), amd)[3].found == "ROCm 7.2"
