"""The file of a model for llama.cpp, in the recipes that are offered most."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Final

import streamlit as st

from core.budget.item import Item, hedged
from core.budget.weights.gguf import bits_per_weight, gguf_files
from core.budget.weights.sizes import nearest_model
from core.budget.weights.stored import Size
from core.figures.budget.model_sizes.one_model import one_model_picture
from core.language import N_, _
from pages.plan.model_sizes.inputs import Case, landmarks
from pages.plan.model_sizes.one_model import one_model, what_fits
from pages.shared.settings import look
from pages.shared.tabbed_page import Chart, Shown, Tab

CODE: Final = """
num_params = {num_params:_}
num_bytes = {{  # parameters times bytes of a block over its numbers, part by part
{lines}
}}
for recipe, amount in num_bytes.items():
    print(f"{{recipe:8}} {{amount:18,}} bytes {{amount / 2**30:8.2f}} GiB", end="")
    print(f" {{8 * amount / num_params:7.3f}} bits per weight")
"""
_EXPLAINED: Final = ("Q8_0", "Q5_K_M", "Q4_K_M")
_MOST_OFFERED: Final = ("Q4_K_M", "Q8_0")  # the second where the first is refused


def gguf(case: Case) -> Shown:
    """Show the bytes of the file, recipe by recipe, or why there is no recipe."""
    size = nearest_model(case.size)
    assert size.spec is not None  # noqa: S101  nearest_model gives sizes with an architecture
    if size is not case.size:
        text = _("{size} is a round number without parts: here are those of the nearest model.")
        st.caption(text.format(size=case.size.name))
    items, refusals = gguf_files(size.spec)
    if not items:
        instead = _("Here are its weights in other formats.")
        return replace(one_model(case), headline=" ".join([*refusals, instead]))
    picture = one_model_picture(size.name, items, case.line, landmarks(), look())
    return Shown(
        headline=sentence(size, items, case),
        charts=[Chart(picture=picture, file_name="gguf-bytes")],
        numbers=[(name, items[name]) for name in _EXPLAINED if name in items],
        notes=[
            *refusals,
            _(
                "A file also holds the vocabulary and the names of its tensors: "
                "megabytes not counted here."
            ),
        ],
        code=write_code(size, items),
    )


def sentence(size: Size, items: Mapping[str, Item], case: Case) -> str:
    """Return bytes and bits of the recipe that is offered most, and what the device holds."""
    assert size.spec is not None  # noqa: S101  nearest_model gives sizes with an architecture
    recipe = next(name for name in _MOST_OFFERED if name in items)
    first = _("{model} in {recipe} is {memory}: {bits} bits per weight").format(
        model=size.name,
        recipe=recipe,
        memory=hedged(look().format_bytes(items[recipe].amount), items[recipe]),
        bits=f"{bits_per_weight(size.spec, items[recipe]):.2f}",
    )
    return first + _("; ") + what_fits(case.line, items)


def write_code(size: Size, items: Mapping[str, Item]) -> str:
    """Return Python that adds up the parts of each file."""
    lines = [f'    "{name}": {item.python},' for name, item in items.items()]
    return CODE.format(num_params=size.num_params, lines="\n".join(lines))


TAB: Final = Tab(label=N_("GGUF files"), show=gguf, unseen=["format", "formats"])
