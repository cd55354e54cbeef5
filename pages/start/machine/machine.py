"""This machine: how large a model trains here, which dtypes work, how fast it is, what to install.

Another system than this one shows the lines that install PyTorch there.
"""

import platform
from collections.abc import Sequence
from functools import partial
from typing import Final

import streamlit as st

from core.budget.by_hand.rules import state_rule
from core.figures.picture import Drawing, Look, Picture, Table
from core.language import N_, _
from core.machine import Device, DtypeVerdict, Machine, Probe, Speed, cached_probe, describe_machine
from core.machine.install import BUILDS, PYPI, SYSTEMS, InstallPlan, find_build, install_plan
from core.units import format_bytes, format_count, format_flops_per_second
from pages.shared import page_links, settings
from pages.shared.questions import Choice, predict_then_reveal
from pages.shared.tabbed_page import Chart, Shown, Tab
from pages.start.machine.inputs import ASK, asked_probe

HERE: Final = "here"
OPERATIONS: Final = {
    "create": N_("create"),
    "convert": N_("convert"),
    "add": N_("add"),
    "matmul": N_("matmul"),
}
_FEWEST: Final = 2  # operations that work, of a dtype that is more than a name
_MARKS: Final = {True: "✓", False: "✗", None: ""}
_NAME_CHARS: Final = 15  # of the longest dtype that can do something
_ROWS: Final = 8  # lines of text: two an operation


_SYSTEM: Final = "linux"  # where most are surprised by what the plain line fetches
_CODE: Final = """
import platform

import psutil
import torch

memory = psutil.virtual_memory().total
if torch.cuda.is_available():
    memory = torch.cuda.get_device_properties(0).total_memory
print(f"Python {platform.python_version()} · PyTorch {torch.__version__}")
print(f"{torch.get_num_threads()} threads, CUDA {torch.version.cuda}")
print(f"{memory / 2**30:.3g} GiB / 16 bytes = {memory / 16 / 1e9:.3g} B parameters")
"""


def _choose() -> InstallPlan | None:
    """Return the plan for the chosen system; None for this machine."""
    system = ASK.selectbox(
        "system",
        _("System"),
        [HERE, *SYSTEMS],
        default=HERE,
        labels=lambda key: _("this machine") if key == HERE else SYSTEMS[key],
    )
    if system == HERE:
        return None
    build = ASK.selectbox(
        "build",
        _("Accelerator"),
        [row.key for row in BUILDS],
        default="cpu",
        labels=lambda key: _(find_build(key).label),
    )
    return install_plan(system, build)


def machine_or_install(plan: InstallPlan | None) -> Shown:
    """Show what this machine can do, or the lines that install PyTorch on another."""
    return _this_machine() if plan is None else _install(plan)


def _this_machine() -> Shown:
    machine = describe_machine()
    probe = asked_probe()
    if probe is None:
        return Shown(headline=_line(machine), code=_CODE)
    best = probe.best_device
    devices = sorted(probe.devices, key=lambda each: each != best)
    charts = [
        Chart(
            picture=dtypes_picture(device, settings.look()),
            key=f"dtypes_{number}",
            file_name=f"dtypes-{device.kind}",
        )
        for number, device in enumerate(devices)
        if usable_dtypes(device)
    ]
    return Shown(
        headline=_what_trains(best, machine),
        charts=charts,
        notes=[
            _(
                "AdamW keeps {bytes} bytes for each parameter; activations come on top, so the "
                "largest model that trains is smaller."
            ).format(bytes=round(state_rule(1).amount)),
            _line(machine),
            *map(_about, devices),
        ],
        below=partial(_show_facts, probe),
        code=_CODE,
    )


def _what_trains(device: Device, machine: Machine) -> str:
    """Return how many parameters a device has memory for, and how fast it multiplies matrices."""
    memory = device.memory_total or machine.memory_total
    said = _("{device} has memory to train at most {params} parameters ({memory})").format(
        device=device.name,
        params=format_count(memory / state_rule(1).amount),
        memory=format_bytes(memory, settings.unit_system()),
    )
    rates = [speed for speed in device.speeds if speed.unit == "FLOP/s"]
    if not rates:
        return said
    fastest = max(rates, key=lambda speed: speed.median)
    return _("{trains} and multiplies matrices at {rate} ({dtype})").format(
        trains=said,
        rate=format_flops_per_second(fastest.median),
        dtype=fastest.what.removeprefix("matmul "),
    )


def _install(plan: InstallPlan) -> Shown:
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
    code = f"""
import torch

print({plan.torch_line!r})
print(torch.__version__, "is here now")
"""
    return Shown(headline=f"`{plan.torch_line}`", code=code)


def no_wheel(problem: ValueError) -> Shown:
    st.warning(str(problem))
    return Shown(headline=_("There is no such wheel"))


