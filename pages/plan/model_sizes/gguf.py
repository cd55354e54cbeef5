"""The file of a model for llama.cpp, in the recipes that are offered most."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from core.budget.item import Item, hedged
from core.budget.weights.gguf import bits_per_weight, gguf_files
from core.budget.weights.parameters import counts
from core.language import N_, _
from core.language.listing import followed_by
from core.models.spec import ModelSpec
from pages.plan.model_sizes.inputs import Case, with_parts
from pages.plan.model_sizes.one_model import one_model, one_model_picture, what_fits
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
    spec = with_parts(case.size)
    items, refusals = gguf_files(spec)
    if not items:
        instead = _("Here are its weights in other formats.")
        return replace(one_model(case), headline=followed_by(*refusals, instead))
    picture = one_model_picture(spec.name, items, case.line, look())
    return Shown(
        headline=sentence(spec, items, case),
        charts=[Chart(picture=picture, file_name="gguf-bytes")],
        numbers=[(name, items[name]) for name in _EXPLAINED if name in items],
        notes=[
            *refusals,
            _(
                "A file also holds the vocabulary and the names of its tensors: "
                "megabytes not counted here."
            ),
        ],
        code=write_code(spec, items),
    )


def sentence(spec: ModelSpec, items: Mapping[str, Item], case: Case) -> str:
    """Return bytes and bits of the recipe that is offered most, and what the device holds."""
    recipe = next(name for name in _MOST_OFFERED if name in items)
    first = _("{model} in {recipe} is {memory}: {bits} bits per weight").format(
        model=spec.name,
        recipe=recipe,
        memory=hedged(look().format_bytes(items[recipe].amount), items[recipe]),
        bits=f"{bits_per_weight(spec, items[recipe]):.2f}",
    )
    return first + _("; ") + what_fits(case.line, items)


def write_code(spec: ModelSpec, items: Mapping[str, Item]) -> str:
    lines = [f'    "{name}": {item.python},' for name, item in items.items()]
    return CODE.format(num_params=counts(spec).total, lines="\n".join(lines))


TAB: Final = Tab(label=N_("GGUF files"), show=gguf, unseen=["formats"])
