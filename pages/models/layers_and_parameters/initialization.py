"""What a first draw of the weights does to activations, to gradients and to the first loss."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any, Final

import streamlit as st

from core.budget.item import Formula, Item, Number, item
from core.figures.picture import Drawing, Look, Picture
from core.language import N_, _
from core.models.initialisation import (
    ACTIVATIONS,
    SCHEMES,
    Spread,
    Stack,
    Truncation,
    measure_spread,
    product_spread,
    truncation,
)
from core.units import format_exact
from pages.models.layers_and_parameters.first_loss import choose_std, first_loss, random_labels
from pages.models.layers_and_parameters.inputs import ASK, layout_with
from pages.shared.questions import Choice, predict_then_reveal
from pages.shared.settings import look, presenting
from pages.shared.tabbed_page import Chart, Shown, Tab

WIDTHS: Final = (32, 64, 128, 256, 512)
FAN_INS: Final = (256, 1024, 4096, 16384)
MOST_LAYERS: Final = 32
BOUNDS: Final = {"absolute": "±3", "sigmas": "±3σ"}
VIEWS: Final = {
    "activations": N_("activations by layer"),
    "gradients": N_("gradients by layer"),
    "product": N_("one product x @ w"),
    "bound": N_("truncated normal"),
    "loss": N_("first loss of a GPT"),
    "labels": N_("loss on random labels"),
}
PRODUCT: Final = Formula("fan_in ** 0.5 * std_w")
BOUND: Final = Formula("bound / (1 / fan_in ** 0.5)")
_SOURCE: Final = N_("variances of independent numbers add")
_COMPARED: Final = ("unit", "fan_in", "kaiming", "gpt2")
_COLORS: Final = ("accent", "candidate_high", "optimizer", "muted", "backward", "activations")
_DASHES: Final = ("solid", "dash", "dot", "dashdot", "longdash", "solid")
_SMALLEST, _LARGEST = 1e-30, 1e30  # beyond them an axis has no place
_MOST_TICKS: Final = 6
_SHOWN_SIGMAS: Final = 6
_spread = st.cache_data(max_entries=256, show_spinner=False)(measure_spread)
_product = st.cache_data(max_entries=8, show_spinner=False)(product_spread)
_truncation = st.cache_data(max_entries=8, show_spinner=False)(truncation)
_STACK_CODE: Final = """
import torch
from torch import nn

torch.manual_seed(0)
num_layers, fan_in = {num_layers}, {width}
h = torch.randn(64, fan_in)
for layer in range(num_layers):
    w = torch.empty(fan_in, fan_in)
    {draw}
    out = {activation}
    h = {step}
print(f"std {{h.std():.3g}} after {{num_layers}} layers")
"""
_ACTIVATIONS_CODE: Final = {
    "none": "h @ w.T",
    "relu": "torch.relu(h @ w.T)",
    "tanh": "torch.tanh(h @ w.T)",
    "gelu": "nn.functional.gelu(h @ w.T)",
}
_PRODUCT_CODE: Final = """
import torch

torch.manual_seed(0)
x, w = torch.randn(64, {fan_in}), torch.randn({fan_in}, 32)
print((x @ w).std().item(), (x @ w / {fan_in}**0.5).std().item())
"""
_BOUND_CODE: Final = """
import torch
from torch import nn

