"""The FLOPs of a step, component by component."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Final

import streamlit as st

from core.budget.by_hand.rules import flops_rule
from core.budget.catalogue.models import MODELS
from core.budget.compute.conventions import crossing, six_nd_ratio
from core.budget.compute.step_flops import model_flops, step_flops
from core.budget.item import Item, hedged
from core.budget.recipe import TrainingRecipe
from core.budget.weights.parameters import counts
from core.figures.budget.flops_frame import framed, hatched, log_axis, rows_of_bars, written_beside
from core.figures.picture import Drawing, Look, Picture
from core.language import N_, _
from core.models.spec import ModelSpec
from core.units import format_count, format_flops, format_percent
from pages.plan.flops_and_time.inputs import (
    ASK,
    CHECKPOINTING,
    CONTEXTS,
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
_TICKS: Final = (1, 1.5, 2, 3, 5, 10, 20, 50)
_CLOSE_TICKS: Final = (1.5, 3)  # too close to their neighbours in large text
_OTHERS: Final = (
    ("format_b", "dot", 2),
    ("format_c", "dashdot", 2),
    ("format_d", "longdash", 2),
)
Row = tuple[str, str, float]  # phase, component, FLOPs


@dataclass(frozen=True, kw_only=True, slots=True)
class Curve:
    """One model: its ratios at each context."""

    name: str
    causal: Sequence[float]
    full: Sequence[float]


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
    """Draw a component's piece of every phase that has one."""
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
    """Return each phase, and the largest component."""
    phases = [f"{phase} {format_flops(amount)}" for phase, amount in totals.items()]
    _phase, part, amount = max(rows, key=lambda row: row[2])
    return _("One step: {phases}. The largest part is {part} with {share} of it.").format(
        phases=_(", ").join(phases), part=_(part), share=format_percent(amount / whole)
    )


def rule_picture(
    contexts: Sequence[int], curves: Sequence[Curve], here: int, look: Look
) -> Picture:
    """Return the chosen model's two lines, thin lines of others, and the rule itself at 1.

    Args:
        contexts: Tokens of a sequence.
        curves: The chosen model first.
        here: Place among `contexts` that is marked.
        look: How the reader wants to see.
    """
    drawing = Drawing()
    _draw_curves(drawing, contexts, curves, look)
    drawing.scatter(
        x=[contexts[0], contexts[-1]], y=[1, 1], mode="lines", name=_("the rule 6ND"),
        hoverinfo="skip", line={"color": look.color("reference"), "width": 2},
    )  # fmt: skip
    drawing.scatter(
        x=[contexts[here]] * 2, y=[curves[0].causal[here], curves[0].full[here]],
        mode="markers", showlegend=False,
        marker={"color": look.color("format_a"), "size": 14},
        hovertemplate="%{x:,}: %{y:.3f}<extra></extra>",
    )  # fmt: skip
    powers_of_two = [each for each in contexts if each & (each - 1) == 0]
    shown = powers_of_two[:: 3 if look.present else 1]
    ticks = [tick for tick in _TICKS if not (look.present and tick in _CLOSE_TICKS)]
    x = log_axis(shown, _context_words, title=_("sequence length"))
    y = log_axis(ticks, "{:g}".format, title=_("exact FLOPs / 6ND"))
    columns: dict[str, Sequence[object]] = {
        _("sequence length"): [f"{each:,}" for each in contexts]
    }
    for curve in curves:
        causal, full = _names(curve)
        columns |= {causal: list(curve.causal), full: list(curve.full)}
    parts = [
        _("{model} {causal} causal and {full} full").format(
            model=curve.name, causal=f"{curve.causal[here]:.3f}", full=f"{curve.full[here]:.3f}"
        )
        for curve in curves
    ]
    return Picture(
        figure=framed(drawing, look, x=x, y=y),
        alt=_("Exact FLOPs over 6ND at {context} tokens: {models}.").format(
            context=f"{contexts[here]:,}", models=_(", ").join(parts)
        ),
        table=columns,
    )


def _context_words(tokens: int) -> str:
    return f"{tokens // 1024} k" if tokens >= 1024 else str(tokens)


def _draw_curves(
    drawing: Drawing, contexts: Sequence[int], curves: Sequence[Curve], look: Look
) -> None:
    """Draw thin lines of the others, then the chosen model's two."""
    chosen, *others = curves[:2] if look.present else curves  # large text has room for one more
    causal, full = _names(chosen)
    lines = [
        *((each.name, each.causal, *style) for each, style in zip(others, _OTHERS, strict=False)),
        (causal, chosen.causal, "format_a", "solid", 4),
        (full, chosen.full, "format_a", "dash", 4),
    ]
    for name, ratios, meaning, dash, width in lines:
        drawing.scatter(
            x=list(contexts),
            y=list(ratios),
            mode="lines",
            name=name,
            line={"color": look.color(meaning), "dash": dash, "width": width},
            hovertemplate="%{x:,}: %{y:.3f}<extra>%{fullData.name}</extra>",
        )


def _names(curve: Curve) -> tuple[str, str]:
    """Return what the two lines of a model are called."""
    texts = (_("{model}, causal"), _("{model}, full attention"))
    return texts[0].format(model=curve.name), texts[1].format(model=curve.name)


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
OTHERS: Final = ("gpt2", "llama-2-7b", "llama-3.1-405b")
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


TAB: Final = Tab(
    label=N_("FLOPs breakdown"), choose=choose_step, show=components, compare=two_steps
)
