"""The answer: the cells before and after, the torch calls that do the same, and their cost."""

from typing import Final

import streamlit as st

from core.figures.tensors.rearrange_and_einsum.cells import pattern_picture
from core.language import _
from core.tensors.einops_plan import REDUCTIONS, Operation
from core.tensors.named_shapes import check_annotations
from core.tensors.pattern_cells import PatternCall, PatternRun, axes_in, run_pattern
from core.tensors.pattern_examples import (
    ALL_LENGTHS,
    PATTERN_BY_KEY,
    PATTERNS,
)
from core.tensors.presets import DTYPES
from core.units import format_exact, format_flops
from pages.shared.charts import show_table
from pages.shared.settings import look, presenting, unit_system
from pages.shared.tabbed_page import Chart, Shown
from pages.shared.tensors.examples import offer_examples
from pages.shared.tensors.table_cells import kind_text, size_text
from pages.tensors.rearrange_and_einsum.inputs import ASK, choose_lengths, length_settings
from pages.tensors.rearrange_and_einsum.snippets import pattern_code

START: Final = PATTERNS[0]
OPERATIONS: Final[tuple[Operation, ...]] = ("rearrange", "reduce", "repeat")
_MAX_PATTERN: Final = 100


def choose_pattern() -> tuple[PatternCall, str, str]:
    """Ask for a call of einops; return it, the axis that is looked at, and an annotation."""
    titles = {each.key: _(each.title) for each in PATTERNS}
    offer_examples(ASK, "pattern", titles, _settings)
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
        annotation = ASK.text(
            "note",
            _("Annotation of the result"),
            max_chars=_MAX_PATTERN,
            help=_(
                "Names of its dimensions as jaxtyping writes them, such as b h t d; `_` is any "
                "length, `...` any number of dimensions. Python ignores annotations; a checker "
                "compares them at a call."
            ),
        )
        ones = ASK.toggle("ones", _("x holds ones instead of 0, 1, 2, …"), default=False)
        dtype = ASK.selectbox("dtype", "dtype", tuple(DTYPES), default="float32")
    call = PatternCall(
        operation=operation, pattern=pattern.strip(), lengths=lengths, reduction=reduction,
        dtype=dtype, ones=ones,
    )  # fmt: skip
    return call, axis, annotation.strip()


def _settings(key: str) -> dict[str, object]:
    example = PATTERN_BY_KEY[key]
    call = {
        "op": example.operation,
        "pattern": example.pattern,
        "reduction": example.reduction,
        "ones": example.ones,
    }
    return call | length_settings("size", example)


def pattern(chosen: tuple[PatternCall, str, str]) -> Shown:
    call, axis, annotation = chosen
    run = run_pattern(call)
    picture = pattern_picture(run, axis, axes_in(call.pattern), look())
    return Shown(
        headline=_annotated(run, annotation) if annotation else _headline(run),
        charts=[Chart(picture=picture, file_name="pattern")],
        notes=_notes(run),
        below=lambda: _show_steps(run),
        code=pattern_code(run, unit_system(), annotation),
    )


def _headline(run: PatternRun) -> str:
    plan, call = run.plan, run.call
    words = {"pattern": call.pattern, "before": run.shape, "after": run.result_shape}
    if plan.kind == "same":
        return _("`{pattern}` changes nothing: einops returns x itself").format(**words)
    if plan.kind == "view":
        message = _("`{pattern}` is a view: {before} → {after}, 0 bytes moved, 0 FLOPs")
        return message.format(**words)
    words["bytes"] = size_text(plan.bytes_moved)
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


def _annotated(run: PatternRun, annotation: str) -> str:
    """Say whether the result has the shape of its annotation, and who would notice."""
    lengths, shape = run.call.lengths, run.result_shape
    verdict = check_annotations(
        {"pattern": " ".join(lengths), "result": annotation},
        {"pattern": tuple(lengths.values()), "result": shape},
    )
    words = {"pattern": run.call.pattern, "shape": shape, "note": annotation}
    if verdict.kind == "ok":
        return _("`{pattern}` gives {shape}, as its annotation `{note}` says").format(**words)
    wrong = verdict.mismatch
    if wrong is None:
        message = _("`{pattern}` gives {shape}: `{note}` names another number of dimensions, and "
                    "Python does not notice")  # fmt: skip
        return message.format(**words)
    message = _("`{pattern}` gives {shape}, annotated `{note}`: {name} is {to}, not {length}, and "
                "Python does not notice")  # fmt: skip
    return message.format(**words, name=wrong.name, to=wrong.bound_to, length=wrong.length)


def _notes(run: PatternRun) -> list[str]:
    if run.is_whole:
        return []
    shown = _(", ").join(f"{name} {length}" for name, length in run.shown.items())
    note = _(
        "Only the first indices of each axis are drawn ({shown}); the numbers count all elements."
    )
    return [note.format(shown=shown)]


def _show_steps(run: PatternRun) -> None:
    steps = run.plan.steps
    if not steps:
        return
    table = {
        _("The same in torch"): [f"x{steps[0].code}", *(step.code for step in steps[1:])],
        _("What it is"): [kind_text(step.kind) for step in steps],
        _("Moved"): [size_text(step.num_bytes_moved) for step in steps],
    }
    if not presenting():
        table |= {
            "FLOPs": [format_exact(step.flops) for step in steps],
            _("Shape"): [str(step.layout.shape) for step in steps],
            _("Stride"): [str(step.layout.stride) for step in steps],
        }
    show_table(table)
