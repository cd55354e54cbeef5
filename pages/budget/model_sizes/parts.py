"""Where the parameters of a model are, and how many of them one token passes."""

from typing import Final

import streamlit as st

from core.budget.item import Item
from core.budget.weights.parameters import active_parameters, count_parameters, left_out
from core.budget.weights.sizes import nearest_model
from core.figures.budget.model_sizes.parts import parts_picture
from core.language import _
from core.units import format_count, format_exact, format_percent
from pages.budget.model_sizes.inputs import Case
from pages.shared.settings import look
from pages.shared.tabbed_page import Chart, Shown

CODE: Final = """
from core.budget.catalogue.hf_config import read_config
from core.budget.weights.parameters import active_parameters, count_parameters
from core.budget.weights.sizes import SIZES, nearest_model
from core.budget.weights.stored import size_of

spec = nearest_model({size}).spec
for line in count_parameters(spec).walk():
    print(f"{{line.name:24}} {{line.amount:18,}} = {{line.substituted}}")
print(f"a token passes {{active_parameters(spec).amount:,}}")
"""


def parts(case: Case) -> Shown:
    """Show where the parameters are, a bar for each matrix."""
    size = nearest_model(case.size)
    assert size.spec is not None  # noqa: S101  nearest_model gives sizes with an architecture
    tree, active = count_parameters(size.spec), active_parameters(size.spec)
    if size is not case.size:
        text = _("{size} is a round number without parts: here are those of the nearest model.")
        st.caption(text.format(size=case.size.name))
    picture = parts_picture(size.name, tree, left_out(size.spec), look())
    return Shown(
        headline=sentence(size.name, tree, active),
        charts=[Chart(picture=picture, file_name="parameters")],
        numbers=[(_("Parameters"), tree), (_("One token passes"), active)],
        code=CODE.format(size=case.code),
    )


def sentence(name: str, tree: Item, active: Item) -> str:
    """Return all parameters, the largest part, and what a token passes."""
    largest = max(tree.children, key=lambda part: part.amount)
    said = _("{model}: {count} parameters, {share} of them in: {part}").format(
        model=name,
        count=format_exact(round(tree.amount)),
        share=format_percent(largest.amount / tree.amount),
        part=_(largest.name),
    )
    if active.amount == tree.amount:
        return said
    return said + _("; a token passes {active}").format(active=format_count(active.amount))
