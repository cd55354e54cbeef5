"""This machine: what torch finds on it, which dtypes work, how fast it is, its software stack."""

import platform
from collections.abc import Sequence
from functools import partial

import streamlit as st

from core.figures.start.machine.dtypes import dtypes_picture, told_dtypes
from core.figures.start.machine.stack import stack_picture
from core.language import _
from core.machine import (
    Device,
    Machine,
    Probe,
    Speed,
    cached_probe,
    describe_machine,
    probe_machine,
)
from core.machine.stack import software_stack
from core.units import format_bytes, format_flops_per_second
from pages.server.background import jobs
from pages.server.rate import take_turn
from pages.shared import settings
from pages.shared.tabbed_page import Chart, Shown

_ENVIRONMENT_CODE = """
import os, platform

import psutil
import torch

memory = psutil.virtual_memory()
print(f"Python {platform.python_version()} · PyTorch {torch.__version__}")
print(f"{os.cpu_count()} logical CPU cores, {torch.get_num_threads()} threads of PyTorch")
print(f"{memory.available / 2**30:.3g} GiB of {memory.total / 2**30:.3g} GiB free")
print("CUDA:", torch.version.cuda, torch.cuda.is_available())
"""
_STACK_CODE = """
import platform

import torch

print(torch.__config__.show())
print(platform.platform())
"""


def environment() -> Shown:
    """Show which dtypes work on each device, how fast these are, and what torch runs on."""
    probe = asked_probe()
    line = environment_line(describe_machine())
    if probe is None:
        return Shown(headline=line, code=_ENVIRONMENT_CODE)
    best = probe.best_device
    devices = sorted(probe.devices, key=lambda each: each != best)
    charts = [
        Chart(
            picture=dtypes_picture(device, settings.look()),
            key=f"dtypes_{number}",
            file_name=f"dtypes-{device.kind}",
        )
        for number, device in enumerate(devices)
        if told_dtypes(device)
    ]
    return Shown(
        headline=_what_it_can(best),
        charts=charts,
        notes=[line, *map(_about, devices)],
        below=partial(_show_facts, probe),
        code=_ENVIRONMENT_CODE,
    )


def stack() -> Shown:
    """Show the layers between a line of Python and the silicon; asks torch the first time."""
    probe = asked_probe()
    layers = software_stack(describe_machine(), probe) if probe else ()
    count = len(layers)
    picture = [stack_picture(layers, settings.look())] if layers else []
    return Shown(
        headline=_("From a line of Python to the silicon: {count} layers").format(count=count),
        charts=[Chart(picture=each, file_name="software-stack") for each in picture],
        notes=[_("Each layer only calls the one below it; a slow step is slow in one of them.")],
        code=_STACK_CODE,
    )


def _what_it_can(device: Device) -> str:
    """Return how fast a device multiplies matrices, and how many dtypes it knows all about."""
    told = told_dtypes(device)
    able = _("{able} of {count} dtypes can be added and multiplied").format(
        able=sum(dtype.works for dtype in told), count=len(told)
    )
    rates = [speed for speed in device.speeds if speed.unit == "FLOP/s"]
    if not rates:
        return f"{device.name}: {able}"
    fastest = max(rates, key=lambda speed: speed.median)
    return _("{device} multiplies matrices at {rate} ({dtype}); {able}").format(
        device=device.name,
        rate=format_flops_per_second(fastest.median),
        dtype=fastest.what.removeprefix("matmul "),
        able=able,
    )


def environment_line(machine: Machine) -> str:
    """Return this machine in one line; nothing in it needs torch."""
    unit = settings.unit_system()
    probe = cached_probe()
    name = probe.best_device.name if probe else platform.machine()
    return _(
        "Python {python} · PyTorch {torch} · {device}, {cores} CPU cores · {free} of {total} free"
    ).format(
        python=machine.python,
        torch=machine.torch,
        device=name,
        cores=machine.usable_cores,
        free=format_bytes(machine.memory_available, unit),
        total=format_bytes(machine.memory_total, unit),
    )


def asked_probe(*, again: bool = False) -> Probe | None:
    """Return the probe; None when it fails, which is told.

    Args:
        again: Ask torch in a child process although it has been asked before.
    """
    try:
        if again:
            take_turn("measure")
        with st.spinner(_("Asking PyTorch about this machine…")):
            name = "probe again" if again else "probe"
            return jobs().finish(name, lambda: probe_machine(refresh=again))
    except ValueError as error:
        st.error(str(error))
        return None


def _about(device: Device) -> str:
    """Return a device with its memory, and what was measured of it."""
    unit = settings.unit_system()
    parts = [f"**{device.torch_name}** · {device.name}"]
    if device.capability:
        parts.append(_("capability {name}").format(name=device.capability))
    if device.memory_total:
        parts.append(_("{total} memory").format(total=format_bytes(device.memory_total, unit)))
    return " · ".join([*parts, *map(_speed, device.speeds)])


def _speed(speed: Speed) -> str:
    unit = settings.unit_system()
    median, low, high = (
        format_flops_per_second(rate) if speed.unit == "FLOP/s" else f"{format_bytes(rate, unit)}/s"
        for rate in (speed.median, speed.low, speed.high)
    )
    return _("{what}: **{median}** ({low} to {high}, {runs} runs)").format(
        what=speed.what, median=median, low=low, high=high, runs=speed.num_runs
    )


def _show_facts(probe: Probe) -> None:
    """Show what torch was built with and runs on, and the button that asks it again."""
    st.markdown(_facts(probe))
    again = st.button(_("Ask again"), key="machine_probe_again", icon=":material/refresh:")
    if again and asked_probe(again=True):
        st.rerun()


def _facts(probe: Probe) -> str:
    machine = describe_machine()
    features = [f"{name} {'✓' if on else '✗'}" for name, on in probe.features]
    rows = [
        ("CUDA", probe.cuda or _("not in this build")),
        (_("System"), f"{machine.system}, {machine.architecture}"),
        (_("Processor"), probe.cpu_name),
        (_("Cores"), _cores(machine)),
        (_("Threads of PyTorch"), str(probe.num_threads)),
        (_("Matrix units"), _(", ").join(features) or _("n/a on this device")),
        (_("Kernels"), _(", ").join(probe.kernels)),
        (_("Exist by name only"), _names_only(probe.best_device)),
    ]
    return _table((_("what"), _("found")), rows)


def _names_only(device: Device) -> str:
    """Return the dtypes that torch has a name for and can do nothing with here."""
    told = told_dtypes(device)
    names = [f"`{dtype.name}`" for dtype in device.dtypes if dtype not in told]
    return _(", ").join(names)


def _cores(machine: Machine) -> str:
    return _("{physical} physical, {logical} logical, {usable} for this process").format(
        physical=machine.physical_cores,
        logical=machine.logical_cores,
        usable=machine.usable_cores,
    )


def _table(head: tuple[str, ...], rows: Sequence[tuple[str, ...]]) -> str:
    lines = [head, ("---",) * len(head), *rows]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)
