"""The FLOPs of a step, component by component."""

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import Final

from core.budget.by_hand.rules import flops_rule
from core.budget.compute.step_flops import model_flops, step_flops
from core.budget.item import Item, hedged
from core.budget.recipe import TrainingRecipe
from core.budget.weights.parameters import counts
from core.figures.budget.frames import rows_of_bars, stack, written_beside
from core.figures.picture import Drawing, Look, Picture
from core.language import N_, _
from core.units import format_flops, format_percent
from pages.plan.flops_and_time.inputs import ASK, compared
from pages.shared.beside import Compared
from pages.shared.plan.choices import note_long_context
from pages.shared.plan.plan import TRAINING, Chosen, arguments, choose_plan
from pages.shared.settings import look
from pages.shared.tabbed_page import Chart, Shown, Tab

COMPONENT_LOOKS: Final[Mapping[str, tuple[str, str]]] = {
    "attention projections": ("attention", ""),
    "attention scores": ("attention", "/"),
    "windowed scores": ("attention", "x"),
    "index projections": ("kv_cache", ""),
    "index scores": ("kv_cache", "/"),
    "feed-forward": ("feed_forward", ""),
    "experts": ("experts", ""),
    "shared experts": ("experts", "/"),
    "router": ("norms", ""),
    "head": ("embedding", ""),
    "multi-token prediction": ("temporary", "/"),
    "scores again": ("attention", "\\"),
    "padded values": ("temporary", "."),
    "logits again": ("embedding", "\\"),
    "blocks again": ("norms", "\\"),
}
"""Component -> its colour and its hatching."""


def flop_rows(step: Item) -> dict[str, dict[str, float]]:
    """Return every component of every phase; the backward pass is twice the forward pass."""
    forward = {part.name: part.amount for part in step.child("forward").children}
    rows = {"forward": forward, "backward": {name: 2 * each for name, each in forward.items()}}
    extra = {part.name: part.amount for child in step.children[2:] for part in child.children}
    return rows | ({"extra work": extra} if extra else {})


def components_picture(step: Item, look: Look) -> Picture:
    """Return one bar a phase of a step without adapters, its total beside it."""
    drawing = Drawing()
    rows = {_(phase): parts for phase, parts in flop_rows(step).items()}
    cells = [(phase, *part) for phase, parts in rows.items() for part in parts.items()]
    stack(drawing, rows, COMPONENT_LOOKS, format_flops, look, whole=step.amount)
    totals = {phase: sum(parts.values()) for phase, parts in rows.items()}
    num_rows = round(len(totals) + (1 if look.present else 0.5))
    x = written_beside(drawing, totals, format_flops, 1.22)
    phases = [f"{phase} {format_flops(amount)}" for phase, amount in totals.items()]
    _phase, largest, amount = max(cells, key=lambda cell: cell[2])
    return Picture(
        figure=rows_of_bars(drawing, look, num_rows=num_rows, x=x),
        alt=_(
            "One step: {phases}. The largest part is {part} with {share} of it.",
            phases=_(", ").join(phases),
            part=_(largest),
            share=format_percent(amount / step.amount),
        ),
        table={
            _("phase"): [phase for phase, _part, _amount in cells],
            _("component"): [_(part) for _phase, part, _amount in cells],
            _("FLOPs"): [format_flops(amount) for _phase, _part, amount in cells],
            _("share"): [format_percent(amount / step.amount) for *_cell, amount in cells],
        },
    )


CODE_OF_A_STEP: Final = """
from core.budget.catalogue.models import MODELS
from core.budget.compute.step_flops import step_flops
from core.budget.catalogue.hf_config import read_config
from core.budget.recipe import TrainingRecipe

step = step_flops({model}, TrainingRecipe({recipe}), causal={causal})
for item in step.walk():
    print(f"{{item.name:24}} {{item.amount:26,}} = {{item.formula}}")
"""


def choose() -> Chosen:
    chosen = choose_plan(("length", "model", "checkpointing"), {_("Training"): TRAINING})
    causal = ASK.toggle(
        "causal",
        _("Causal mask"),
        default=False,
        help=_("Off counts the whole matrix of attention scores, as most published MFUs do."),
    )
    return replace(chosen, own=causal)


def one_sequence(chosen: Chosen) -> TrainingRecipe:
    """Return the plan's recipe on one sequence as asked for, with every weight trained."""
    return replace(chosen.plan.recipe, batch_size=1, seq_len=chosen.asked_len, lora=None)


def components(chosen: Chosen) -> Shown:
    spec, recipe = chosen.plan.spec, one_sequence(chosen)
    step = step_flops(spec, recipe, causal=chosen.own)
    rule = flops_rule(counts(spec).active, recipe.seq_len)
    forward = step.child("forward")
    scores = sum(part.amount for part in forward.walk() if "scores" in part.name)
    said = _(
        "{flops} for one step of {model} on {tokens} tokens: {ratio} × the 6ND rule; attention "
        "scores are {share} of the forward pass",
        model=spec.name,
        tokens=f"{recipe.seq_len:,}",
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
        below=partial(note_long_context, spec, chosen.asked_len),
        code=_code(chosen),
    )


def _code(chosen: Chosen) -> str:
    return CODE_OF_A_STEP.format(
        recipe=arguments(one_sequence(chosen)), causal=chosen.own, model=chosen.model.code
    )


def _side(chosen: Chosen, name: str) -> Compared:
    spec, recipe = chosen.plan.spec, one_sequence(chosen)
    step = step_flops(spec, recipe, causal=chosen.own)
    rows = [
        (_("One training step"), step),
        *((_(part.name), part) for part in step.children),
        (_("6ND"), flops_rule(counts(spec).active, recipe.seq_len)),
    ]
    return Compared(name=name, rows=rows, code=_code(chosen))


TAB: Final = Tab(
    label=N_("FLOPs breakdown"),
    show=components,
    compare=compared(lambda causal: [_("causal") if causal else _("full attention")], _side),
)
