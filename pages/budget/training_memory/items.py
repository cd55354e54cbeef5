"""The budget taken apart into its lines, each with its formula and the tensors behind it."""

from collections.abc import Sequence
from typing import Any, Final

import streamlit as st

from core.budget.budget import Budget, at_peak
from core.budget.item import Item, total
from core.budget.share import shares
from core.budget.training.activations import kept_list
from core.budget.training.memory import training_budget
from core.budget.training.scenario import Scenario
from core.figures.budget.training_memory.items import SEPARATOR, boxes, items_picture
from core.language import _
from core.units import format_percent
from pages.budget.training_memory.inputs import ASK, Case
from pages.shared.answer import explanation
from pages.shared.charts import table_markdown
from pages.shared.settings import look
from pages.shared.tabbed_page import Chart, Shown

_BLOCK: Final = ("norms", "attention", "feed-forward", "experts", "block inputs")
_WEIGHTS: Final = (
    *("compute weights", "master weights", "frozen weights", "quantized weights"),
    *("frozen weights in 16 bits", "adapters"),
)
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
        "item", _("Line"), PATHS, default="activations/attention", labels=path_label
    )


def items(case: Case, asked: str) -> Shown:
    """Show the lines as an icicle, and below it what stands behind the chosen one."""
    scenario = case.scenario
    budget = training_budget(scenario.spec, scenario.recipe, scenario.cluster)
    largest = budget.largest
    root = total(largest.name, at_peak(largest), source=largest.source)
    path, line = find(root, asked)

    def explain() -> None:
        formula, tensors = st.columns(2)
        with formula:
            if path != asked:
                st.caption(_("This setting has no line “{line}”.").format(line=path_label(asked)))
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
    """Return the line of a path; the nearest one above it where the setting has no such line."""
    lines = {box.path: box.item for box in boxes(root)}
    while asked not in lines:
        asked = asked.rpartition(SEPARATOR)[0]
    return asked, lines[asked]


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
    if part not in _BLOCK or whole not in {"activations", "recomputed activations"}:
        st.caption(_("Choose a part of the activations to see every tensor in it."))
        return
    split = shares(case.spec, case.cluster, case.recipe.accumulation)
    share = split[budget.stages.index(budget.largest)]
    again = whole == "recomputed activations"
    rows = kept_list(case.spec, case.recipe, share, part, again=again)
    st.caption(_("The tensors of one layer, and the operation that keeps each:"))
    table = {
        _("tensor"): [_(row.what) for row in rows],
        _("kept by"): [row.op for row in rows],
        _("bytes"): [look().format_bytes(row.num_bytes) for row in rows],
        _("formula"): [f"`{row.formula}`" for row in rows],
    }
    st.markdown(table_markdown(table))
