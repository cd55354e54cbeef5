"""This machine in one line, and the cards behind it: what torch finds, its stack, its install."""

import platform
from collections.abc import Sequence

import streamlit as st

from core.figures.start.home.stack import stack_picture
from core.language import _
from core.machine import (
    Device,
    DtypeVerdict,
    Machine,
    Probe,
    Speed,
    cached_probe,
    describe_machine,
    probe_machine,
)
from core.machine.install import BUILDS, SYSTEMS, InstallPlan, find_build, install_plan
from core.machine.stack import Layer, software_stack
from core.units import format_bytes, format_flops_per_second
from pages.server.background import jobs
from pages.server.rate import take_turn
from pages.shared import settings
from pages.shared.charts import show_chart
from pages.shared.inputs import Inputs


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


def machine_label() -> str:
    """Return what this machine trains with, in a few words."""
    machine, probe = describe_machine(), cached_probe()
    return _("PyTorch {torch} · {device}, {cores} CPU cores").format(
        torch=machine.torch,
        device=probe.best_device.name if probe else platform.machine(),
        cores=machine.usable_cores,
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


def show_environment() -> None:
    """Show devices, dtypes tried live, processor features and measured speeds."""
    probe = asked_probe()
    if probe is None:
        return
    left, right = st.columns([2, 3], gap="large")
    with left:
        st.markdown(_facts(probe))
    with right:
        for device in probe.devices:
            st.markdown(f"**{device.torch_name}** · {_about(device)}")
            st.markdown(_speeds(device.speeds))
            _show_dtypes(device.dtypes)
    again = st.button(_("Ask again"), key="home_probe_again", icon=":material/refresh:")
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
        (_("Matrix units"), ", ".join(features) or _("n/a on this device")),
        (_("Kernels"), ", ".join(probe.kernels)),
    ]
    return _table((_("what"), _("found")), rows)


def _cores(machine: Machine) -> str:
    return _("{physical} physical, {logical} logical, {usable} for this process").format(
        physical=machine.physical_cores,
        logical=machine.logical_cores,
        usable=machine.usable_cores,
    )


def _about(device: Device) -> str:
    unit = settings.unit_system()
    parts = [device.name]
    if device.capability:
        parts.append(_("capability {name}").format(name=device.capability))
    if device.memory_total:
        parts.append(_("{total} memory").format(total=format_bytes(device.memory_total, unit)))
    return " · ".join(parts)


def _speeds(speeds: tuple[Speed, ...]) -> str:
    unit = settings.unit_system()
    texts = []
    for speed in speeds:
        median, low, high = (
            format_flops_per_second(rate)
            if speed.unit == "FLOP/s"
            else f"{format_bytes(rate, unit)}/s"
            for rate in (speed.median, speed.low, speed.high)
        )
        text = _("{what}: **{median}** ({low} to {high}, {runs} runs)")
        texts.append(
            text.format(what=speed.what, median=median, low=low, high=high, runs=speed.num_runs)
        )
    return " · ".join(texts)


def _show_dtypes(dtypes: tuple[DtypeVerdict, ...]) -> None:
    """Show the dtypes that do everything in a line, those that do a part in a table."""
    able = [dtype.name for dtype in dtypes if dtype.works]
    partly = [dtype for dtype in dtypes if not dtype.works and dtype.trials[1].works]
    rest = [dtype.name for dtype in dtypes if not dtype.works and not dtype.trials[1].works]
    st.markdown(_("Create, convert, add and multiply: {names}").format(names=_codes(able)))
    head = (_("dtype"), _("convert"), _("add"), _("matmul"), _("PyTorch says"))
    with st.expander(_("{count} dtypes do a part of it").format(count=len(partly))):
        st.markdown(_table(head, [_verdict(dtype) for dtype in partly]))
        st.caption(_("Exist by name only: {names}").format(names=_codes(rest)))


def _verdict(dtype: DtypeVerdict) -> tuple[str, ...]:
    """Return a row: the dtype, what it can do, and the first thing that torch said."""
    marks = ("✓" if trial.works else "✗" for trial in dtype.trials[1:])
    message = next(trial.message for trial in dtype.trials if not trial.works)
    return (f"`{dtype.name}`", *marks, f"`{message.splitlines()[0][:90]}`")


def _codes(names: list[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)


def _table(head: tuple[str, ...], rows: Sequence[tuple[str, ...]]) -> str:
    lines = [head, ("---",) * len(head), *rows]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)


def machine_layers() -> tuple[Layer, ...]:
    """Return the layers of this machine; asks torch the first time, empty when that fails."""
    probe = asked_probe()
    return software_stack(describe_machine(), probe) if probe else ()


def show_layers(layers: tuple[Layer, ...]) -> None:
    """Show the layers as a picture."""
    if layers:
        picture = stack_picture(layers, settings.look())
        show_chart(picture, key="home_stack", file_name="software-stack")
        st.caption(_("Each layer only calls the one below it; a slow step is slow in one of them."))


def choose_plan(ask: Inputs) -> InstallPlan | None:
    """Show the two pickers and return the plan; where there is no wheel, say so instead."""
    left, right = st.columns(2)
    with left:
        system = ask.segmented(
            "system",
            _("System"),
            list(SYSTEMS),
            default="linux",
            labels=SYSTEMS.__getitem__,
        )
    with right:
        build = ask.segmented(
            "build",
            _("Accelerator"),
            [row.key for row in BUILDS],
            default="cpu",
            labels=lambda key: _(find_build(key).label),
        )
    try:
        return install_plan(system, build)
    except ValueError as error:
        st.warning(str(error))
        return None


def show_plan(plan: InstallPlan) -> None:
    """Show the lines to type, why they are these, and how to check the result."""
    lines, reason = st.columns([3, 2], gap="large")
    with lines:
        st.code("\n".join(plan.commands), language="bash", wrap_lines=True)
    with reason:
        st.markdown(_(plan.note))
        st.caption(
            _(
                "PyTorch 2.13 comes for CUDA 12.6, 13.0 and 13.2. Guides that name cu118 or cu121 "
                "are older than 2.8 and 2.6; those indexes have no 2.13."
            )
        )
        st.caption(_("Check what you got:"))
        st.code(plan.check, language="bash", wrap_lines=True)
