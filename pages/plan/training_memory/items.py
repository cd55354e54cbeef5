"""The budget taken apart into its parts, each with its formula and the tensors behind it."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

import streamlit as st

from core.budget.budget import Budget, at_peak
from core.budget.catalogue.precisions import PRECISIONS
from core.budget.item import Item, total
from core.budget.share import shares
from core.budget.training.activations import kept_list
from core.budget.training.memory import training_budget
from core.budget.training.scenario import Scenario
from core.figures.budget.stacked_parts import LOOKS
from core.figures.picture import Drawing, Look, Picture, Table
from core.language import _
from core.units import format_percent
from pages.plan.training_memory.inputs import ASK, Case
from pages.shared.answer import explanation
from pages.shared.charts import table_markdown
from pages.shared.settings import look
from pages.shared.tabbed_page import Chart, Shown

SEPARATOR: Final = "/"
_SMALLEST: Final = 0.004  # of the whole: narrower lines are left to the table
_OWN_LINE: Final = 0.04  # of the whole: from there on a name stands in its box
_LEVEL_PX: Final = 58
_LARGER: Final = {False: 1, True: 1.35}  # on a projector True


@dataclass(frozen=True, slots=True)
class Box:
    """One item in its place.

    Attributes:
        path: Names from the root down, joined by "/": "step peak/end of forward"; "" is the root.
        item: What it is.
        level: 0 is the root.
        start: Where it begins, in bytes.
        meaning: Key of its colour.
        pattern: Its pattern.
    """

    path: str
    item: Item
    level: int
    start: float
    meaning: str
    pattern: str

    @property
    def name(self) -> str:
        return _("one device") if self.level == 0 else _(self.item.name)


def boxes(root: Item) -> tuple[Box, ...]:
    return tuple(_walk(Box("", root, 0, 0, "muted", "")))


def _walk(box: Box) -> Iterator[Box]:
    yield box
    start = box.start
    for part in counted(box.item):
        meaning, pattern = LOOKS.get(part.name, (box.meaning, box.pattern))
        path = f"{box.path}{SEPARATOR}{part.name}" if box.path else part.name
        yield from _walk(Box(path, part, box.level + 1, start, meaning, pattern))
        start += part.amount


def counted(item: Item) -> tuple[Item, ...]:
    """Return the children that make the amount: all, or of a maximum the largest alone."""
    if item.combine == "max" and item.children:
        return (max(item.children, key=lambda part: part.amount),)
    return item.children


def items_picture(root: Item, chosen: str, look: Look) -> Picture:
    """Return the icicle; a click on a box gives its path as `customdata[0]`."""
    layout, drawing, found = look.layout(), Drawing(), boxes(root)
    shown = [box for box in found if box.item.amount >= _SMALLEST * root.amount]
    depth = max(box.level for box in shown) + 1
    for level in range(depth):
        row = [box for box in shown if box.level == level]
        drawing.bar(**_row(row, root.amount, look), marker=_marker(row, chosen, look))
    axes = {
        "xaxis": {"visible": False, "range": [0, root.amount], "fixedrange": True},
        "yaxis": {"visible": False, "range": [depth - 0.5, -0.5], "fixedrange": True},
        "height": round(depth * _LEVEL_PX * _LARGER[look.present]),
        "margin": {"l": 0, "r": 0, "t": 0, "b": 0},
        "barmode": "overlay",
        "bargap": 0.06,
        "showlegend": False,
        "uniformtext": {"minsize": round(layout["font"]["size"] * 0.8), "mode": "hide"},
    }
    figure = drawing.figure(layout | axes)
    return Picture(figure=figure, alt=_sentence(found, look), table=_table(found, look))


def _row(row: Sequence[Box], whole: float, look: Look) -> dict[str, Any]:
    sizes = [look.format_bytes(box.item.amount) for box in row]
    wide = [box.item.amount > _OWN_LINE * whole for box in row]
    return {
        "orientation": "h",
        "x": [box.item.amount for box in row],
        "base": [box.start for box in row],
        "y": [box.level for box in row],
        "text": [
            f"<b>{box.name}</b><br>{size}" if has_room else ""
            for box, size, has_room in zip(row, sizes, wide, strict=True)
        ],
        "textposition": "inside",
        "insidetextanchor": "middle",
        "textangle": 0,
        "insidetextfont": {"color": look.color("text")},
        "customdata": [
            [box.path, box.name, size, format_percent(box.item.amount / whole)]
            for box, size in zip(row, sizes, strict=True)
        ],
        "hovertemplate": "%{customdata[1]}: %{customdata[2]} (%{customdata[3]})<extra></extra>",
    }


def _marker(row: Sequence[Box], chosen: str, look: Look) -> dict[str, Any]:
    """Return pale fills with a full edge, so that names can be read; the chosen one stands out."""
    is_chosen = [box.path == chosen for box in row]
    hues = [look.color(box.meaning) for box in row]
    pairs = list(zip(hues, is_chosen, strict=True))
    return {
        "color": [_tint(hue, 0.5 if stands_out else 0.25) for hue, stands_out in pairs],
        "line": {
            "color": [look.color("text") if stands_out else hue for hue, stands_out in pairs],
            "width": [3 if stands_out else 1 for stands_out in is_chosen],
        },
    }


def _tint(hue: str, opacity: float) -> str:
    red, green, blue = (int(hue[i : i + 2], 16) for i in (1, 3, 5))
    return f"rgba({red},{green},{blue},{opacity})"


def _sentence(found: Sequence[Box], look: Look) -> str:
    leaves = [box.item for box in found if not box.item.children]
    largest = sorted(leaves, key=lambda leaf: -leaf.amount)[:4]
    parts = [
        _("{name} {size}").format(name=_(leaf.name), size=look.format_bytes(leaf.amount))
        for leaf in largest
    ]
    return _("{total} taken apart into {count} lines; the largest: {parts}.").format(
        total=look.format_bytes(found[0].item.amount), count=len(leaves), parts=_(", ").join(parts)
    )


def _table(found: Sequence[Box], look: Look) -> Table:
    whole = found[0].item.amount
    return {
        _("item"): ["· " * box.level + box.name for box in found],
        _("bytes"): [look.format_bytes(box.item.amount) for box in found],
        _("of the whole"): [format_percent(box.item.amount / whole) for box in found],
        _("formula"): [f"`{box.item.formula}`" for box in found],
    }


_BLOCK: Final = ("norms", "attention", "feed-forward", "experts", "block inputs")
_WEIGHTS: Final = (
    *("compute weights", "master weights", "frozen weights", "quantized weights"),
    *("frozen weights in 16 bits", "adapters"),
)
_STATES: Final = ("weights", "gradients", "optimizer")
_KEPT, _AGAIN = "activations", "recomputed activations"
_CODES: Final = ("codes", "scales", "scales of the scales")
PATHS: Final = (
    "",
    "weights",
    *(f"weights/{name}" for name in _WEIGHTS),
    *(f"weights/quantized weights/{name}" for name in _CODES),
    "optimizer",
    "gradients",
    "activations",
    *(f"activations/{name}" for name in (*_BLOCK, "outside the blocks")),
    "recomputed activations",
    *(f"recomputed activations/{name}" for name in _BLOCK[:-1]),
    *("logits and loss", "temporary", "cached copies", "gathered weights", "data"),
    *("communication buffers", "allocator reserve"),
)


def choose_item() -> str:
    return ASK.selectbox(
        "item", _("Part"), PATHS, default="activations/attention", labels=path_label
    )


def items(case: Case, asked: str) -> Shown:
    """Show the lines as an icicle, and below it what stands behind the chosen one."""
    scenario = case.scenario
    budget = training_budget(scenario.spec, scenario.recipe, scenario.cluster)
    largest = budget.largest
    root = total(largest.name, at_peak(largest), source=largest.source)
    path, line = find(root, asked)
    if path != asked:
        st.caption(absence(asked, path))
    if PRECISIONS[scenario.recipe.precision].copies:
        st.caption(autocast_said(scenario, budget))

    def explain() -> None:
        formula, tensors = st.columns(2)
        with formula:
            st.markdown(explanation(line))
        with tensors:
            _show_tensors(scenario, budget, path)

    return Shown(
        headline=sentence(root, line, path),
        charts=[
            Chart(
                picture=items_picture(root, path, look()),
                file_name="memory-lines",
                on_click=point_at_line,
            )
        ],
        below=explain,
    )


def path_label(path: str) -> str:
    if not path:
        return _("one device")
    return " › ".join(_(name) for name in path.split(SEPARATOR))


def find(root: Item, asked: str) -> tuple[str, Item]:
    """Return the line of a path; what stands in for it where the setting has no such line.

    Activations that are not kept are computed again: their line is there. Else it is the nearest
    line above.
    """
    lines = {box.path: box.item for box in boxes(root)}
    again = _computed_again(asked)
    if asked not in lines and again in lines:
        return again, lines[again]
    while asked not in lines:
        asked = asked.rpartition(SEPARATOR)[0]
    return asked, lines[asked]


def autocast_said(case: Scenario, budget: Budget) -> str:
    """Return what autocast does not shrink, beside the same setting all in fp32."""
    in_fp32 = replace(case.recipe, precision="fp32")
    plain = training_budget(case.spec, in_fp32, case.cluster)
    states, before = (
        sum(part.amount for part in at_peak(each.largest) if part.name in _STATES)
        for each in (budget, plain)
    )
    return _(
        "Autocast shrinks none of them: weights, gradients (`weight.grad` stays fp32) and "
        "optimizer states take {states}; all in fp32 they take {before}."
    ).format(states=look().format_bytes(states), before=look().format_bytes(before))


def _computed_again(path: str) -> str:
    """Return the path of the same activations where they are computed again; else the path."""
    whole, separator, part = path.partition(SEPARATOR)
    return f"{_AGAIN}{separator}{part}" if whole == _KEPT and part else path


def absence(asked: str, path: str) -> str:
    """Return that the setting has no such line, why, and which one stands in for it."""
    if path == _computed_again(asked):
        text = _(
            "This setting has no part “{line}”: the backward pass recomputes it, which is the part "
            "“{other}”."
        )
    else:
        text = _(
            "This setting has no part “{line}”: nothing of it is in memory at the peak. The part "
            "that would hold it is “{other}”."
        )
    return text.format(line=path_label(asked), other=path_label(path))


def sentence(root: Item, line: Item, path: str) -> str:
    return _("{line}: {amount}, {share} of what one device holds").format(
        line=path_label(path),
        amount=look().format_bytes(line.amount),
        share=format_percent(line.amount / root.amount),
    )


def point_at_line(clicked: Sequence[Any]) -> None:
    """Explain the line that was clicked, if it is one that can be asked for."""
    if clicked[0] in PATHS:
        ASK.write("item", clicked[0])


def _show_tensors(case: Scenario, budget: Budget, path: str) -> None:
    """Show who keeps what, if the line is a part of a block."""
    whole, _separator, part = path.partition(SEPARATOR)
    if part not in _BLOCK or whole not in {_KEPT, _AGAIN}:
        st.caption(_("Choose a part of the activations to see every tensor in it."))
        return
    split = shares(case.spec, case.cluster, case.recipe.accumulation)
    share = split[budget.stages.index(budget.largest)]
    again = whole == _AGAIN
    rows = kept_list(case.spec, case.recipe, share, part, again=again)
    st.caption(_("The tensors of one layer, and the operation that keeps each:"))
    table = {
        _("tensor"): [_(row.what) for row in rows],
        _("kept by"): [row.op for row in rows],
        _("bytes"): [look().format_bytes(row.num_bytes) for row in rows],
        _("formula"): [f"`{row.formula}`" for row in rows],
    }
    st.markdown(table_markdown(table))
