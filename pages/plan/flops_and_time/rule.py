"""The rule 6ND: how far a model is from it, and where the factor 6 comes from."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Final

import streamlit as st

from core.budget.by_hand.rules import two_layer_flops
from core.budget.catalogue.models import MODELS
from core.budget.compute.conventions import crossing, six_nd_ratio
from core.budget.item import Item
from core.figures.budget.frames import framed, hatched, log_axis, rows_of_bars, written_beside
from core.figures.picture import Drawing, Look, Picture
from core.language import N_, _
from core.models.spec import ModelSpec
from core.units import format_count, format_flops
from pages.plan.flops_and_time.inputs import ASK
from pages.shared.plan.choices import TRAINED_LENGTHS, stops
from pages.shared.plan.plan import Chosen, choose_plan
from pages.shared.settings import look
from pages.shared.tabbed_page import Chart, Shown, Tab

_TICKS: Final = (1, 1.5, 2, 3, 5, 10, 20, 50)
_CLOSE_TICKS: Final = (1.5, 3)  # too close to their neighbours in large text
_OTHERS: Final = (("format_b", "dot", 2), ("format_c", "dashdot", 2), ("format_d", "longdash", 2))


@dataclass(frozen=True, kw_only=True, slots=True)
class Curve:
    """One model: its ratios at each context."""

    name: str
    causal: Sequence[float]
    full: Sequence[float]


def two_layers_picture(step: Item, look: Look) -> Picture:
    """Return two layers, matmul by matmul: a bar each, in the order in which they run."""
    drawing = Drawing()
    for phase, pattern in zip(step.children, ("", "/"), strict=True):
        drawing.bar(
            orientation="h",
            x=[part.amount for part in phase.children],
            y=[part.name for part in phase.children],
            name=f"{_(phase.name)} · {format_flops(phase.amount)}",
            marker=hatched(look.color(phase.name), pattern),
            customdata=[[part.formula, part.substituted] for part in phase.children],
            hovertemplate="%{customdata[0]}<br>= %{customdata[1]}<extra></extra>",
        )
    rows = [(phase, part) for phase in step.children for part in phase.children]
    amounts = {part.name: part.amount for _phase, part in rows}
    x = written_beside(drawing, amounts, format_flops, 1.3)
    products = [f"{name} {format_flops(amount)}" for name, amount in amounts.items()]
    table = {
        _("phase"): [_(phase.name) for phase, _part in rows],
        _("matmul"): [part.name for _phase, part in rows],
        _("formula"): [part.formula for _phase, part in rows],
        _("FLOPs"): [f"{part.amount:,}" for _phase, part in rows],
    }
    return Picture(
        figure=rows_of_bars(drawing, look, num_rows=len(rows), x=x),
        alt=_("The matrix products of two layers: {parts}.").format(parts=_(", ").join(products)),
        table=table,
    )


def rule_picture(
    contexts: Sequence[int], curves: Sequence[Curve], here: int, look: Look
) -> Picture:
    """Return the chosen model's two lines, thin lines of others, and the rule itself at 1."""
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
    chosen, *others = curves[:2] if look.present else curves  # large text has room for one more
    causal, full = _names(chosen)
    lines = [
        *((each.name, each.causal, *style) for each, style in zip(others, _OTHERS, strict=False)),
        (causal, chosen.causal, "format_a", "solid", 4),
        (full, chosen.full, "format_a", "dash", 4),
    ]
    for name, ratios, meaning, dash, width in lines:
        drawing.scatter(
            x=list(contexts), y=list(ratios), mode="lines", name=name,
            line={"color": look.color(meaning), "dash": dash, "width": width},
            hovertemplate="%{x:,}: %{y:.3f}<extra>%{fullData.name}</extra>",
        )  # fmt: skip


def _names(curve: Curve) -> tuple[str, str]:
    texts = (_("{model}, causal"), _("{model}, full attention"))
    return texts[0].format(model=curve.name), texts[1].format(model=curve.name)


SIZES: Final = stops(1, 2**16)
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
class TwoLayers:
    """Two layers: (rows x width) @ (width x width), then @ (width x outputs)."""

    rows: int
    width: int
    outputs: int
    needed: bool


def choose_two_layers() -> TwoLayers:
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


def rule(chosen: Chosen) -> Shown:
    """Show exact FLOPs over 6ND while the context grows."""
    spec, context = chosen.plan.spec, chosen.asked_len
    contexts = tuple(sorted({*TRAINED_LENGTHS, context}))
    others = (MODELS[key] for key in OTHERS if MODELS[key].name != spec.name)
    curves = [curve_of(each, contexts) for each in (spec, *others)]
    edge, here = crossing(spec), contexts.index(context)
    numbers = [
        (_("causal / 6ND"), six_nd_ratio(spec, context, causal=True)),
        (_("full / 6ND"), six_nd_ratio(spec, context, causal=False)),
    ]
    if edge:
        numbers.append((_("attention equals matmul cost at"), edge))
    picture = rule_picture(contexts, curves, here, look())
    return Shown(
        headline=rule_sentence(curves[0], context, here, edge),
        charts=[Chart(picture=picture, file_name="exact-over-6nd")],
        numbers=numbers,
        widths=(4, 1),
        code=CODE_OF_THE_RULE.format(model=chosen.model.code),
    )


@st.cache_data(max_entries=64, show_spinner=False)
def curve_of(spec: ModelSpec, contexts: Sequence[int]) -> Curve:
    causal, full = (
        tuple(float(six_nd_ratio(spec, context, causal=each).amount) for context in contexts)
        for each in (True, False)
    )
    return Curve(name=spec.name, causal=causal, full=full)


def rule_sentence(curve: Curve, context: int, here: int, edge: Item | None) -> str:
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
        context=f"{context:,}",
        causal=f"{curve.causal[here]:.3f}",
        full=f"{curve.full[here]:.3f}",
        edge=format_count(edge.amount) if edge else "",
    )


def choose() -> Chosen:
    """Show whether a model or two layers are looked at, and the inputs of that."""
    words = {"model": N_("a model"), "layers": N_("two layers: why 6?")}
    of = ASK.segmented("of", _("FLOPs of"), words, default="model")
    if of == "model":
        return choose_plan(("length", "model"), {})
    layers = choose_two_layers()
    return replace(choose_plan((), {}), own=layers)


def model_or_layers(chosen: Chosen) -> Shown:
    return why_six(chosen.own) if isinstance(chosen.own, TwoLayers) else rule(chosen)


TAB: Final = Tab(label=N_("6ND"), show=model_or_layers)
