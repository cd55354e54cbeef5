"""The FLOPs of a step, component by component; of two layers; and exact ones over the rule 6ND."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from core.budget.item import Item
from core.figures.budget.flops_frame import (
    framed,
    hatched,
    log_axis,
    rows_of_bars,
    written_beside,
)
from core.figures.picture import Drawing, Look, Picture
from core.language import N_, _
from core.units import format_flops, format_percent

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
PHASES: Final = (N_("forward"), N_("backward"), N_("extra work"))
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


def two_layers_picture(step: Item, look: Look) -> Picture:
    """Return two layers, matmul by matmul: a bar each, in the order in which they run.

    Args:
        step: What `core.budget.by_hand.rules.two_layer_flops` gave.
        look: How the reader wants to see.
    """
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