def ask_for_the_plain_line() -> None:
    """Ask on Linux, where most are surprised; the answer is the build that needs no index."""
    offered = [build for build in BUILDS if _SYSTEM in build.indexes]
    plain = next(build for build in offered if build.indexes[_SYSTEM] == PYPI)
    wrong = _("That build needs an index of its own: `{line}`.")
    choices = [
        Choice(
            _(build.label),
            None
            if build is plain
            else wrong.format(line=install_plan(_SYSTEM, build.key).torch_line),
        )
        for build in offered
    ]
    predict_then_reveal(
        ASK.key("plain_line"),
        _("You type `pip install torch` on {system}. Which build arrives?").format(
            system=SYSTEMS[_SYSTEM]
        ),
        choices,
        _(plain.note),
    )


def _line(machine: Machine) -> str:
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


def _about(device: Device) -> str:
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
    page_links.show_link(
        "plan/what_fits", _("What fits on it, with activations →"), {}, icon=":material/memory:"
    )
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
    lines = [(_("what"), _("found")), ("---", "---"), *rows]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)


def _names_only(device: Device) -> str:
    """Return the dtypes that torch has a name for and can do nothing with here."""
    usable = usable_dtypes(device)
    names = [f"`{dtype.name}`" for dtype in device.dtypes if dtype not in usable]
    return _(", ").join(names)


def _cores(machine: Machine) -> str:
    return _("{physical} physical, {logical} logical, {usable} for this process").format(
        physical=machine.physical_cores, logical=machine.logical_cores, usable=machine.usable_cores
    )


def usable_dtypes(device: Device) -> tuple[DtypeVerdict, ...]:
    """Return the dtypes that can do more than exist, those first that can do everything."""
    told = [each for each in device.dtypes if sum(trial.works for trial in each.trials) >= _FEWEST]
    return tuple(sorted(told, key=lambda each: (-sum(t.works for t in each.trials), each.name)))


def dtypes_picture(device: Device, look: Look) -> Picture:
    """Return which operations of which dtypes torch could do on a device."""
    told, drawing, layout = usable_dtypes(device), Drawing(), look.layout()
    verdicts = [[_verdict(dtype, operation) for dtype in told] for operation in OPERATIONS]
    drawing.trace(
        "heatmap",
        x=[dtype.name for dtype in told],
        y=[_(name) for name in OPERATIONS.values()],
        z=[[None if works is None else int(works) for works in row] for row in verdicts],
        text=[[_MARKS[works] for works in row] for row in verdicts],
        texttemplate="%{text}",
        textfont={"color": look.color("background"), "size": layout["font"]["size"]},
        customdata=[[_message(dtype, operation) for dtype in told] for operation in OPERATIONS],
        hovertemplate="%{x} · %{y}<br>%{customdata}<extra></extra>",
        zmin=0, zmax=1, xgap=2, ygap=2, showscale=False,
        colorscale=[[0, look.color("refused")], [1, look.color("works")]],
    )  # fmt: skip
    size = layout["font"]["size"]
    fixed = {"fixedrange": True, "showgrid": False, "automargin": True}
    axes = {
        "xaxis": layout["xaxis"] | fixed | {"tickangle": -90, "side": "bottom", "type": "category"},
        "yaxis": layout["yaxis"] | fixed | {"autorange": "reversed"},
        "height": round((_ROWS + 0.6 * _NAME_CHARS) * size),
        "margin": {"l": 10, "r": 10, "t": 10, "b": 10},
    }
    figure = drawing.figure(layout | axes)
    return Picture(figure=figure, alt=_sentence(device, told), table=_table(told))


def _verdict(dtype: DtypeVerdict, operation: str) -> bool | None:
    """Return whether an operation worked; None if it was not tried."""
    return {trial.operation: trial.works for trial in dtype.trials}.get(operation)


def _message(dtype: DtypeVerdict, operation: str) -> str:
    said = {trial.operation: trial.message for trial in dtype.trials}.get(operation, "")
    return said.splitlines()[0][:90] if said else _("works")


def _sentence(device: Device, told: Sequence[DtypeVerdict]) -> str:
    able = [dtype.name for dtype in told if dtype.works]
    return _(
        "On {device} {count} dtypes can be created, converted, added and multiplied: {names}. "
        "{others} others can do a part of it."
    ).format(
        device=device.torch_name,
        count=len(able),
        names=_(", ").join(able),
        others=len(told) - len(able),
    )


def _table(told: Sequence[DtypeVerdict]) -> Table:
    columns = {
        _(word): [_MARKS[_verdict(dtype, operation)] for dtype in told]
        for operation, word in OPERATIONS.items()
    }
    said = [next((each.message for each in dtype.trials if each.message), "") for dtype in told]
    return {
        _("dtype"): [dtype.name for dtype in told],
        **columns,
        _("PyTorch says"): [message.splitlines()[0][:90] if message else "" for message in said],
    }


TAB: Final = Tab(label=N_("Machine"), show=machine_or_install, choose=_choose)
