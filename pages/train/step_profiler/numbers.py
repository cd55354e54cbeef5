"""Weights, gradients and updates of the next step, over powers of two, in their own format."""

from collections.abc import Mapping
from typing import Any, Final

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from core.dtypes import FORMATS
from core.figures.dtypes.written import power_of_two
from core.figures.picture import Drawing, Look, Picture
from core.language import N_, _
from core.train.profiler.results import Histogram, Numbers
from core.units import format_percent
from pages.shared.page_links import show_link
from pages.shared.settings import look
from pages.shared.tabbed_page import Chart, Shown, Tab
from pages.train.step_profiler.inputs import ASK, Case, not_measured, result_of, told_of

ZONES: Final = ("own", "float16", "bfloat16", "float8_e4m3fn", "float8_e5m2")
HEIGHT_PX: Final = 400
_MOST_ROWS: Final = 40
_TINT: Final = 0.14
_CODE: Final = """
import torch
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(64, 256), nn.GELU(), nn.Linear(256, 64)).to(torch.{dtype})
optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
x = torch.randn(256, 64, dtype=torch.{dtype})
(model(x) - x).square().mean().backward()

w = model[0].weight
update = (1e-3 * w.grad.double()).abs()       # what the optimizer means to add
_, exponent = torch.frexp(w.double().abs())   # |w| = m * 2**e, 1/2 <= m < 1
ulp = torch.ldexp(torch.full_like(update, torch.finfo(w.dtype).eps), exponent - 1)
before = w.detach().clone()
optimizer.step()
print(f"{{(update / ulp < 0.5).double().mean():.1%}} of the updates are under half an ulp,")
print(f"{{(w == before).double().mean():.1%}} of the weights did not move")
powers, counts = (exponent - 1).unique(return_counts=True)
print("weights by power of two:", dict(zip(powers.tolist(), counts.tolist())))
"""


Asked = tuple[str, DeltaGenerator]  # whose zones are drawn, and where the button stands


def choose_zones() -> Asked:
    zones = ASK.selectbox(
        "zones", _("Zones of"), ZONES, default="own",
        labels=lambda name: _("their own format") if name == "own" else name,
        help=_("Where a format's numbers become subnormal, zero or infinite."),
    )  # fmt: skip
    return zones, st.container()


def numbers_tab(case: Case, asked: Asked) -> Shown:
    zones, place = asked
    found: Numbers | None = result_of("numbers", case, place)
    if found is None:
        return Shown(headline=not_measured(case), code=_CODE.format(dtype="bfloat16"))
    zones = found.dtype if zones == "own" else zones
    note = _("An ulp is the distance from a weight to its neighbour in its own format. The update "
             "is the one that the optimizer computes, in float64: added to a weight and rounded to "
             "the nearest, less than half an ulp changes nothing.")  # fmt: skip
    return Shown(
        headline=_headline(found),
        line=_line(found.gradients, zones),
        charts=[Chart(picture=numbers_picture(found, zones, look()), file_name="numbers")],
        notes=[note, *told_of(found.where)],
        below=lambda: _below(found),
        code=_CODE.format(dtype=found.dtype),
    )


def _headline(found: Numbers) -> str:
    if not found.moved:
        return _("The optimizer took no step: {count} of {total} gradients are not finite").format(
            count=f"{found.gradients.non_finite:,}", total=f"{found.gradients.total:,}"
        )
    text = _("{share} of the updates are under half an ulp of their weight; {unmoved} of the "
             "{format} weights did not move")  # fmt: skip
    shares = {"share": found.below_half, "unmoved": found.unmoved}
    return text.format(format=found.dtype, **{k: format_percent(v) for k, v in shares.items()})


def _line(gradients: Histogram, zones: str) -> str:
    smallest, normal, top = borders(zones)
    total, below = gradients.total or 1, gradients.below(normal)
    lost = gradients.below(smallest - 1)  # half of the smallest number rounds to zero
    over = sum(gradients.counts) - gradients.below(top)
    shares = {"subnormal": below - lost, "lost": lost, "over": over, "zeros": gradients.zeros}
    text = _("Gradients in {format}: {subnormal} subnormal, {lost} become zero, {over} too large; "
             "{zeros} are zero, {bad} not finite.")  # fmt: skip
    percents = {name: format_percent(count / total) for name, count in shares.items()}
    return text.format(format=zones, bad=f"{gradients.non_finite:,}", **percents)


def borders(zones: str) -> tuple[int, int, int]:
    """Return the powers of two from which on a format has subnormals, normals, and nothing more."""
    fmt = FORMATS[zones]
    sizes = (fmt.smallest_subnormal, fmt.smallest_normal, fmt.max)
    smallest, normal, largest = (int(size.hex().partition("p")[2]) for size in map(float, sizes))
    return smallest, normal, largest + 1


