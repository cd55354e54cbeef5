"""NF4: sixteen quantiles under the normal density, and how often each code is used."""

from dataclasses import replace
from typing import Final

import numpy as np
import streamlit as st

from core.dtypes.blocks.nf4 import CodeUse, QuantileStep, make_code_use, nf4_steps, normal_density
from core.dtypes.blocks.storage import find_storage
from core.dtypes.blocks.storage_trials import Trial, try_all
from core.dtypes.rounding import Floats
from core.figures.picture import Drawing, Look, Picture, Table
from core.language import N_, _
from core.units import format_decibels
from pages.dtypes.quantization.inputs import Case
from pages.dtypes.quantization.snippets import quality_code
from pages.shared.settings import look
from pages.shared.tabbed_page import Chart, Shown, Tab

_NF4: Final = ("nf4", "nf4_double_quant")


@st.cache_data(max_entries=16, show_spinner=False)
def _code_use_of(x: Floats) -> tuple[CodeUse, tuple[Trial, ...]]:
    return make_code_use(x), try_all(x, [find_storage(name) for name in _NF4])


def nf4(case: Case) -> Shown:
    """Show where the codes of NF4 come from, how they are used, and double quantization."""
    use, (plain, double) = _code_use_of(case.chosen.x)
    said = _(
        "NF4: SQNR {plain} at {plain_bits} bits per value; with double quantization {double} "
        "at {double_bits}"
    ).format(
        plain=format_decibels(plain.stats.sqnr_db),
        plain_bits=f"{plain.bits:.4g}",
        double=format_decibels(double.stats.sqnr_db),
        double_bits=f"{double.bits:.4g}",
    )
    note = _(
        "A block of 64 adds 32 bits for its scale: 4 + 32/64 = 4.5. Stored twice, the scale "
        "takes 8 bits, and 256 scales share 32 more: 4 + 8/64 + 32/(64 × 256) = 4.127."
    )
    pair = find_storage(_NF4[0]), find_storage(_NF4[1])
    return Shown(
        headline=said,
        charts=[Chart(picture=nf4_picture(use, look()), file_name="nf4")],
        notes=[note, *case.chosen.notes()],
        code=quality_code(
            replace(case, pair=pair), is_whole=plain.stats.is_whole and double.stats.is_whole
        ),
    )


HEIGHT_PX: Final = 400
PRESENT_HEIGHT_PX: Final = 430
_EVENLY: Final = range(-7, 8)  # the steps of int4


def nf4_picture(use: CodeUse, look: Look) -> Picture:
    """Return the derivation of NF4 on the left and the use of its codes on the right."""
    layout, drawing = look.layout(), Drawing()
    _draw_density(drawing, use, look)
    _draw_codes(drawing, look)
    _draw_use(drawing, use, look)
    base = layout["xaxis"] | {"zeroline": False, "showgrid": False}
    # So high that the words of the right picture stand above its bars.
    headroom = float(max(use.nf4.max(), use.int4.max(), 0.01)) * 1.25
    axes = {
        "xaxis": base
        | {"domain": [0, 0.6], "title": {"text": _("value / largest value of its block")}},
        "yaxis": base | {"visible": False, "range": [-0.32, 1.6]},
        "xaxis2": base
        | {"domain": [0.66, 1], "anchor": "y2", "title": {"text": _("steps from zero")}},
        "yaxis2": layout["yaxis"]
        | {
            "range": [0, headroom],
            "anchor": "x2",
            "tickformat": ".3~%",
            "title": {"text": _("share of the values")},
        },
        "height": PRESENT_HEIGHT_PX if look.present else HEIGHT_PX,
    }
    figure = drawing.figure(layout | axes | {"bargap": 0.15, "hovermode": "closest"})
    return Picture(figure=figure, alt=_sentence(use), table=_table(use))