torch.manual_seed(0)
std = {fan_in}**-0.5
w = nn.init.trunc_normal_(torch.empty(1000, 1000), std=std, a=-{bound}, b={bound})
print(f"largest {{(w.abs().max() / std).item():.3f}} standard deviations")
"""


@dataclass(frozen=True, kw_only=True, slots=True)
class Asked:
    """What is measured: `shows` is a key of `VIEWS`, and what that view depends on."""

    shows: str
    stack: Stack = field(default_factory=Stack)
    fan_in: int = FAN_INS[-1]
    in_sigmas: bool = False
    std: float = 1.0


def choose_view() -> Asked:
    shows = ASK.selectbox(
        "shows", _("Show"), tuple(VIEWS), default="activations", labels=lambda key: _(VIEWS[key])
    )
    if shows == "labels":
        return Asked(shows=shows)
    if shows == "loss":
        return Asked(shows=shows, std=choose_std())
    if shows in {"product", "bound"}:
        fan_in = ASK.select_slider("fan_in", "fan_in", FAN_INS, default=16384)
        bound = "absolute"
        if shows == "bound":
            bound = ASK.segmented("bound", _("Truncated at"), tuple(BOUNDS), default="absolute",
                                  labels=BOUNDS.__getitem__)  # fmt: skip
        return Asked(shows=shows, fan_in=fan_in, in_sigmas=bound == "sigmas")
    scheme = ASK.selectbox(
        "scheme", _("Initialization"), tuple(SCHEMES), default="kaiming",
        labels=lambda key: _(SCHEMES[key].title),
    )  # fmt: skip
    activation = ASK.selectbox("activation", _("Activation"), tuple(ACTIVATIONS), default="relu")
    num_layers = ASK.slider("depth", _("Depth"), 1, MOST_LAYERS, default=16, step=1)
    with st.popover(_("Settings"), icon=":material/tune:", key=ASK.key("init_settings")):
        width = ASK.select_slider("fan", _("Features"), WIDTHS, default=256)
        residual = ASK.toggle("residual", _("Residual connections"), default=False)
    stack = Stack(scheme=scheme, num_layers=num_layers, width=width, activation=activation,
                  residual=residual)  # fmt: skip
    return Asked(shows=shows, stack=stack)


def initialization(asked: Asked) -> Shown:
    """Measure the chosen scheme beside the others, or one of the other views."""
    if asked.shows == "labels":
        return random_labels()
    if asked.shows == "loss":
        return first_loss(asked.std)
    draw = {"product": _product_shown, "bound": _bound_shown}.get(asked.shows, _stack_shown)
    shown = draw(asked)
    return replace(shown, numbers=[], notes=[]) if presenting() else shown


def _stack_shown(asked: Asked) -> Shown:
    stack, spread = asked.stack, _spread(asked.stack)
    is_backward = asked.shows == "gradients"
    values = spread.gradients[::-1] if is_backward else spread.activations
    headline = (
        _("{scheme}: gradients go from σ = {first} at the output to {last} after {layers} layers")
        if is_backward
        else _("{scheme}: activations go from σ = {first} to {last} after {layers} layers")
    )
    spreads = {
        _(SCHEMES[key].title): _spread(replace(stack, scheme=key))
        for key in dict.fromkeys((stack.scheme, *_COMPARED))
    }
    return Shown(
        headline=headline.format(
            scheme=_(SCHEMES[stack.scheme].title), first=f"{values[0]:.3g}",
            last=f"{values[-1]:.3g}", layers=stack.num_layers,
        ),
        charts=[_chart(spread_picture(spreads, asked.shows, look()))],
        notes=[
            _(
                "Each layer multiplies the spread by about √fan_in times the standard deviation of "
                "its weights; what is a little more or less than 1 becomes a power of the depth. "
                "Measured on a batch of 64, forward and backward."
            )
        ],
        code=_STACK_CODE.format(
            num_layers=stack.num_layers,
            width=stack.width,
            draw=SCHEMES[stack.scheme].code,
            activation=_ACTIVATIONS_CODE[stack.activation],
            step="h + out" if stack.residual else "out",
        ),
    )  # fmt: skip


def _product_shown(asked: Asked) -> Shown:
    fan_in, spread = asked.fan_in, _product(asked.fan_in)
    picture = product_picture({each: _product(each) for each in FAN_INS if each <= fan_in}, look())
    headline = _(
        "x @ w with fan_in {fan_in}: σ = {unit} from N(0, 1), {scaled} from N(0, 1/√fan_in)"
    ).format(
        fan_in=format_exact(fan_in), unit=f"{spread['unit']:.4g}", scaled=f"{spread['fan_in']:.3g}"
    )
    return Shown(
        headline=headline,
        charts=[_chart(picture)],
        numbers=[(_("σ(x @ w) / σ(x) by formula"), _closed("spread", PRODUCT, fan_in, 1))],
        notes=[
            _(
                "Each output sums fan_in products of variance 1, so its variance is fan_in. "
                "Divided by √fan_in the weights keep the spread of what comes in."
            )
        ],
        code=_PRODUCT_CODE.format(fan_in=fan_in),
    )


def _bound_shown(asked: Asked) -> Shown:
    cut = _truncation(asked.fan_in, in_sigmas=asked.in_sigmas)
    headline = _(
        "Bounds of ±{bound} are ±{sigmas}σ: the largest of a million weights is {largest}σ"
    ).format(
        bound=f"{cut.bound:.4g}", sigmas=f"{cut.bound_in_sigmas:g}", largest=f"{cut.largest:.3f}"
    )
    return Shown(
        headline=headline,
        charts=[_chart(bound_picture(cut, look()))],
        numbers=[(_("Bound / σ"), _closed("bound", BOUND, asked.fan_in, cut.bound))],
        notes=[
            _(
                "`trunc_normal_(w, std=s, a=-3, b=3)` takes its bounds as numbers, not in standard "
                "deviations: with a small s they cut nothing. Write `a=-3 * s, b=3 * s`."
            )
        ],
        code=_BOUND_CODE.format(fan_in=asked.fan_in, bound="3 * std" if asked.in_sigmas else "3"),
    )


def _chart(picture: Picture) -> Chart:
    return Chart(picture=picture, file_name="initialization")


def _closed(name: str, rule: Formula, fan_in: int, other: Number) -> Item:
    values = {"fan_in": fan_in, "std_w": other, "bound": other}
    return item(name, rule, values, unit="×", source=_(_SOURCE), kind="exact")


def spread_picture(spreads: Mapping[str, Spread], kind: str, look: Look) -> Picture:
    """Return a curve for each scheme over the layers, on a logarithmic axis."""
    drawing = Drawing()
    curves = {name: getattr(spread, kind) for name, spread in spreads.items()}
    for (name, values), color, dash in zip(curves.items(), _COLORS, _DASHES, strict=False):
        drawing.scatter(
            x=list(range(len(values))), y=[_drawn(value) for value in values], name=name,
            mode="lines+markers", line={"color": look.color(color), "width": 3, "dash": dash},
            hovertemplate="%{x}: %{y:.3g}<extra>" + name + "</extra>",
        )  # fmt: skip
    of = _("activations") if kind == "activations" else _("gradients")
    drawn = [y for values in curves.values() for value in values if (y := _drawn(value))]
    title = _("standard deviation of the {of}").format(of=of)
    layout = layout_with(
        look,
        xaxis={"title": {"text": _("layer")}},
        yaxis={"title": {"text": title}, **_decades(drawn)},
    )
    parts = [f"{name} {values[0]:.3g} → {values[-1]:.3g}" for name, values in curves.items()]
    alt = _("Standard deviation of the {of}, first to last layer: {parts}.").format(
        of=of, parts=_(", ").join(parts)
    )
    length = max(map(len, curves.values()))
    table: dict[str, Sequence[Any]] = {_("layer"): list(range(length)), **curves}
    return Picture(figure=drawing.figure(layout), alt=alt, table=table)


def _drawn(value: float) -> float | None:
    return value if _SMALLEST <= value <= _LARGEST else None


def _decades(values: Sequence[float]) -> dict[str, Any]:
    low = math.floor(math.log10(min(values, default=1)))
    high = max(math.ceil(math.log10(max(values, default=1))), low + 1)
    every = -(-(high - low) // _MOST_TICKS)
    return {
        "type": "log", "range": [low - 0.1, high + 0.1], "dtick": every, "exponentformat": "power",
    }  # fmt: skip


def product_picture(spreads: Mapping[int, Mapping[str, float]], look: Look) -> Picture:
    """Return the spread of x @ w by fan_in, for w of N(0, 1) and of N(0, 1/√fan_in)."""
    drawing, fan_ins = Drawing(), list(spreads)
    table: dict[str, Sequence[Any]] = {"fan_in": fan_ins}
    for name, key, color, dash in (
        ("N(0, 1)", "unit", "candidate_high", "dash"),
        ("N(0, 1/√fan_in)", "fan_in", "accent", "solid"),
    ):
        table[name] = [each[key] for each in spreads.values()]
        drawing.scatter(
            x=fan_ins, y=table[name], name=name, mode="lines+markers",
            line={"color": look.color(color), "width": 3, "dash": dash},
            hovertemplate="fan_in %{x}: %{y:.4g}<extra>" + name + "</extra>",
        )  # fmt: skip
    layout = layout_with(
        look,
        xaxis={"title": {"text": "fan_in"}, "type": "log", "tickvals": fan_ins},
        yaxis={"title": {"text": _("standard deviation of x @ w")}, "type": "log", "dtick": 1},
    )
    parts = [f"{name} {column[-1]:.4g}" for name, column in table.items() if name != "fan_in"]
    alt = _("Standard deviation of x @ w at fan_in {fan_in}: {parts}.").format(
        fan_in=fan_ins[-1], parts=_(", ").join(parts)
    )
    return Picture(figure=drawing.figure(layout), alt=alt, table=table)


def bound_picture(cut: Truncation, look: Look) -> Picture:
    """Return the histogram of the weights in standard deviations, its bounds as lines."""
    drawing, edges = Drawing(), cut.edges
    drawing.bar(
        x=[(low + high) / 2 for low, high in pairwise(edges)], y=list(cut.counts),
        name=_("weights"), marker={"color": look.color("weights")},
        hovertemplate="%{x:.1f}σ: %{y:,}<extra></extra>",
    )  # fmt: skip
    bound = cut.bound_in_sigmas
    for place in (-bound, bound) if bound <= _SHOWN_SIGMAS else ():
        drawing.shape(
            type="line", xref="x", yref="paper", x0=place, x1=place, y0=0, y1=1,
            line={"color": look.color("refused"), "width": 3, "dash": "dash"},
        )  # fmt: skip
    layout = layout_with(
        look,
        xaxis={"title": {"text": _("weight, in standard deviations σ")}, "dtick": 1},
        yaxis={"title": {"text": _("weights")}, "type": "log", "dtick": 1},
    )
    alt = _("A million weights with bounds of ±{sigmas}σ reach to {largest}σ.").format(
        sigmas=f"{bound:g}", largest=f"{cut.largest:.3f}"
    )
    table: dict[str, Sequence[Any]] = {_("from σ"): edges[:-1], _("weights"): cut.counts}
    figure = drawing.figure(layout | {"bargap": 0, "showlegend": False})
    return Picture(figure=figure, alt=alt, table=table)


def _ask() -> None:
    """Ask how far N(0, 1) weights carry activations; measured."""
    last = measure_spread(Stack(scheme="unit", activation="none")).activations[-1]
    choices = [
        Choice(_("about 16"), _("Each layer multiplies the spread; the factors do not add.")),
        Choice(_("about 256"), _("Sixteen is √256, the factor of one layer; there are 16 layers.")),
        Choice(_("about 10¹⁹")),
    ]
    predict_then_reveal(
        ASK.key("sixteen_layers"),
        _("Sixteen linear layers of width 256, all weights from N(0, 1), an input with σ = 1. "
          "What is σ after the last?"),
        choices,
        _("Measured: {last}. Each layer multiplies by √256 = 16, and 16 to the power 16 is "
          "1.8e+19.").format(last=f"{last:.2g}"),
    )  # fmt: skip


TAB: Final = Tab(
    label=N_("Initialization"),
    show=initialization,
    with_inputs=False,
    choose=choose_view,
    question=_ask,
    reading="init",
)