def numbers_picture(found: Numbers, zones: str, look: Look) -> Picture:
    """Return three histograms over powers of two, with the zones of a format behind them."""
    kinds = {_("weights"): found.weights, _("gradients"): found.gradients,
             _("updates"): found.updates}  # fmt: skip
    filled = {name: each for name, each in kinds.items() if each.counts}
    low = min((each.low for each in filled.values()), default=-30) - 2
    high = max((each.low + len(each.counts) for each in filled.values()), default=0) + 2
    drawing = Drawing()
    _curves(drawing, kinds, look)
    smallest, normal, top = borders(zones)
    _zone(drawing, look, (low, min(smallest, high)), _("becomes zero"), "underflow")
    _zone(drawing, look, (max(smallest, low), min(normal, high)), _("subnormal"), "estimated")
    _zone(drawing, look, (max(top, low), high), _("overflows"), "overflow")
    most_often = _("{name} most often from {low} on").format
    said = [most_often(name=name, low=power_of_two(each.low + each.counts.index(max(each.counts))))
            for name, each in filled.items()]  # fmt: skip
    alt = _("Sizes of the numbers of step {step} over powers of two, with the zones of {format}: "
            "{kinds}.").format(
        step=found.where.step + 1, format=zones, kinds=_(", ").join(said) or _("none"))  # fmt: skip
    table: dict[str, list[Any]] = {_("from"): [power_of_two(it) for it in range(low, high)]}
    for name, each in kinds.items():
        counts = dict(enumerate(each.counts, each.low))
        table[name] = [counts.get(place, 0) for place in range(low, high)]
    figure = drawing.figure(_layout(look, low, high) | {"meta": zones})
    return Picture(figure=figure, alt=alt, table=table)


def _curves(drawing: Drawing, kinds: Mapping[str, Histogram], look: Look) -> None:
    styles = (("weights", "solid"), ("gradients", "dash"), ("optimizer", "dot"))
    for (name, each), (color, dash) in zip(kinds.items(), styles, strict=True):
        places = range(each.low, each.low + len(each.counts))
        drawing.scatter(
            x=[place + 0.5 for place in places], y=[100 * it / each.total for it in each.counts],
            mode="lines", name=name,
            line={"color": look.color(color), "width": 3, "dash": dash, "shape": "hvh"},
            customdata=[f"{power_of_two(place)} … {power_of_two(place + 1)}" for place in places],
            hovertemplate="%{customdata}: %{y:.2f} %<extra>" + name + "</extra>",
        )  # fmt: skip


def _layout(look: Look, low: int, high: int) -> dict[str, Any]:
    layout = look.layout()
    ticks = list(range(low, high + 1, max((high - low) // (8 if look.present else 14), 1)))
    return layout | {
        "height": HEIGHT_PX,
        "margin": {"l": 8, "r": 8, "t": layout["font"]["size"] * 4.5, "b": 8},
        "legend": layout["legend"] | {"y": 1.1},
        "xaxis": layout["xaxis"] | {"range": [low, high], "tickvals": ticks, "zeroline": False,
                                    "ticktext": [power_of_two(it) for it in ticks],
                                    "title": {"text": _("size")}},
        "yaxis": layout["yaxis"] | {"title": {"text": _("share")}, "ticksuffix": " %",
                                    "rangemode": "tozero"},
    }  # fmt: skip


def _zone(drawing: Drawing, look: Look, edges: tuple[float, float], words: str, color: str) -> None:
    left, right = edges
    if left < right:
        drawing.shape(type="rect", x0=left, x1=right, y0=0, y1=1, yref="paper", layer="below",
                      fillcolor=look.color(color), opacity=_TINT, line={"width": 0})  # fmt: skip
        drawing.note(x=(left + right) / 2, y=1.0, yref="paper", yanchor="bottom", text=words)


def _below(found: Numbers) -> None:
    rows = found.tensors[:_MOST_ROWS]
    st.markdown(_("**Tensor by tensor**: root mean squares, and how the updates fit the format."))
    columns: dict[str, list[Any]] = {
        _("tensor"): [row.name for row in rows],
        _("format"): [row.dtype for row in rows],
        _("numbers"): [row.size for row in rows],
        _("weight"): [f"{row.weight:.3g}" for row in rows],
        _("gradient"): [f"{row.gradient:.3g}" for row in rows],
        _("update"): [f"{row.update:.3g}" for row in rows],
        _("under half an ulp"): [format_percent(row.below_half) for row in rows],
        _("did not move"): [format_percent(row.unmoved) for row in rows],
        _("not finite"): [row.non_finite for row in rows],
    }
    st.dataframe(columns, hide_index=True)
    link = _("What 16 bits do to an update")
    show_link("dtypes/low_precision_training", link, {}, icon=":material/exposure_zero:")


TAB: Final = Tab(label=N_("Numbers"), show=numbers_tab, choose=choose_zones)
