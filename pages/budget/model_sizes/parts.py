"""Where the parameters of a model are, and how many of them one token passes."""

from typing import Final

import streamlit as st

from core.budget.catalogue.parameters import active_parameters, count_parameters
from core.budget.catalogue.sizes import Size, nearest_model
from core.budget.item import Item
from core.figures.budget.model_sizes.parameter_parts import parts_alt, parts_figure, parts_table
from core.language import _
from core.models.spec import ModelSpec
from core.units import format_count, format_exact, format_percent
from pages.budget.model_sizes.inputs import PAGE, Case
from pages.shared.budget.beside import beside
from pages.shared.charts import show_chart
from pages.shared.header import headline
from pages.shared.numbers import explained_number
from pages.shared.settings import presenting, theme_mode

CODE: Final = """
from core.budget.catalogue.hf_config import read_config
from core.budget.catalogue.parameters import active_parameters, count_parameters
from core.budget.catalogue.sizes import SIZES, nearest_model, size_of

spec = nearest_model({size}).spec
for line in count_parameters(spec).walk():
    print(f"{{line.name:24}} {{line.amount:18,}} = {{line.substituted}}")
print(f"a token passes {{active_parameters(spec).amount:,}}")
"""


def show_parts(case: Case) -> str:
    """Show where the parameters are, a bar for each matrix, and return Python that counts them."""
    size = nearest_model(case.size)
    spec = _spec_of(size)
    tree, active = count_parameters(spec), active_parameters(spec)
    headline(parts_headline(size.name, tree, active))
    if size is not case.size:
        st.caption(
            _(
                "{size} is a round number without parts: here are those of the nearest model."
            ).format(size=case.size.name)
        )
    picture, numbers = beside(f"{PAGE}_parts")
    with picture:
        show_chart(
            parts_figure(tree, tree.amount - active.amount, theme_mode(), present=presenting()),
            key=f"{PAGE}_parts_tree",
            alt=parts_alt(size.name, tree),
            table=parts_table(tree),
            file_name="parameters",
        )
    with numbers:
        explained_number(_("Parameters"), tree)
        explained_number(_("One token passes"), active)
    return CODE.format(size=case.code)


def parts_headline(name: str, tree: Item, active: Item) -> str:
    """Return the sentence: all parameters, the largest part, and what a token passes."""
    largest = max(tree.children, key=lambda part: part.amount)
    sentence = _("{model}: {count} parameters, {share} of them in: {part}").format(
        model=name,
        count=format_exact(round(tree.amount)),
        share=format_percent(largest.amount / tree.amount),
        part=_(largest.name),
    )
    if active.amount == tree.amount:
        return sentence
    return sentence + _("; a token passes {active}").format(active=format_count(active.amount))


def _spec_of(size: Size) -> ModelSpec:
    assert size.spec is not None  # noqa: S101  nearest_model gives sizes with an architecture
    return size.spec
