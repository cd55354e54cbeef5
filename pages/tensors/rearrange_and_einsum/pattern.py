"""The answer: the cells before and after, the torch calls that do the same, and their cost."""

import keyword
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import streamlit as st

from core.figures.picture import Drawing, Look, Picture, Table
from core.language import N_, _
from core.tensors.einops_plan import REDUCTIONS, AxisToken, Operation
from core.tensors.examples import ALL_LENGTHS, DTYPES, PATTERNS, titles
from core.tensors.pattern_cells import (
    Cells,
    PatternCall,
    PatternRun,
    annotated_dims,
    axes_in,
    axis_words,
    first_mismatch,
    round_trip,
    run_pattern,
)
from core.units import format_exact, format_flops
from pages.shared.charts import show_table
from pages.shared.questions import Choice, predict_then_reveal
from pages.shared.settings import look, presenting, unit_system
from pages.shared.tabbed_page import Chart, Shown, Tab
from pages.shared.tensors.examples import offer_examples
from pages.shared.tensors.table_cells import kind_text, size_text
from pages.tensors.rearrange_and_einsum.inputs import (
    ASK,
    axis_color,
    choose_lengths,
    length_settings,
    mixed,
    written,
)

START: Final = PATTERNS["split"]
OPERATIONS: Final[tuple[Operation, ...]] = ("rearrange", "reduce", "repeat")
_MAX_PATTERN: Final = 100
HEIGHT: Final = 330
PRESENT_HEIGHT: Final = 300
_WIDTH: Final = {False: 1000, True: 700}  # pixels that the picture has, about
_LEAST_CELL: Final = {False: (9, 9), True: (0, 44)}  # pixels of a cell: for each digit, and more
_GAP: Final = 0.35  # between blocks, in cells
_MOST_SWATCHES: Final = 8
_PATTERN: Final = """
import torch
from einops import {operation}

{written}

x = {x}
y = {operation}(x, "{pattern}"{arguments})

# The same in torch, a call at a time: does it share the storage of what it was given?
moved = flops = 0
by_hand = x
for call in ({calls}):
    result = call(by_hand)
    is_view = result.untyped_storage()._cdata == by_hand.untyped_storage()._cdata
    read = min(by_hand.nbytes, by_hand.untyped_storage().nbytes())  # repeated ones lie there once
    moved += 0 if is_view else read + result.nbytes
    flops += {flops} if result.numel() < by_hand.numel() else 0
    by_hand = result

assert y.shape == by_hand.shape and y.stride() == by_hand.stride()
print(tuple(x.shape), "->", tuple(y.shape), size(moved), work(flops){first})
"""


_CHECK: Final = """
known = {lengths}
names = "{note}".split()  # what a checker does; Python itself never reads an annotation
if "..." in names:
    at = names.index("...")
    names[at : at + 1] = ["_"] * (y.ndim - len(names) + 1)
if len(names) != y.ndim:
    print(names, "are not the dimensions of", tuple(y.shape))
for name, length in zip(names, y.shape):
    bound = int(name) if name.isdecimal() else known.get(name, length)
    if bound != length:
        print(name, "is", bound, "and here", length)
"""


def choose_pattern() -> tuple[PatternCall, str, str]:
    """Ask for a call of einops; return it, the axis that is looked at, and an annotation."""
    offer_examples(ASK, "pattern", titles(PATTERNS), _settings)
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
    example = PATTERNS[key]
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
        code=_code(run, unit_system(), annotation),
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
    shape = run.result_shape
    dims = annotated_dims(annotation, len(shape))
    words = {"pattern": run.call.pattern, "shape": shape, "note": annotation}
    if len(dims) != len(shape):
        message = _("`{pattern}` gives {shape}: `{note}` names another number of dimensions, and "
                    "Python does not notice")  # fmt: skip
        return message.format(**words)
    wrong = first_mismatch(dims, shape, run.call.lengths)
    if wrong is None:
        return _("`{pattern}` gives {shape}, as its annotation `{note}` says").format(**words)
    message = _("`{pattern}` gives {shape}, annotated `{note}`: {name} is {to}, not {length}, and "
                "Python does not notice")  # fmt: skip
    name, to, length = wrong
    return message.format(**words, name=name, to=to, length=length)


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


