"""Why `view` refuses: which neighbouring dimensions cannot be merged, and what to write instead."""

import math
from collections.abc import Collection, Sequence
from functools import partial
from itertools import pairwise
from typing import Any, Final

from core.figures.picture import Drawing, Look, Picture, Table
from core.language import N_, _
from core.tensors.layout import Layout
from core.tensors.shape_text import lengths_in, written_shape
from core.tensors.torch_answers import view_refusal
from core.tensors.trace import TracedTensor
from core.tensors.views import ViewVerdict, explain_view, neighbours
from pages.shared.settings import look, presenting
from pages.shared.tabbed_page import Chart, Shown, Tab
from pages.shared.tensors.program import show_torch
from pages.shared.tensors.table_cells import size_text
from pages.tensors.strides_and_views.inputs import ALL_IN_A_ROW, ASK, Case

HEIGHT_PX: Final = {False: 330, True: 360}  # on a projector True


def choose_target() -> tuple[int, ...]:
    text = ASK.text(
        "target",
        _("Wanted shape"),
        default=ALL_IN_A_ROW,
        max_chars=60,
        help=_("Lengths with commas, such as 2, 12; one of them may be -1, which stands for all "
               "elements that are left. A program that asks for another view is followed."),
    )  # fmt: skip
    return lengths_in(text)


def why(case: Case, target: tuple[int, ...]) -> Shown:
    ran = case.trace
    asked = [each for each in ran.tensors if each.key == ran.refused_tensor]
    tensor = (asked or ran.tensors)[-1]
    layout = tensor.layout
    verdict = explain_view(layout.shape, layout.stride, target)
    said = view_refusal(layout, tensor.dtype, target)
    return Shown(
        headline=verdict_sentence(tensor, target),
        charts=[Chart(picture=view_picture(layout, verdict, look()), file_name="view")],
        notes=_notes(tensor, verdict),
        below=partial(show_torch, said) if said else None,
        code=_snippet(tensor, target),
    )


def verdict_sentence(tensor: TracedTensor, target: tuple[int, ...]) -> str:
    """Return whether a tensor can be viewed in a shape, and what forbids it if it cannot."""
    layout = tensor.layout
    verdict = explain_view(layout.shape, layout.stride, target)
    values = {"shape": layout.shape, "target": verdict.shape}
    if verdict.ok:
        message = _("{shape} can be viewed as {target}: strides {stride}, nothing is copied")
        return message.format(**values, stride=verdict.stride)
    if verdict.kind != "break":
        message = _("{target} does not hold the {count} elements of {shape}")
        return message.format(**values, count=layout.numel)
    first, *others = verdict.failures
    message = _(
        "{shape} cannot be viewed as {target}: dimensions {left} and {right} cannot be merged, "
        "stride {have} instead of {need}"
    )
    words = {"left": first.dim, "right": first.right, "have": first.have, "need": first.need}
    more = _(" (and {count} more)").format(count=len(others)) if others else ""
    return message.format(**values, **words) + more


def _notes(tensor: TracedTensor, verdict: ViewVerdict) -> list[str]:
    """Name what the wanted shape would have to span, and what to write instead."""
    spans = [
        _(
            "Dimension {target_dim} of {target} would span dimensions {left} and {right}: the "
            "stride of {left} would have to be **{need}**, and it is **{have}**."
        ).format(
            target_dim=pair.target_dim,
            target=verdict.shape,
            left=pair.dim,
            right=pair.right,
            need=pair.need,
            have=pair.have,
        )
        for pair in verdict.failures
    ]
    name = tensor.text if tensor.text.isidentifier() else f"({tensor.text})"
    fixes = [
        _("Write `{code}`: it works, and copies {size}.").format(
            code=f"{name}{fix}".replace("\n", " "), size=size_text(tensor.layout.num_bytes)
        )
        for fix in verdict.fixes
    ]
    return fixes if presenting() else [*spans, *fixes]


