"""Shapes in names: what an annotation says, whether a check agrees, and what torch does anyway."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from core.figures.tensors.rearrange_and_einsum.indices import (
    IndexCell,
    IndexRow,
    Mark,
    index_picture,
)
from core.language import _
from core.tensors.named_shapes import (
    CALL_BY_KEY,
    CALLS,
    AnnotatedCall,
    NamedDim,
    ShapeVerdict,
    check_annotations,
)
from pages.shared.charts import show_table
from pages.shared.settings import look, presenting
from pages.shared.tabbed_page import Chart, Shown
from pages.tensors.rearrange_and_einsum.inputs import ASK
from pages.tensors.rearrange_and_einsum.snippets import shapes_code

SHORT_LENGTHS: Final = tuple(range(1, 9))
_MAX_ANNOTATION: Final = 40


@dataclass(frozen=True, kw_only=True, slots=True)
class ShapesCase:
    """A function, the annotation and shape of its second tensor, and whether shapes are checked."""

    call: AnnotatedCall
    y: str
    y_shape: tuple[int, ...]
    is_checked: bool


def choose_shapes() -> ShapesCase:
    """Ask for a function, the annotation of y, its last two lengths, and for a check."""
    call = CALL_BY_KEY[
        ASK.selectbox(
            "call",
            _("Function"),
            tuple(CALL_BY_KEY),
            default=CALLS[0].key,
            labels=lambda key: _(CALL_BY_KEY[key].title),
        )
    ]
    is_checked = ASK.toggle(
        "check",
        _("Check at run time"),
        default=False,
        help=_("Python ignores annotations; a checker such as jaxtyping compares them at a call."),
    )
    text = ASK.text(
        f"y_{call.key}",
        _("Annotation of y"),
        default=call.y,
        max_chars=_MAX_ANNOTATION,
        help=_("Names, numbers, `_` for any length, `...` for any number of dimensions."),
    )
    rows = ASK.select_slider("rows", _("Second-to-last length of y"), SHORT_LENGTHS, default=1)
    columns = ASK.select_slider("columns", _("Last length of y"), SHORT_LENGTHS, default=3)
    lead = () if call.key == "linear" else call.x_shape[:1]
    return ShapesCase(call=call, y=text, y_shape=(*lead, rows, columns), is_checked=is_checked)


def shapes(case: ShapesCase) -> Shown:
    """Show which name is bound to what, the first mismatch, and what torch does without a check."""
    call = case.call
    shapes_by_name = {"x": call.x_shape, "y": case.y_shape}
    verdict = check_annotations({"x": call.x, "y": case.y}, shapes_by_name)
    rows = [
        IndexRow(
            label=f'{name} "{note}" {shapes_by_name[name]}',
            cells=tuple(_cell(dim, at) for at, dim in enumerate(verdict.rows[name])),
        )
        for name, note in (("x", call.x), ("y", case.y))
    ]
    columns = tuple(dict.fromkeys(cell.index for row in rows for cell in row.cells))
    wrong = verdict.mismatch.name if verdict.mismatch else ""
    picture = index_picture(rows, columns, wrong, _alt(case, verdict), look())
    return Shown(
        headline=_headline(case, verdict),
        charts=[Chart(picture=picture, file_name="shapes-in-names")],
        notes=[_without_check(case)],
        below=None if presenting() else lambda: _show_bindings(verdict),
        code=shapes_code(call, case.y, case.y_shape),
    )


def _cell(dim: NamedDim, place: int) -> IndexCell:
    mark: Mark = "here" if dim.ok else "wrong"
    is_free = dim.bound_to is None
    name = f"{dim.name} ({dim.tensor}, {place})" if is_free else dim.name
    return IndexCell(index=name, length=dim.length, mark="free" if is_free else mark)


def _headline(case: ShapesCase, verdict: ShapeVerdict) -> str:
    if not case.is_checked:
        result = case.call.torch_shape(case.y_shape)
        words = {"code": case.call.code, "shape": result, "why": _why(verdict)}
        if result is None:
            return _("Unchecked: torch itself refuses `{code}`").format(**words)
        if verdict.kind == "ok":
            return _("Unchecked: `{code}` gives {shape}, as annotated").format(**words)
        return _("Unchecked: `{code}` runs and gives {shape}, though {why}").format(**words)
    if verdict.kind == "ok":
        names = _(", ").join(
            f"{name} = {length}" for name, (length, _by) in verdict.bindings.items()
        )
        return _("Checked: all shapes agree, {names}").format(names=names)
    return _("Checked: refused before it runs, {why}").format(why=_why(verdict))


def _why(verdict: ShapeVerdict) -> str:
    wrong = verdict.mismatch
    if verdict.kind == "rank" or wrong is None:
        message = _("{tensor} has a different number of dimensions")
        return message.format(tensor=verdict.wrong_rank)
    if not wrong.bound_by:
        message = _("{tensor} has {length} where {name} is annotated")
        return message.format(tensor=wrong.tensor, length=wrong.length, name=wrong.name)
    message = _("{name} is {to} in {by} and {length} in {tensor}")
    return message.format(
        name=wrong.name,
        to=wrong.bound_to,
        by=wrong.bound_by,
        length=wrong.length,
        tensor=wrong.tensor,
    )


def _without_check(case: ShapesCase) -> str:
    result = case.call.torch_shape(case.y_shape)
    if result is None:
        message = _("The annotation says {result}. torch refuses these shapes.")
        return message.format(result=f'"{case.call.result}"')
    message = _(
        "The annotation says {result}. torch gives {shape}: it broadcasts, and ignores names."
    )
    return message.format(result=f'"{case.call.result}"', shape=result)


def _alt(case: ShapesCase, verdict: ShapeVerdict) -> str:
    message = _(
        "x is annotated {x} and has shape {x_shape}, y is annotated {y} and "
        "has {y_shape}: {verdict}."
    )
    return message.format(
        x=case.call.x,
        x_shape=case.call.x_shape,
        y=case.y,
        y_shape=case.y_shape,
        verdict=_("all names agree") if verdict.kind == "ok" else _why(verdict),
    )


def _show_bindings(verdict: ShapeVerdict) -> None:
    if not verdict.bindings:
        return
    names: Sequence[str] = list(verdict.bindings)
    show_table(
        {
            _("Name"): names,
            _("Bound to"): [verdict.bindings[name][0] for name in names],
            _("Bound by"): [verdict.bindings[name][1] for name in names],
            _("Agrees everywhere"): [
                _("yes") if _agrees(verdict, name) else _("no") for name in names
            ],
        }
    )


def _agrees(verdict: ShapeVerdict, name: str) -> bool:
    return all(dim.ok for row in verdict.rows.values() for dim in row if dim.name == name)
