"""The FLOPs of a step, component by component."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Final

from core.budget.by_hand.rules import flops_rule
from core.budget.compute.step_flops import model_flops, step_flops
from core.budget.item import Item, hedged
from core.budget.recipe import TrainingRecipe
from core.budget.weights.parameters import counts
from core.figures.budget.flops_frame import hatched, rows_of_bars, written_beside
from core.figures.picture import Drawing, Look, Picture
from core.language import N_, _
from core.units import format_flops, format_percent
from pages.plan.flops_and_time.inputs import (
    ASK,
    CHECKPOINTING,
    choose_checkpointing,
    choose_context,
    choose_the_model,
)
from pages.shared.beside import Compared, shown, two_names
from pages.shared.plan.choices import ChosenModel, note_long_context
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
Row = tuple[str, str, float]  # phase, component, FLOPs


def flop_rows(step: Item) -> Iterator[Row]:
    """Yield every component of every phase; the backward pass is twice the forward pass."""
    forward = step.child("forward")
    for factor, phase in ((1, "forward"), (2, "backward")):
        for part in forward.children:
            yield phase, part.name, factor * part.amount
    for child in step.children[2:]:
        for part in child.children:
            yield "extra work", part.name, part.amount


def components_picture(step: Item, look: Look) -> Picture:
    """Return one bar a phase, its total beside it.

    Args:
        step: What `core.budget.compute.step_flops.step_flops` gave, without adapters.
        look: How the reader wants to see.
    """
    drawing, rows = Drawing(), list(flop_rows(step))
    totals: defaultdict[str, float] = defaultdict(float)
    for phase, _part, amount in rows:
        totals[_(phase)] += amount
    for name in COMPONENT_LOOKS:
        _draw_component(drawing, name, rows, step.amount, look)
    num_rows = round(len(totals) + (1 if look.present else 0.5))
    x = written_beside(drawing, totals, format_flops, 1.22)
    return Picture(
        figure=rows_of_bars(drawing, look, num_rows=num_rows, x=x),
        alt=_components_sentence(rows, totals, step.amount),
        table={
            _("phase"): [_(phase) for phase, _part, _amount in rows],
            _("component"): [_(part) for _phase, part, _amount in rows],
            _("FLOPs"): [format_flops(amount) for _phase, _part, amount in rows],
            _("share"): [format_percent(amount / step.amount) for _phase, _part, amount in rows],
        },
    )


def _draw_component(
    drawing: Drawing, name: str, rows: Sequence[Row], whole: float, look: Look
) -> None:
    found = [(phase, amount) for phase, part, amount in rows if part == name]
    if not found:
        return
    meaning, pattern = COMPONENT_LOOKS[name]
    drawing.bar(
        orientation="h",
        x=[amount for _phase, amount in found],
        y=[_(phase) for phase, _amount in found],
        name=_(name),
        marker=hatched(look.color(meaning), pattern),
        customdata=[
            f"{format_flops(amount)} · {format_percent(amount / whole)}" for _phase, amount in found
        ],
        hovertemplate="%{y}: %{customdata}<extra>%{fullData.name}</extra>",
    )


def _components_sentence(rows: Sequence[Row], totals: Mapping[str, float], whole: float) -> str:
    phases = [f"{phase} {format_flops(amount)}" for phase, amount in totals.items()]
    _phase, part, amount = max(rows, key=lambda row: row[2])
    return _("One step: {phases}. The largest part is {part} with {share} of it.").format(
        phases=_(", ").join(phases), part=_(part), share=format_percent(amount / whole)
    )


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


@dataclass(frozen=True, kw_only=True, slots=True)
class Step:
    """One step of training: on which sequence, and whether masked pairs are counted."""

    model: ChosenModel
    recipe: TrainingRecipe
    causal: bool


def choose_step() -> Step:
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


TAB: Final = Tab(
    label=N_("FLOPs breakdown"), choose=choose_step, show=components, compare=two_steps
)
