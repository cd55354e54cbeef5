"""The tab of the rule: exact FLOPs over 6ND while the context grows."""

from typing import Final

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from core.budget.catalogue.models import MODELS
from core.budget.compute.conventions import CONTEXTS, crossing, six_nd_ratio
from core.budget.item import Item
from core.figures.budget.flops_and_time.six_nd_lines import (
    Curve,
    six_nd_alt,
    six_nd_lines,
    six_nd_table,
)
from core.language import _
from core.models.spec import ModelSpec
from core.units import format_count
from pages.budget.flops_and_time import places
from pages.shared.charts import show_chart
from pages.shared.header import headline
from pages.shared.settings import presenting, theme_mode

OTHERS: Final = ("gpt2", "llama-2-7b", "llama-3.1-405b")
CODE: Final = """
from core.budget.catalogue.models import MODELS
from core.budget.catalogue.hf_config import read_config
from core.budget.compute.conventions import CONTEXTS, crossing, six_nd_ratio

spec = {model}
for context in CONTEXTS:
    causal, full = (six_nd_ratio(spec, context, causal=each).amount for each in (True, False))
    print(f"{{context:9,}} tokens: {{causal:7.3f}} causal, {{full:7.3f}} full")
edge = crossing(spec)
where = f"at {{edge.amount:,.0f}} tokens" if edge else "never: a window holds it down"
print(f"attention costs as much as all else {{where}}")
"""


@st.cache_data(max_entries=64, show_spinner=False)
def curve_of(spec: ModelSpec) -> Curve:
    """Return the ratios of a model at every context."""
    causal, full = (
        tuple(float(six_nd_ratio(spec, context, causal=each).amount) for context in CONTEXTS)
        for each in (True, False)
    )
    return Curve(name=spec.name, causal=causal, full=full)


def show_six_nd(row: DeltaGenerator) -> str:
    """Show the tab and return the code of its number."""
    with row:
        chosen = places.model()
        context = places.context()
    here = CONTEXTS.index(context)
    curves = [curve_of(chosen.spec)]
    curves += [curve_of(MODELS[key]) for key in OTHERS if MODELS[key].name != chosen.spec.name]
    headline(sentence(curves[0], here, crossing(chosen.spec)))
    picture, numbers = places.picture_and_numbers()
    with picture:
        show_chart(
            six_nd_lines(CONTEXTS, curves, here, theme_mode(), present=presenting()),
            key="flops_six_nd_chart",
            alt=six_nd_alt(CONTEXTS, curves, here),
            table=six_nd_table(CONTEXTS, curves),
            file_name="exact-over-6nd",
        )
    places.show_numbers(numbers, _numbers(chosen.spec, context))
    return CODE.format(model=chosen.code)


def sentence(curve: Curve, here: int, edge: Item | None) -> str:
    """Return the ratios at a context, and where scores cost as much as all matrices, if ever."""
    if edge is None:
        text = _(
            "{model} at {context} tokens: exact FLOPs are {causal} × 6ND behind a causal mask, "
            "{full} × in full; behind its windows scores never cost as much as all matrices"
        )
    else:
        text = _(
            "{model} at {context} tokens: exact FLOPs are {causal} × 6ND behind a causal mask, "
            "{full} × in full; scores cost as much as all matrices at {edge} tokens"
        )
    return text.format(
        model=curve.name,
        context=f"{CONTEXTS[here]:,}",
        causal=f"{curve.causal[here]:.3f}",
        full=f"{curve.full[here]:.3f}",
        edge=format_count(edge.amount) if edge else "",
    )


def _numbers(spec: ModelSpec, context: int) -> list[tuple[str, Item]]:
    items = [
        (_("causal / 6ND"), six_nd_ratio(spec, context, causal=True)),
        (_("full / 6ND"), six_nd_ratio(spec, context, causal=False)),
    ]
    edge = crossing(spec)
    return [*items, (_("scores = matrices at"), edge)] if edge else items
