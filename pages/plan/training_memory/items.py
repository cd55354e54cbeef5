"""The budget taken apart into its parts, each with its formula and the tensors behind it."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Final

import streamlit as st

from core.budget.budget import Budget, at_peak
from core.budget.catalogue.precisions import PRECISIONS
from core.budget.item import Item, total
from core.budget.share import shares
from core.budget.training.activations import kept_list
from core.budget.training.memory import training_budget
from core.budget.training.scenario import Scenario
from core.figures.budget.training_memory.items import SEPARATOR, boxes, items_picture
from core.language import _
from core.units import format_percent
from pages.plan.training_memory.inputs import ASK, Case
from pages.shared.answer import explanation
from pages.shared.charts import table_markdown
from pages.shared.settings import look
from pages.shared.tabbed_page import Chart, Shown

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
    """Return the path of the line to explain."""
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
    """Return the names from the whole down to a line."""
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
    """Return a line, its bytes, and its share of the whole."""
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
