"""The tab of components: where the FLOPs of a step go."""

from typing import Final, cast

from streamlit.delta_generator import DeltaGenerator

from core.budget.by_hand.rules import flops_rule
from core.budget.compute.step_flops import model_flops, step_flops
from core.budget.item import Item
from core.budget.recipe import Checkpointing, TrainingRecipe
from core.budget.weights.parameters import counts
from core.figures.budget.flops_and_time.flop_bars import flop_bars, flop_bars_alt, flop_bars_table
from core.language import _
from core.units import format_flops, format_percent
from pages.budget.flops_and_time import places
from pages.budget.flops_and_time.places import PAGE
from pages.shared import pickers
from pages.shared.budget.long_context import note_long_context
from pages.shared.charts import show_chart
from pages.shared.header import headline
from pages.shared.settings import presenting, theme_mode

CODE: Final = """
from core.budget.catalogue.models import MODELS
from core.budget.compute.step_flops import step_flops
from core.budget.catalogue.hf_config import read_config
from core.budget.recipe import TrainingRecipe

recipe = TrainingRecipe(seq_len={context}, checkpointing={checkpointing!r})
step = step_flops({model}, recipe, causal={causal})
for item in step.walk():
    print(f"{{item.name:24}} {{item.amount:26,}} = {{item.formula}}")
"""


def show_components(row: DeltaGenerator) -> str:
    """Show the tab and return the code of its number."""
    with row:
        chosen = places.model()
        context = places.context()
        with places.aside():
            checkpointing = places.checkpointing()
            causal = _causal()
    recipe = TrainingRecipe(seq_len=context, checkpointing=cast("Checkpointing", checkpointing))
    step = step_flops(chosen.spec, recipe, causal=causal)
    rule = flops_rule(counts(chosen.spec).active, context)
    headline(sentence(chosen.spec.name, context, step, rule))
    _show(step, rule)
    note_long_context(chosen.spec, context)
    return CODE.format(
        context=context, checkpointing=checkpointing, causal=causal, model=chosen.code
    )


def _causal() -> bool:
    return pickers.toggle(
        PAGE,
        "causal",
        _("Causal: masked pairs cost nothing"),
        default=False,
        help=_("Off counts the whole square of scores, as most published MFUs do."),
    )


def _show(step: Item, rule: Item) -> None:
    picture, numbers = places.picture_and_numbers()
    with picture:
        show_chart(
            flop_bars(step, theme_mode(), present=presenting()),
            key="flops_components_chart",
            alt=flop_bars_alt(step),
            table=flop_bars_table(step),
            file_name="step-flops",
        )
    places.show_numbers(
        numbers,
        [(_("One step"), step), (_("Counted for MFU"), model_flops(step)), (_("6ND"), rule)],
    )


def sentence(name: str, context: int, step: Item, rule: Item) -> str:
    """Return the FLOPs of a step beside the rule of thumb, and the share of the scores."""
    parts = step.child("forward").children
    scores = sum(part.amount for part in parts if "scores" in part.name)
    return _(
        "{model}, one step on {tokens} tokens: {flops}, {ratio} × the 6ND rule; the scores are "
        "{share} of the forward pass"
    ).format(
        model=name,
        tokens=f"{context:,}",
        flops=format_flops(step.amount),
        ratio=f"{step.amount / rule.amount:.3f}",
        share=format_percent(scores / step.child("forward").amount),
    )
