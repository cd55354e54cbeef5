"""Where the parameters of a model are, and how many of them one token passes."""

import streamlit as st

from core.budget.parameters import active_parameters, count_parameters
from core.budget.sizes import Size, nearest_model
from core.figures.budget.parameter_parts import parts_alt, parts_figure, parts_table
from core.language import _
from core.models.spec import ModelSpec
from core.units import format_count, format_exact, format_percent
from pages.panels.budget.sizes_inputs import PAGE, Case
from pages.shared.charts import show_chart
from pages.shared.header import headline
from pages.shared.numbers import explained_number
from pages.shared.settings import presenting, theme_mode


def show_parts(case: Case) -> None:
    """Show the parameters as a tree, from the whole to the matrices."""
    size = nearest_model(case.size)
    spec = _spec_of(size)
    tree, active = count_parameters(spec), active_parameters(spec)
    largest = max(tree.children, key=lambda part: part.amount)
    sentence = _("{model}: {count} parameters, {share} of them in: {part}").format(
        model=size.name,
        count=format_exact(round(tree.amount)),
        share=format_percent(largest.amount / tree.amount),
        part=_(largest.name),
    )
    if spec.mixture is not None:
        sentence += _("; a token passes {active}").format(active=format_count(active.amount))
    headline(sentence)
    if size is not case.size:
        st.caption(
            _(
                "{size} is a round number without parts: here are those of the nearest model."
            ).format(size=case.size.name)
        )
    picture, numbers = st.columns([6, 1])
    with picture:
        show_chart(
            parts_figure(tree, theme_mode(), present=presenting()),
            key=f"{PAGE}_parts_tree",
            alt=parts_alt(size.name, tree),
            table=parts_table(tree),
            file_name="parameters",
        )
    with numbers:
        explained_number(_("Parameters"), tree)
        explained_number(_("One token passes"), active)


def _spec_of(size: Size) -> ModelSpec:
    assert size.spec is not None  # noqa: S101  nearest_model gives sizes with an architecture
    return size.spec
