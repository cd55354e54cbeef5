"""Where the parameters of a model are, and how many of them are active for a token."""

from typing import Final

import streamlit as st

from core.budget.item import Item, hedged
from core.budget.weights.parameters import active_parameters, count_parameters, left_out
from core.budget.weights.sizes import nearest_model
from core.figures.budget.model_sizes.parts import parts_picture
from core.language import _
from core.units import format_count, format_exact, format_percent
from pages.plan.model_sizes.inputs import Case
from pages.shared.beside import Compared
from pages.shared.settings import look
from pages.shared.tabbed_page import Chart, Shown

CODE: Final = """
num_params = {{
{lines}
}}
for name, count in num_params.items():
    print(f"{{name:44}} {{count:18,}}")
print(f"{{'all':44}} {{sum(num_params.values()):18,}}")
print(f"active for a token {{{active}:,}}")
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
        numbers=[(_("Parameters"), tree), (_("Active for a token"), active)],
        code=write_code(tree, active),
    )


def parts_side(case: Case) -> Compared:
    """Return all parameters, those that a token passes, and each part."""
    size = nearest_model(case.size)
    assert size.spec is not None  # noqa: S101  nearest_model gives sizes with an architecture
    tree, active = count_parameters(size.spec), active_parameters(size.spec)
    return Compared(
        name=size.name,
        rows=[
            (_("Parameters"), tree),
            (_("Active for a token"), active),
            *((_(part.name), part) for part in tree.children),
        ],
        code=write_code(tree, active),
    )


def sentence(name: str, tree: Item, active: Item) -> str:
    """Return all parameters, the largest part, and what a token passes."""
    largest = max(tree.children, key=lambda part: part.amount)
    said = _("{model}: {count} parameters, {share} of them in {part}").format(
        model=name,
        count=hedged(format_exact(round(tree.amount)), tree),
        share=format_percent(largest.amount / tree.amount),
        part=_(largest.name),
    )
    if active.amount == tree.amount:
        return said
    return said + _("; {active} active for a token").format(
        active=hedged(format_count(active.amount), active)
    )


def write_code(tree: Item, active: Item) -> str:
    """Return Python that counts the parameters, part by part."""
    parts = [line for line in tree.walk() if not line.children]
    lines = [f'    "{part.name}": {part.python},' for part in parts]
    return CODE.format(lines="\n".join(lines), active=active.python)
