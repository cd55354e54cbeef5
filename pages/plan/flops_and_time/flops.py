"""The FLOPs of a step: where they go, why the rule says 6, and how far they are from 6ND."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Final

import streamlit as st

from core.budget.by_hand.rules import flops_rule, two_layer_flops
from core.budget.catalogue.models import MODELS
from core.budget.compute.conventions import crossing, six_nd_ratio
from core.budget.compute.step_flops import model_flops, step_flops
from core.budget.item import Item, hedged
from core.budget.recipe import TrainingRecipe
from core.budget.weights.parameters import counts
from core.figures.budget.flops_and_time.flops import (
    Curve,
    components_picture,
    rule_picture,
    two_layers_picture,
)
from core.language import _
from core.models.spec import ModelSpec
from core.units import format_count, format_flops, format_percent
from pages.plan.flops_and_time.inputs import (
    ASK,
    CHECKPOINTING,
    CONTEXTS,
    choose_checkpointing,
    choose_context,
    choose_the_model,
    doublings,
)
from pages.shared.beside import Compared, shown, two_names
from pages.shared.plan.choices import ChosenModel, note_long_context
from pages.shared.settings import look
from pages.shared.tabbed_page import Chart, Shown

CODE_OF_A_STEP: Final = """
from core.budget.catalogue.models import MODELS
from core.budget.compute.step_flops import step_flops
from core.budget.catalogue.hf_config import read_config
from core.budget.recipe import TrainingRecipe

recipe = TrainingRecipe(seq_len={context}, checkpointing={checkpointing!r})
step = step_flops({model}, recipe, causal={causal})
for item in step.walk():
    print(f"{{item.name:24}} {{item.amount:26,}} = {{item.formula}}")
"""
SIZES: Final = doublings(1, 2**16)
OTHERS: Final = ("gpt2", "llama-2-7b", "llama-3.1-405b")
CODE_OF_TWO_LAYERS: Final = """
import torch
from torch.utils.flop_counter import FlopCounterMode

B, D, K = {rows}, {width}, {outputs}
with torch.device("meta"):  # shapes without numbers: any size fits
    x = torch.empty(B, D, requires_grad={needed})
    w1, w2 = torch.empty(D, D, requires_grad=True), torch.empty(D, K, requires_grad=True)

with FlopCounterMode(display=False) as forward:
    y = x @ w1 @ w2
with FlopCounterMode(display=False) as backward:
    y.sum().backward()

print(f"forward  {{forward.get_total_flops():,}} FLOPs")
print(f"backward {{backward.get_total_flops():,}} FLOPs")
"""
CODE_OF_THE_RULE: Final = """
from core.budget.catalogue.models import MODELS
from core.budget.catalogue.hf_config import read_config
from core.budget.compute.conventions import CONTEXTS, crossing, six_nd_ratio

spec = {model}
for context in CONTEXTS:
    causal, full = (six_nd_ratio(spec, context, causal=each).amount for each in (True, False))
    print(f"{{context:9,}} tokens: {{causal:7.3f}} causal, {{full:7.3f}} full")
