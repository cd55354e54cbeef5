"""The environment line, and the card behind it: what torch finds on this machine."""

import platform
from collections.abc import Sequence

import streamlit as st

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
from core.units import format_bytes, format_flops_per_second
from pages.server.background import jobs
from pages.server.rate import take_turn
from pages.shared import settings


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


def asked_probe() -> Probe | None:
    """Return the probe, asking torch in a child process the first time; None when that fails."""
    try:
        with st.spinner(_("Asking PyTorch about this machine…")):
            return jobs().finish("probe", probe_machine)
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
    if st.button(_("Ask again"), key="home_probe_again", icon=":material/refresh:"):
        _ask_again()


def _ask_again() -> None:
    try:
        take_turn("measure")
        with st.spinner(_("Asking PyTorch about this machine…")):
            jobs().finish("probe again", lambda: probe_machine(refresh=True))
    except ValueError as error:
        st.error(str(error))
        return
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
        is_compute = speed.unit == "FLOP/s"
        rates = [
            format_flops_per_second(rate) if is_compute else f"{format_bytes(rate, unit)}/s"
            for rate in (speed.median, speed.low, speed.high)
        ]
        texts.append(_rate(speed, rates))
    return " · ".join(texts)


def _rate(speed: Speed, rates: list[str]) -> str:
    return _("{what}: **{median}** ({low} to {high}, {runs} runs)").format(
        what=speed.what, median=rates[0], low=rates[1], high=rates[2], runs=speed.num_runs
    )


def _show_dtypes(dtypes: tuple[DtypeVerdict, ...]) -> None:
    """Show the dtypes that do everything in a line, those that do a part in a table."""
    able = [dtype.name for dtype in dtypes if dtype.works]
    partly = [dtype for dtype in dtypes if not dtype.works and dtype.trials[1].works]
    rest = [dtype.name for dtype in dtypes if not dtype.works and not dtype.trials[1].works]
    st.markdown(_("Create, convert, add and multiply: {names}").format(names=_codes(able)))
    rows = [(f"`{dtype.name}`", *_marks(dtype), _first_message(dtype)) for dtype in partly]
    head = (_("dtype"), _("convert"), _("add"), _("matmul"), _("PyTorch says"))
    with st.expander(_("{count} dtypes do a part of it").format(count=len(partly))):
        st.markdown(_table(head, rows))
        st.caption(_("Exist by name only: {names}").format(names=_codes(rest)))


def _marks(dtype: DtypeVerdict) -> tuple[str, ...]:
    return tuple("✓" if trial.works else "✗" for trial in dtype.trials[1:])


def _first_message(dtype: DtypeVerdict) -> str:
    message = next(trial.message for trial in dtype.trials if not trial.works)
    return f"`{message.splitlines()[0][:90]}`"


def _codes(names: list[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)


def _table(head: tuple[str, ...], rows: Sequence[tuple[str, ...]]) -> str:
    lines = [head, ("---",) * len(head), *rows]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)