def _draw_density(drawing: Drawing, use: CodeUse, look: Look) -> None:
    """Draw how dense the values lie beside the normal density, with the quantiles in it."""
    places = np.linspace(-1, 1, 201)
    drawing.bar(
        x=(use.edges[:-1] + use.edges[1:]) / 2, y=np.minimum(use.density, 1.6),
        width=np.diff(use.edges), marker={"color": look.color("border")}, name=_("this tensor"),
        customdata=use.density,
        hovertemplate="%{x:.2f}: %{customdata:.2f}<extra>%{fullData.name}</extra>",
    )  # fmt: skip
    drawing.scatter(
        x=places, y=normal_density(places), mode="lines",
        line={"color": look.color("text"), "width": 2}, name=_("normal distribution"),
        hoverinfo="skip",
    )  # fmt: skip
    values = [step.value for step in nf4_steps()]
    heights = normal_density(np.array(values))
    drawing.scatter(
        x=[place for value in values for place in (value, value, None)],
        y=[height for each in heights for height in (0, each, None)], mode="lines",
        line={"color": look.color("format_a"), "width": 2}, showlegend=False, hoverinfo="skip",
    )  # fmt: skip


def _draw_codes(drawing: Drawing, look: Look) -> None:
    steps = nf4_steps()
    rows = (
        (_("NF4: equal shares"), "format_a", "circle", -0.11),
        (_("int4: equal steps"), "format_b", "square", -0.25),
    )
    values = ([step.value for step in steps], [step / 7 for step in _EVENLY])
    texts = (list(map(_derivation, steps)), [f"{step} / 7 = {step / 7:.4f}" for step in _EVENLY])
    for (name, meaning, symbol, height), x, text in zip(rows, values, texts, strict=True):
        drawing.scatter(
            x=x, y=[height] * len(x), mode="markers",
            marker={"color": look.color(meaning), "symbol": symbol, "size": 9}, name=name,
            text=text, hovertemplate="%{text}<extra>%{fullData.name}</extra>",
        )  # fmt: skip


def _derivation(step: QuantileStep) -> str:
    return _(
        "code {code}: {share} of a normal distribution lie below {quantile} σ; / 1.848 = {value}"
    ).format(
        code=step.code,
        share=f"{step.share:.2%}",
        quantile=f"{step.quantile:.4f}",
        value=f"{step.value:.6f}",
    )


def _draw_use(drawing: Drawing, use: CodeUse, look: Look) -> None:
    rows = (
        ("NF4", "format_a", "", use.nf4, use.nf4_bits),
        ("int4", "format_b", "/", use.int4, use.int4_bits),
    )
    for place, (name, meaning, pattern, shares, bits) in enumerate(rows):
        color = look.color(meaning)
        drawing.bar(
            x=list(range(-7, len(shares) - 7)), y=shares, name=name,
            marker={"color": color, "pattern": {"shape": pattern}},
            hovertemplate="%{x}: %{y:.1%}<extra>%{fullData.name}</extra>", showlegend=False,
            xaxis="x2", yaxis="y2",
        )  # fmt: skip
        drawing.note(
            text=_("{name}: code entropy {bits} bits").format(name=name, bits=f"{bits:.2f}"), x=1,
            y=1 - 0.08 * place, xref="paper", yref="paper", xanchor="right", yanchor="top",
            font={"color": color},
        )  # fmt: skip


def _sentence(use: CodeUse) -> str:
    return _(
        "NF4 has 16 quantiles of the normal distribution, dense near zero and sparse at the ends; "
        "on this tensor its codes carry {nf4} of 4 bits, the even steps of int4 {int4}. The code "
        "most used holds {most_nf4} of the values in NF4 and {most_int4} in int4."
    ).format(
        nf4=f"{use.nf4_bits:.2f}",
        int4=f"{use.int4_bits:.2f}",
        most_nf4=f"{use.nf4.max():.1%}",
        most_int4=f"{use.int4.max():.1%}",
    )


def _table(use: CodeUse) -> Table:
    steps = nf4_steps()
    return {
        _("code"): [step.code for step in steps],
        _("share below"): [f"{step.share:.4%}" for step in steps],
        _("quantile (σ)"): [step.quantile for step in steps],
        _("value"): [f"{step.value:.9f}" for step in steps],
        _("share of the values"): [f"{share:.3%}" for share in use.nf4],
    }


TAB: Final = Tab(label=N_("NF4"), show=nf4)
