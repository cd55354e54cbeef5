"""Module by module: parameters, bytes, FLOPs, names; and a run on random labels."""

import math
from collections.abc import Sequence
from functools import partial
from statistics import fmean
from typing import Final

import streamlit as st

from core.figures.models.layers_and_parameters.bars import modules_picture, modules_table
from core.figures.models.layers_and_parameters.curves import floor_picture
from core.figures.models.layers_and_parameters.icicle import tree_table
from core.language import _
from core.models.module_flops import TOKENS, ModuleRow, module_rows
from core.models.small import CLASSES, SMALL, losses_on_random_labels, output_shape
from core.units import format_exact, format_flops, format_percent
from pages.models.layers_and_parameters.inputs import ASK, Case, flops
from pages.models.layers_and_parameters.snippets import names_snippet
from pages.server.background import jobs
from pages.shared.charts import show_table
from pages.shared.settings import look, presenting
from pages.shared.tabbed_page import Chart, Shown

NUM_STEPS: Final = 60
NUM_LAST: Final = 20  # of the steps: a batch's own loss leaps
_losses = st.cache_data(max_entries=1, show_spinner=False)(losses_on_random_labels)


def modules(case: Case) -> Shown:
    """Compare each module's share of the parameters with its share of the FLOPs."""
    rows = module_rows(case.tree, flops(case.source))
    charts = [Chart(picture=modules_picture(rows, look()), file_name="modules")]
    headline, notes = _headline(case, rows), [_note(case, rows)]
    if case.key == "classifier":
        losses = _random_labels()
        notes.insert(0, headline)
        headline = _floor_sentence(losses)
        picture = floor_picture(losses, CLASSES, look())
        charts.insert(0, Chart(picture=picture, file_name="random-labels", key="floor"))
    return Shown(
        headline=headline,
        charts=charts,
        notes=[] if presenting() else notes,
        below=None if presenting() else partial(_below, case, rows),
        code=names_snippet(case),
    )


def _headline(case: Case, rows: tuple[ModuleRow, ...]) -> str:
    largest = max(rows, key=lambda row: row.num_params)
    all_flops = sum(row.flops for row in rows)
    said = _("`{name}` holds {params} of the parameters and does {flops} of the FLOPs")
    return said.format(
        name=largest.path or largest.node.type,
        params=format_percent(largest.num_params / case.tree.num_params),
        flops=format_percent(largest.flops / all_flops),
    )


def _note(case: Case, rows: tuple[ModuleRow, ...]) -> str:
    count = format_flops(sum(row.flops for row in rows))
    if isinstance(case.source, str):
        said = _("{flops} for an input of the shape {input}; the output has the shape {output}.")
        shapes = {"input": SMALL[case.key].input_shape, "output": output_shape(case.key)}
        return said.format(flops=count, **shapes)
    return _(
        "{flops} for {tokens} tokens, as torch counts them: products alone. An embedding is looked "
        "up and costs none; `attention` itself has no parameters but multiplies scores."
    ).format(flops=count, tokens=TOKENS)


def _below(case: Case, rows: tuple[ModuleRow, ...]) -> None:
    with st.expander(_("Every module"), icon=":material/list:", key=ASK.key("modules_table")):
        show_table(modules_table(rows))
    names = st.expander(_("Every name of the state_dict"), icon=":material/label:",
                        key=ASK.key("names_table"))  # fmt: skip
    with names:
        show_table(tree_table(case.tree))


def _random_labels() -> list[float]:
    """Train the classifier on random labels and return its losses: nothing is learned."""
    with st.spinner(_("Training on random labels …")):
        return jobs().finish("random labels", partial(_losses, NUM_STEPS))


def _floor_sentence(losses: Sequence[float]) -> str:
    said = _(
        "Random labels at each of {steps} steps: the loss stays at {loss}; guessing evenly gives "
        "ln {count} = {floor}"
    )
    return said.format(
        steps=format_exact(NUM_STEPS), loss=f"{fmean(losses[-NUM_LAST:]):.2f}", count=CLASSES,
        floor=f"{math.log(CLASSES):.4f}",
    )  # fmt: skip