@dataclass(frozen=True, kw_only=True, slots=True)
class _Panel:
    """One tensor in its place: where its cells lie, in cells, and its axes in the figure."""

    cells: Cells
    place: npt.NDArray[np.float64]
    extent: tuple[float, float]
    domain: tuple[float, float]
    suffix: str


def pattern_picture(run: PatternRun, axis: str, names: Sequence[str], look: Look) -> Picture:
    """Return both tensors under their sides of the pattern, coloured by an axis."""
    drawing, layout = Drawing(), look.layout()
    size = layout["font"]["size"]
    height = PRESENT_HEIGHT if look.present else HEIGHT
    panels = _panels(run)
    shades = _shades(run, axis, names, look)
    for panel in panels:
        width = (panel.domain[1] - panel.domain[0]) * _WIDTH[look.present]
        pixels = min(width / panel.extent[0], (height - 5.2 * size) / panel.extent[1])
        _draw_cells(drawing, panel, axis, shades, look)
        _draw_values(drawing, panel, look, pixels)
    said = _letters(run, names, look)
    _draw_titles(drawing, run, names, [panel.domain for panel in panels], look)
    _draw_key(drawing, run, axis, shades, said)
    plain = {
        "height": height,
        "margin": {"l": 8, "r": 8, "t": 3.3 * size, "b": (3.3 if said else 1.9) * size},
        "showlegend": False,
    }
    axes = _axes(panels[0]) | _axes(panels[1])
    figure = drawing.figure(layout | plain | axes)
    return Picture(figure=figure, alt=_sentence(run, axis), table=_table(run, axis))


def _panels(run: PatternRun) -> list[_Panel]:
    scenes = [_places(cells.shape) for cells in (run.before, run.after)]
    widths = [extent[0] for _place, extent in scenes]
    share = 0.93 * min(max(widths[0] / sum(widths), 0.3), 0.7)
    domains = (0.0, share), (share + 0.07, 1.0)
    return [
        _Panel(cells=cells, place=place, extent=extent, domain=domain, suffix=suffix)
        for cells, (place, extent), domain, suffix in zip(
            (run.before, run.after), scenes, domains, ("", "2"), strict=True
        )
    ]


