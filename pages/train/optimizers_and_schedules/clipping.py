"""Gradient norms of a deep network, and what clipping does to them."""

from dataclasses import dataclass
from typing import Final

import streamlit as st

from core.figures.picture import Drawing, Look, Picture
from core.figures.train.curves import bar_axes, decades
from core.language import N_, _
from core.train.optimizers.in_torch import ClippedNorms, clipped_norms, largest_deviations
from pages.shared.settings import look
from pages.shared.tabbed_page import Chart, Shown, Tab
from pages.train.optimizers_and_schedules.inputs import ASK

SMALLEST: Final = 1e-38  # below it a bar of a logarithmic axis has no end
LIMITS: Final = (0.001, 0.01, 0.1, 0.5, 1.0, 2.0, 5.0, 10.0)
_CODE: Final = """
import math

import torch

random = torch.Generator().manual_seed(0)
weights = [
    torch.nn.Parameter(torch.randn(32, 32, generator=random) * {gain} / math.sqrt(32))
    for _ in range({depth})
]
x = torch.randn(64, 32, generator=random)
target = torch.randn(64, 32, generator=random)
for weight in weights:
    x = torch.tanh(x @ weight)
(x - target).square().mean().backward()
before = torch.nn.utils.clip_grad_norm_(weights, max_norm={limit})
after = torch.nn.utils.get_total_norm([weight.grad for weight in weights])
print(f"{{before.item():.3g}} -> {{after.item():.3g}}")
"""


@dataclass(frozen=True, kw_only=True, slots=True)
class Network:
    """The network of the tab, and its clipping."""

    depth: int
    gain: float
    max_norm: float


def choose_network() -> Network:
    depth = ASK.slider("depth", _("Layers"), 1, 50, default=8, step=1)
    gain = ASK.slider(
        "gain", _("Initial scale"), 0.1, 4.0, default=2.0, step=0.1,
        help=_("Weights are drawn with a standard deviation of scale / √32, 32 being the width."),
    )  # fmt: skip
    limit = ASK.select_slider("max_norm", "max_norm", LIMITS, default=0.1)
    return Network(depth=depth, gain=gain, max_norm=limit)


@st.cache_data(max_entries=1, show_spinner=False)
def _deviations() -> tuple[float, float]:
    return largest_deviations()


def clipping_tab(network: Network) -> Shown:
    norms = clipped_norms(network.depth, network.gain, network.max_norm)
    uncut, cut = _deviations()
    trap = _(
        "`trunc_normal_(w, std=1/128, a=-3, b=3)` truncates nothing: the bounds are absolute. The "
        "largest of 262,144 weights lies {uncut} standard deviations from zero; with a=-3·std, "
        "b=3·std {cut}."
    ).format(uncut=f"{uncut:.2f}", cut=f"{cut:.2f}")
    return Shown(
        headline=_headline(norms),
        charts=[Chart(picture=norms_picture(norms, look()), file_name="gradient-norms")],
        notes=[_across(norms), trap],
        code=_CODE.format(gain=network.gain, depth=network.depth, limit=network.max_norm),
    )


def _headline(norms: ClippedNorms) -> str:
    before, after = f"{norms.total_before:.3g}", f"{norms.total_after:.3g}"
    if norms.total_after < norms.total_before * (1 - 1e-5):
        return _("Gradient norm {before} → {after}: every gradient × {factor}").format(
            before=before, after=after, factor=f"{norms.factor:.3g}"
        )
    return _("Gradient norm {before}: below max_norm, nothing is clipped").format(before=before)


def _across(norms: ClippedNorms) -> str:
    return _(
        "The first layer's gradient norm is {first}, the last one's {last}. Clipping multiplies "
        "all by one factor: it changes the length of the step, not its direction."
    ).format(first=f"{norms.before[0]:.3g}", last=f"{norms.before[-1]:.3g}")


def norms_picture(norms: ClippedNorms, look: Look) -> Picture:
    layers = [str(layer + 1) for layer in range(len(norms.before))]
    before, after = _("before clipping"), _("after clipping")
    layout, drawing = look.layout(), Drawing()
    rows = ((before, norms.before, "surface"), (after, norms.after, "gradients"))
    for name, values, fill in rows:
        drawing.bar(
            x=layers, y=[max(value, SMALLEST) for value in values], name=name,
            hovertemplate="%{x}: %{y:.3g}<extra></extra>",
            marker={"color": look.color(fill),
                    "line": {"color": look.color("gradients"), "width": 1.5}},
        )  # fmt: skip
    fields = bar_axes(look, x=_("layer"), y=_("gradient norm")) | {"barmode": "group"}
    fields["yaxis"] |= decades([max(each, SMALLEST) for each in (*norms.before, *norms.after)])
    return Picture(
        figure=drawing.figure(layout | fields),
        alt=_(
            "Gradient norms of {count} layers: {first} in the first and {last} in the last; "
            "together {total} before clipping and {clipped} after."
        ).format(
            count=len(layers),
            first=f"{norms.before[0]:.3g}",
            last=f"{norms.before[-1]:.3g}",
            total=f"{norms.total_before:.3g}",
            clipped=f"{norms.total_after:.3g}",
        ),
        table={_("layer"): layers, before: norms.before, after: norms.after},
    )


TAB: Final = Tab(
    label=N_("Gradient clipping"), show=clipping_tab, choose=choose_network, with_inputs=False
)
