"""The answer: the cells before and after, the torch calls that do the same, and their cost."""

from typing import Final

import streamlit as st

from core.figures.tensors.rearrange_and_einsum.cells import pattern_picture
from core.language import N_, _
from core.tensors.einops_plan import REDUCTIONS, Operation, PlanStep
from core.tensors.pattern_cells import PatternCall, PatternRun, axes_in, run_pattern
from core.tensors.pattern_examples import (
    ALL_LENGTHS,
    PATTERN_BY_KEY,
    PATTERNS,
    PatternExample,
)
from core.tensors.presets import DTYPES
from core.units import format_bytes, format_exact, format_flops
from pages.shared.charts import show_table
from pages.shared.settings import locked, look, presenting, unit_system
from pages.shared.tabbed_page import Chart, Shown
from pages.tensors.rearrange_and_einsum.inputs import ASK, choose_lengths
from pages.tensors.rearrange_and_einsum.snippets import pattern_code

START: Final = PATTERNS[0]
OPERATIONS: Final[tuple[Operation, ...]] = ("rearrange", "reduce", "repeat")
KINDS: Final = {"view": N_("view"), "copy": N_("copy"), "same": N_("the same tensor")}
_MAX_PATTERN: Final = 100


def choose_pattern() -> tuple[PatternCall, str]:
    """Ask for a call of einops; return it with the axis that is looked at."""
    _choose_example()
    beside = st.container()
    pattern = ASK.text(
        "pattern",
        _("Pattern"),
        default=START.pattern,
        max_chars=_MAX_PATTERN,
        help=_(
            "Axes by name, before and after the arrow. Brackets join axes into one dimension; "
            "`...` stands for all other dimensions, here for one."
        ),
    )
    axis, lengths, settings = choose_lengths(
        "size", _("Axis"), axes_in(pattern), ALL_LENGTHS, looked_at=START.axis
    )
    with settings if presenting() else beside:  # a projector has no room for it
        operation = ASK.segmented("op", _("Operation"), OPERATIONS, default=START.operation)
    with settings:
        reduction = ASK.selectbox(
            "reduction",
            _("Reduction"),
            tuple(REDUCTIONS),
            default=START.reduction,
            disabled=operation != "reduce",
        )
        ones = ASK.toggle("ones", _("x holds ones instead of 0, 1, 2, …"), default=False)
        dtype = ASK.selectbox("dtype", "dtype", tuple(DTYPES), default="float32")
    call = PatternCall(
        operation=operation,
        pattern=pattern.strip(),
        lengths=lengths,
        reduction=reduction,
        dtype=dtype,
        ones=ones,
    )
    return call, axis


def _choose_example() -> None:
    key = ASK.key("pattern_menu")
    st.menu_button(
        _("Examples"),
        [each.key for each in PATTERNS],
        format_func=lambda name: _(PATTERN_BY_KEY[name].title),
        key=key,
        disabled=locked(),
        on_click=lambda: _open(PATTERN_BY_KEY[str(st.session_state[key])]),
    )


def _open(example: PatternExample) -> None:
    """Write an example into the inputs."""
    ASK.set("op", example.operation)
    ASK.set("pattern", example.pattern)
    ASK.set("reduction", example.reduction)
    ASK.set("ones", example.ones)
    ASK.set("size_axis", example.axis)
    for place, length in enumerate(example.lengths, 1):
        ASK.set(f"size_{place}", length)


def pattern(chosen: tuple[PatternCall, str]) -> Shown:
    """Show what a pattern does to the cells, and what it costs."""
    call, axis = chosen
    run = run_pattern(call)
    picture = pattern_picture(run, axis, axes_in(call.pattern), look())
    return Shown(
        headline=_headline(run),
        charts=[Chart(picture=picture, file_name="pattern")],
        notes=_notes(run),
        below=lambda: _show_steps(run),
        code=pattern_code(run, unit_system()),
    )


def _headline(run: PatternRun) -> str:
    plan, call = run.plan, run.call
    words = {"pattern": call.pattern, "before": run.shape, "after": run.result_shape}
    if plan.kind == "same":
        return _("`{pattern}` changes nothing: einops returns x itself").format(**words)
    if plan.kind == "view":
        message = _("`{pattern}` is a view: {before} → {after}, 0 bytes moved, 0 FLOPs")
        return message.format(**words)
    words["bytes"] = format_bytes(plan.bytes_moved, unit_system())
    if call.operation != "reduce":
        message = _("`{pattern}` copies: {before} → {after}, {bytes} read and written, 0 FLOPs")
        return message.format(**words)
    words |= {"reduction": call.reduction, "flops": format_flops(plan.flops)}
    if run.first is None:
        message = _("`{pattern}` by {reduction}: {before} → {after}, {flops}, {bytes} moved")
        return message.format(**words)
    message = _(
        "`{pattern}` by {reduction}: {before} → {after}, first element {first}, {flops}, "
        "{bytes} moved"
    )
    return message.format(**words, first=f"{run.first:g}")


def _notes(run: PatternRun) -> list[str]:
    if run.is_whole:
        return []
    shown = ", ".join(f"{name} {length}" for name, length in run.shown.items())
    note = _("Drawn are the first indices of each axis ({shown}); the numbers are for all of them.")
    return [note.format(shown=shown)]


def _show_steps(run: PatternRun) -> None:
    """List the torch calls that einops' pattern stands for."""
    steps = run.plan.steps
    if not steps:
        return
    table = {
        _("The same in torch"): [f"x{steps[0].code}", *(step.code for step in steps[1:])],
        _("What it is"): [_(KINDS[step.kind]) for step in steps],
        _("Moved"): [_moved(step) for step in steps],
    }
    if not presenting():
        table |= {
            "FLOPs": [format_exact(step.flops) for step in steps],
            _("Shape"): [str(step.layout.shape) for step in steps],
            _("Stride"): [str(step.layout.stride) for step in steps],
        }
    show_table(table)


def _moved(step: PlanStep) -> str:
    return format_bytes(step.num_bytes_moved, unit_system())