def _places(shape: Sequence[int]) -> tuple[npt.NDArray[np.float64], tuple[float, float]]:
    """Return x and y of every cell, and how wide and high all of them are.

    As in the tensor map: the last dimension runs to the right, the one before it down; further ones
    set blocks side by side and below each other in turn.
    """
    extent, place = [1.0, 1.0], np.zeros((2, *shape))
    for out, length in enumerate(reversed(shape)):
        way, gap = out % 2, _GAP * (out // 2)
        lengths = [length if each == len(shape) - 1 - out else 1 for each in range(len(shape))]
        place[way] += np.arange(length).reshape(lengths) * (extent[way] + gap)
        extent[way] = length * extent[way] + (length - 1) * gap
    return place, (extent[0], extent[1])


def _shades(run: PatternRun, axis: str, names: Sequence[str], look: Look) -> list[str]:
    length = run.shown.get(axis, 1)
    color = axis_color(axis, names, look)
    steps = [0.14 + 0.5 * index / max(length - 1, 1) for index in range(length)]
    return [mixed(color, step, look) for step in steps]


def _draw_cells(
    drawing: Drawing, panel: _Panel, axis: str, shades: Sequence[str], look: Look
) -> None:
    """Draw the cells of each index in one trace: squares that are filled."""
    along = panel.cells.along.get(axis)
    for index, shade in enumerate(shades if along is not None else [look.color("surface")]):
        is_here = np.full(panel.cells.shape, True) if along is None else along == index
        x, y = (np.atleast_1d(part[is_here]) for part in panel.place)
        drawing.scatter(
            x=[each for left in x for each in (left, left + 0.92, left + 0.92, left, left, None)],
            y=[each for top in y for each in (top, top, top + 0.92, top + 0.92, top, None)],
            xaxis=f"x{panel.suffix}",
            yaxis=f"y{panel.suffix}",
            mode="lines",
            fill="toself",
            fillcolor=shade,
            line={"color": look.color("muted"), "width": 0.6},
            hoverinfo="skip",
            name=f"{axis} = {index}" if along is not None else "",
        )


def _draw_values(drawing: Drawing, panel: _Panel, look: Look, pixels: float) -> None:
    """Write what the cells hold where there is room; the rest is told on hover."""
    x, y = (part.reshape(-1) + 0.46 for part in panel.place)
    cells = panel.cells
    texts = (
        [""] * len(x) if cells.values is None else [f"{value:.4g}" for value in cells.values.flat]
    )
    digit, more = _LEAST_CELL[look.present]
    has_room = pixels >= digit * max(map(len, texts)) + more
    indices = [part.reshape(-1) for part in cells.along.values()]
    hovers = [
        " ".join(f"{name}={part[at]}" for name, part in zip(cells.along, indices, strict=True))
        for at in range(len(x))
    ]
    drawing.scatter(
        x=x.tolist(),
        y=y.tolist(),
        xaxis=f"x{panel.suffix}",
        yaxis=f"y{panel.suffix}",
        mode="text",
        text=texts if has_room else [""] * len(x),
        textfont={"size": look.layout()["font"]["size"] - (0 if look.present else 2)},
        customdata=[[text, hover] for text, hover in zip(texts, hovers, strict=True)],
        hovertemplate="%{customdata[1]}<br>%{customdata[0]}<extra></extra>",
    )


def _axes(panel: _Panel) -> dict[str, Any]:
    suffix = panel.suffix
    plain = {"visible": False, "fixedrange": True, "constrain": "domain"}
    across = {"domain": list(panel.domain), "range": [-0.1, panel.extent[0] + 0.1]}
    down = {"range": [panel.extent[1] + 0.1, -0.1], "scaleanchor": f"x{suffix}"}
    return {
        f"xaxis{suffix}": plain | across | {"anchor": f"y{suffix}"},
        f"yaxis{suffix}": plain | down | {"anchor": f"x{suffix}"},
    }


def _draw_titles(
    drawing: Drawing,
    run: PatternRun,
    names: Sequence[str],
    domains: Sequence[tuple[float, float]],
    look: Look,
) -> None:
    """Write each side of the pattern above its tensor, and its shape below that."""
    size = look.layout()["font"]["size"]
    for side, shape, domain in zip(
        ("left", "right"), (run.shape, run.result_shape), domains, strict=True
    ):
        tokens = [token for token in run.plan.tokens if token.side == side]
        text = _colored(run.call.pattern, tokens, names, look) or "()"
        drawing.note(
            x=sum(domain) / 2, y=1, xref="paper", yref="paper", yanchor="bottom",
            text=f'<span style="font-size:{size + 7}px">{text}</span><br>{shape}',
        )  # fmt: skip
    middle = (domains[0][1] + domains[1][0]) / 2
    arrow = {"size": size + 12, "color": look.color("muted")}
    drawing.note(x=middle, y=0.5, xref="paper", yref="paper", text="→", font=arrow)


def _letters(run: PatternRun, names: Sequence[str], look: Look) -> str:
    """Return what each letter of the pattern stands for, in its colour; "" if nobody knows."""
    return " · ".join(
        f'<b style="color:{axis_color(name, names, look)}">{name}</b> {_(word)}'
        for name, word in axis_words(run.call.pattern).items()
    )


def _draw_key(
    drawing: Drawing, run: PatternRun, axis: str, shades: Sequence[str], said: str
) -> None:
    """Say below the picture what the letters stand for, and which shade is which index."""
    swatches = [
        f'<span style="color:{shade}">■</span> {index}'
        for index, shade in enumerate(shades[:_MOST_SWATCHES])
    ]
    dots = " …" if run.call.lengths.get(axis, 1) > len(swatches) else ""
    text = _("colour: index along {axis}").format(axis=f"<b>{axis}</b>")
    drawing.note(
        x=0.5, y=0, xref="paper", yref="paper", yanchor="top", yshift=-4,
        text="<br>".join(filter(None, [said, f"{text} &nbsp; {'&nbsp; '.join(swatches)}{dots}"])),
    )  # fmt: skip


def _sentence(run: PatternRun, axis: str) -> str:
    words = _(
        "{operation} {pattern}: a tensor of shape {before} on the left, the result of shape "
        "{after} on the right, both coloured by the index along {axis}, which has length {length}."
    )
    return words.format(
        operation=run.call.operation,
        pattern=run.call.pattern,
        before=run.shape,
        after=run.result_shape,
        axis=axis,
        length=run.call.lengths.get(axis, 1),
    )


def _table(run: PatternRun, axis: str) -> Table:
    rows = [
        (side, dim, length, axis in dim.strip("()").split())
        for side, cells, shape in (
            (_("before"), run.before, run.shape),
            (_("after"), run.after, run.result_shape),
        )
        for dim, length in zip(cells.dims, shape, strict=False)
    ]
    return {
        _("tensor"): [row[0] for row in rows],
        _("dimension"): [row[1] for row in rows],
        _("length"): [row[2] for row in rows],
        _("holds {axis}").format(axis=axis): [_("yes") if row[3] else _("no") for row in rows],
    }


def _colored(text: str, tokens: Sequence[AxisToken], names: Sequence[str], look: Look) -> str:
    """Return the part of a pattern with these tokens as HTML, every name in its axis's colour."""
    parts, end = [], 0
    opening = "(" * (text[: tokens[0].start].rstrip()[-1:] == "(") if tokens else ""
    for token in tokens:
        color = axis_color(token.axis, names, look)
        word = escape(text[token.start : token.end])
        parts += [
            escape(text[end : token.start]) if end else opening,
            f'<span style="color:{color}"><b>{word}</b></span>',
        ]
        end = token.end
    return "".join([*parts, ")" * (text[end:].lstrip()[:1] == ")")])


def _code(run: PatternRun, unit: str, annotation: str) -> str:
    """Return code that does what a pattern does, twice, and counts what it costs."""
    call = run.call
    sizes = "".join(f", {name}={length}" for name, length in call.sizes.items())
    if any(map(keyword.iskeyword, call.sizes)):  # Python refuses in=2
        sizes = f", **{call.sizes}"
    reduction = f', "{call.reduction}"' if call.operation == "reduce" else ""
    has_values = run.first is not None
    flops = "by_hand.numel()" if call.reduction == "mean" else "by_hand.numel() - result.numel()"
    checked = _CHECK.format(lengths=call.lengths, note=annotation) if annotation else ""
    calls = "".join(f"lambda x: x{step.code}, " for step in run.plan.steps)
    return (
        _PATTERN.format(
            operation=call.operation,
            pattern=call.pattern,
            arguments=reduction + sizes,
            written=written(unit),
            x=_tensor(run.shape, call.dtype, has_values=has_values, ones=call.ones),
            calls=calls.rstrip(),
            flops=flops,
            first=', "first element", y.flatten()[0].item()' if has_values else "",
        )
        + checked
    )


def _tensor(shape: tuple[int, ...], dtype: str, *, has_values: bool, ones: bool) -> str:
    if not has_values:
        return f'torch.empty({shape}, dtype=torch.{dtype}, device="meta")'
    if ones:
        return f"torch.ones({shape}, dtype=torch.{dtype})"
    size = " * ".join(map(str, shape)) or "1"
    return f"torch.arange({size}).to(torch.{dtype}).reshape({shape})"


def ask_round_trip() -> None:
    """Ask what is moved by splitting heads and merging them again; plans count the bytes."""
    split, merge = PATTERNS["split"], PATTERNS["merge"]
    trip = round_trip(split, merge)
    choices = [
        Choice(
            _("{count} bytes: the merge copies").format(count=format_exact(trip.fresh_merge)),
            _(
                "The same merge of a fresh tensor of shape {shape} does copy. This one was split "
                "a moment ago: its elements still lie in the order of x."
            ).format(shape=trip.shape),
        ),
        Choice(_("{count} bytes: both are views").format(count=format_exact(trip.moved))),
        Choice(
            _("{count} bytes: each reads and writes x").format(
                count=format_exact(2 * trip.fresh_merge)
            ),
            _("A rearrange moves elements only if no strides can describe the new order."),
        ),
    ]
    predict_then_reveal(
        ASK.key("round_trip"),
        _(
            "x has the shape {before}. y = rearrange(x, '{split}'), then rearrange(y, '{merge}'). "
            "How many bytes are moved?"
        ).format(before=trip.before, split=split.pattern, merge=merge.pattern),
        choices,
        _(
            "The split gives y the strides {stride}: h and d still lie side by side in the "
            "storage, so the merge finds them in order, and changes shape and strides only. Fresh "
            "results, such as those of a product, lie in the order of their own shape: their "
            "merge copies."
        ).format(stride=trip.stride),
    )


TAB: Final = Tab(label=N_("Pattern"), show=pattern, choose=choose_pattern, question=ask_round_trip)