def view_picture(layout: Layout, verdict: ViewVerdict, look: Look) -> Picture:
    """Return a box for each dimension, those of the wanted shape below those that they cover.

    A box reaches from the number of elements that it holds with all to its right to the number of
    those to its right. Where a stride breaks, a line runs down: no wanted box may cross it.
    """
    drawing, base = Drawing(), look.layout()
    size = base["font"]["size"]
    wanted = verdict.shape if verdict.kind in {"view", "break"} else ()
    is_empty = 0 in layout.shape
    own, target = _edges(layout.shape), [] if is_empty else _edges(wanted)
    place = {edge: x for x, edge in enumerate(sorted({*own, *target}, reverse=True))}
    names = [_("tensor"), *([_("wanted")] if target else [])]
    _draw_row(drawing, 0, [place[edge] for edge in own], layout.shape, layout.stride, look)
    if target:
        strides = verdict.stride or ("?",) * len(wanted)
        crossed = {pair.target_dim for pair in verdict.failures}
        at = [place[edge] for edge in target]
        _draw_row(drawing, 1, at, wanted, strides, look, crossed)
    failing = {pair.dim for pair in verdict.failures}
    for pair in () if is_empty else neighbours(layout.shape, layout.stride):
        x, ok = place[math.prod(layout.shape[pair.right :])], pair.can_be_merged
        is_crossed = pair.dim in failing
        color = look.color("works" if ok else "refused" if is_crossed else "muted")
        drawing.shape(
            type="line", x0=x, x1=x, y0=0.36, y1=1.4 if is_crossed else 0.64,
            line={"color": color, "width": 4 if is_crossed else 2},
        )  # fmt: skip
        sign = f"✓ {pair.have} = " if ok else f"✗ {pair.have} ≠ "
        drawing.note(
            x=x, y=0.5, text=f"<b>{sign}{pair.length}·{pair.step}</b>",
            font={"size": size, "color": color}, bgcolor=look.color("background"),
        )  # fmt: skip
    drawing.scatter(x=[None], y=[None], hoverinfo="skip")
    still = {"fixedrange": True, "showgrid": False, "zeroline": False, "showline": False}
    fields = {
        "xaxis": base["xaxis"]
        | still
        | {"showticklabels": False, "range": [-0.05, max(len(place) - 1, 1) + 0.05]},
        "yaxis": base["yaxis"]
        | still
        | {"range": [1.45, -0.45], "tickvals": list(range(len(names))), "ticktext": names},
        "height": HEIGHT_PX[look.present],
        "margin": {"l": 8, "r": 8, "t": 8, "b": 8},
        "showlegend": False,
    }
    return Picture(
        figure=drawing.figure(base | fields),
        alt=_sentence(layout, verdict),
        table=_table(layout, verdict),
    )


def _edges(shape: Sequence[int]) -> list[int]:
    """Return the elements to the right of each edge between dimensions, both ends included."""
    if 0 in shape:
        return list(range(len(shape), -1, -1))
    return [math.prod(shape[dim:]) for dim in range(len(shape) + 1)]


def _draw_row(  # noqa: PLR0913, PLR0917  a row of boxes: where, how long, how they look
    drawing: Drawing,
    y: int,
    edges: Sequence[int],
    shape: Sequence[int],
    strides: Sequence[Any],
    look: Look,
    crossed: Collection[int] = (),
) -> None:
    size = look.layout()["font"]["size"]
    words = _("<b>{length}</b><br>stride {stride}")
    for dim, (left, right) in enumerate(pairwise(edges)):
        if left == right:
            continue  # a dimension of length 1 hinders nothing
        color = look.color("refused" if dim in crossed else "accent")
        drawing.shape(
            type="rect", x0=left + 0.02, x1=right - 0.02, y0=y - 0.34, y1=y + 0.34, layer="below",
            line={"color": color, "width": 2}, fillcolor=color, opacity=0.22,
        )  # fmt: skip
        text = words.format(length=shape[dim], stride=strides[dim])
        if dim in crossed:  # beside the line that crosses it
            drawing.note(x=left + 0.06, y=y, text=f"<b>{shape[dim]} ✗</b>", xanchor="left")
        else:
            drawing.note(x=(left + right) / 2, y=y, text=text, font={"size": size})


def _sentence(layout: Layout, verdict: ViewVerdict) -> str:
    words = {"shape": layout.shape, "stride": layout.stride, "target": verdict.shape}
    if verdict.ok:
        message = _(
            "The dimensions {shape} with strides {stride} above those of {target}: every wanted "
            "dimension covers only dimensions that can be merged."
        )
    else:
        message = _(
            "The dimensions {shape} with strides {stride} above those of {target}: {count} places "
            "where a wanted dimension would cross strides that cannot be merged."
        )
    return message.format(**words, count=len(verdict.failures))


def _table(layout: Layout, verdict: ViewVerdict) -> Table:
    """List every pair of neighbours: what the left stride is, and what a merge would need."""
    broken = {(pair.dim, pair.right) for pair in verdict.failures}
    pairs = neighbours(layout.shape, layout.stride)
    return {
        _("Dimensions"): [f"{pair.dim}, {pair.right}" for pair in pairs],
        _("Stride of the left one"): [pair.have for pair in pairs],
        _("Length × stride of the right one"): [
            f"{pair.length} × {pair.step} = {pair.need}" for pair in pairs
        ],
        _("Can be merged"): [
            "✓ " + _("yes") if pair.can_be_merged else "✗ " + _("no") for pair in pairs
        ],
        _("The wanted shape"): [
            _("needs that") if (pair.dim, pair.right) in broken else _("does not need that")
            for pair in pairs
        ],
    }


def _snippet(tensor: TracedTensor, target: tuple[int, ...]) -> str:
    """Return code that tries the view on a tensor with these very strides."""
    layout = tensor.layout
    return f"""
import torch

y = torch.empty_strided({layout.shape}, {layout.stride}, dtype=torch.{tensor.dtype}, device="meta")
try:
    print(y.view({written_shape(target)}).stride())
except RuntimeError as error:
    print(error)
"""


TAB: Final = Tab(label=N_("Why view refuses"), show=why, choose=choose_target)