edge = crossing(spec)
where = f"at {{edge.amount:,.0f}} tokens" if edge else "never: a window holds it down"
print(f"attention equals matmul cost {{where}}")
"""


@dataclass(frozen=True, kw_only=True, slots=True)
class Step:
    """One step of training: on which sequence, and whether masked pairs are counted."""

    model: ChosenModel
    recipe: TrainingRecipe
    causal: bool


def choose_step() -> Step:
    """Show the inputs and return what they say."""
    model, context = choose_the_model(), choose_context()
    checkpointing = choose_checkpointing()
    causal = ASK.toggle(
        "causal",
        _("Causal mask"),
        default=False,
        help=_("Off counts the whole matrix of attention scores, as most published MFUs do."),
    )
    recipe = TrainingRecipe(seq_len=context, checkpointing=checkpointing)
    return Step(model=model, recipe=recipe, causal=causal)


def components(chosen: Step) -> Shown:
    """Show the FLOPs of a step, a bar a phase."""
    spec, context = chosen.model.spec, chosen.recipe.seq_len
    step = step_flops(spec, chosen.recipe, causal=chosen.causal)
    rule = flops_rule(counts(spec).active, context)
    forward = step.child("forward")
    scores = sum(part.amount for part in forward.walk() if "scores" in part.name)
    said = _(
        "{flops} for one step of {model} on {tokens} tokens: {ratio} × the 6ND rule; attention "
        "scores are {share} of the forward pass"
    ).format(
        model=spec.name,
        tokens=f"{context:,}",
        flops=hedged(format_flops(step.amount), step),
        ratio=f"{step.amount / rule.amount:.3f}",
        share=format_percent(scores / forward.amount),
    )
    return Shown(
        headline=said[:1].upper() + said[1:],
        charts=[Chart(picture=components_picture(step, look()), file_name="step-flops")],
        numbers=[
            (_("One training step"), step),
            (_("Counted for MFU"), model_flops(step)),
            (_("6ND"), rule),
        ],
        widths=(4, 1),
        below=partial(note_long_context, spec, context),
        code=_code_of_a_step(chosen),
    )


def _code_of_a_step(chosen: Step) -> str:
    return CODE_OF_A_STEP.format(
        context=chosen.recipe.seq_len,
        checkpointing=chosen.recipe.checkpointing,
        causal=chosen.causal,
        model=chosen.model.code,
    )


def two_steps(a: Sequence[Step], b: Sequence[Step]) -> Shown:
    """Show the FLOPs of two steps, phase by phase."""
    steps = (*a, *b)
    return shown(*map(_side, steps, two_names(*map(_words, steps))))


def _words(chosen: Step) -> list[str]:
    """Return a step word by word: what tells two of them apart."""
    return [
        chosen.model.spec.name,
        _("{count} tokens").format(count=f"{chosen.recipe.seq_len:,}"),
        _("checkpointing: {kind}").format(kind=_(CHECKPOINTING[chosen.recipe.checkpointing])),
        _("causal") if chosen.causal else _("full attention"),
    ]


def _side(chosen: Step, name: str) -> Compared:
    step = step_flops(chosen.model.spec, chosen.recipe, causal=chosen.causal)
    rows = [
        (_("One training step"), step),
        *((_(part.name), part) for part in step.children),
        (_("6ND"), flops_rule(counts(chosen.model.spec).active, chosen.recipe.seq_len)),
    ]
    return Compared(name=name, rows=rows, code=_code_of_a_step(chosen))


@dataclass(frozen=True, kw_only=True, slots=True)
class TwoLayers:
    """Two layers: (rows x width) @ (width x width), then @ (width x outputs)."""

    rows: int
    width: int
    outputs: int
    needed: bool


def choose_two_layers() -> TwoLayers:
    """Show the sizes of the layers and return them."""
    size = partial(ASK.select_slider, options=SIZES, labels="{:,}".format)
    return TwoLayers(
        rows=size("rows", _("Rows of x (B)"), default=1024),
        width=size("width", _("Width of x and h (D)"), default=256),
        outputs=size("outputs", _("Outputs (K)"), default=64),
        needed=ASK.toggle(
            "needed",
            _("x requires grad"),
            default=False,
            help=_("In a deep network every input but the first does: it comes from a layer."),
        ),
    )


def why_six(layers: TwoLayers) -> Shown:
    """Show where the factors 2, 4 and 6 come from, and when it is not 6."""
    step = two_layer_flops(
        layers.rows, layers.width, layers.outputs, input_needs_gradient=layers.needed
    )
    forward, backward = step.children
    said = _("Forward {forward}, backward {backward}: {ratio} × as much; by the rule it is 2 ×")
    return Shown(
        headline=said.format(
            forward=format_flops(forward.amount),
            backward=format_flops(backward.amount),
            ratio=f"{backward.amount / forward.amount:.3g}",
        ),
        charts=[Chart(picture=two_layers_picture(step, look()), file_name="two-layers")],
        numbers=[
            (_("Forward"), forward),
            (_("Backward"), backward),
            (_("One training step"), step),
        ],
        widths=(4, 1),
        code=CODE_OF_TWO_LAYERS.format(
            rows=layers.rows, width=layers.width, outputs=layers.outputs, needed=layers.needed
        ),
    )


def choose_place() -> tuple[ChosenModel, int]:
    """Show the inputs and return the model and the context that is marked."""
    return choose_the_model(), choose_context()


def rule(place: tuple[ChosenModel, int]) -> Shown:
    """Show exact FLOPs over 6ND while the context grows."""
    chosen, context = place
    spec, here = chosen.spec, CONTEXTS.index(context)
    others = (MODELS[key] for key in OTHERS if MODELS[key].name != spec.name)
    curves = [curve_of(each) for each in (spec, *others)]
    edge = crossing(spec)
    numbers = [
        (_("causal / 6ND"), six_nd_ratio(spec, context, causal=True)),
        (_("full / 6ND"), six_nd_ratio(spec, context, causal=False)),
    ]
    if edge:
        numbers.append((_("attention equals matmul cost at"), edge))
    picture = rule_picture(CONTEXTS, curves, here, look())
    return Shown(
        headline=rule_sentence(curves[0], here, edge),
        charts=[Chart(picture=picture, file_name="exact-over-6nd")],
        numbers=numbers,
        widths=(4, 1),
        code=CODE_OF_THE_RULE.format(model=chosen.code),
    )


@st.cache_data(max_entries=64, show_spinner=False)
def curve_of(spec: ModelSpec) -> Curve:
    """Return the ratios of a model at every context."""
    causal, full = (
        tuple(float(six_nd_ratio(spec, context, causal=each).amount) for context in CONTEXTS)
        for each in (True, False)
    )
    return Curve(name=spec.name, causal=causal, full=full)


def rule_sentence(curve: Curve, here: int, edge: Item | None) -> str:
    """Return the ratios at a context, and where attention costs as much as matmuls, if ever."""
    if edge is None:
        text = _(
            "{model} at {context} tokens: exact FLOPs are {causal} × 6ND (causal), {full} × (full "
            "attention); with its sliding window, attention never equals matmul cost"
        )
    else:
        text = _(
            "{model} at {context} tokens: exact FLOPs are {causal} × 6ND (causal), {full} × (full "
            "attention); attention equals matmul cost at {edge} tokens"
        )
    return text.format(
        model=curve.name,
        context=f"{CONTEXTS[here]:,}",
        causal=f"{curve.causal[here]:.3f}",
        full=f"{curve.full[here]:.3f}",
        edge=format_count(edge.amount) if edge else "",
    )
