"""Where A and B lose on the tensor, and how much."""

from collections.abc import Sequence
from typing import Any, Final

import numpy as np
import streamlit as st

from core.dtypes.blocks.storage_trials import Loss, histogram_centers, make_losses
from core.figures.picture import Drawing, Look, Picture, Table
from core.language import N_, _
from core.units import format_decibels, format_percent
from pages.dtypes.quantization.codes import SIDES, ask_about_outliers, draw_title
from pages.dtypes.quantization.inputs import Case, error_notes, qualities
from pages.dtypes.quantization.snippets import quality_code
from pages.shared.settings import look
from pages.shared.tabbed_page import Chart, Shown, Tab

losses_of = st.cache_data(max_entries=32, show_spinner=False)(make_losses)


def error(case: Case) -> Shown:
    losses = losses_of(case.chosen.x, case.pair)
    return Shown(
        headline=qualities(losses),
        charts=[Chart(picture=error_picture(losses, look()), file_name="quantization-error")],
        notes=[*case.chosen.notes(), *error_notes(losses)],
        code=quality_code(case, is_whole=all(loss.stats.is_whole for loss in losses)),
    )


HEIGHT_PX: Final = 380
PRESENT_HEIGHT_PX: Final = 420
FLOOR: Final = 1e-7  # tiles with a smaller error are drawn as exact
_DOMAINS: Final = ((0.0, 0.25), (0.265, 0.515))
# On a projector there is no room for the colours' scale, nor for names in the picture.
_PRESENT_DOMAINS: Final = ((0.0, 0.28), (0.3, 0.58))
_DASHES: Final = ("solid", "dash")
_TICKS: Final = (1e-4, 1e-2, 1)


def error_picture(losses: Sequence[Loss], look: Look) -> Picture:
    """Return two maps of the error in one colour scale, and both histograms of |error|."""
    layout, drawing = look.layout(), Drawing()
    low, high = _range(losses)
    domains = _PRESENT_DOMAINS if look.present else _DOMAINS
    for number, loss in enumerate(losses):
        _draw_map(drawing, loss, number, low)
        draw_title(drawing, number, "" if look.present else loss.name, domains[number][0], look)
        _draw_histogram(drawing, loss, number, look)
    hidden = {"visible": False, "fixedrange": True}
    upright = hidden | {"autorange": "reversed"}
    axes = {
        "xaxis": layout["xaxis"] | hidden | {"domain": domains[0]},
        "yaxis": layout["yaxis"] | upright | {"anchor": "x"},
        "xaxis2": hidden | {"domain": domains[1]},
        "yaxis2": upright | {"anchor": "x2"},
        "xaxis3": layout["xaxis"]
        | {
            "domain": [0.72, 1],
            "anchor": "y3",
            "type": "log",
            "range": [-5, 1],
            "title": {
                "text": _("|error| / RMS") if look.present else _("|error| / RMS of the tensor")
            },
            "tickvals": _TICKS,  # raised digits are too small for a projector
            "ticktext": [f"{tick:g}" for tick in _TICKS],
            "zeroline": False,
        },
        "yaxis3": layout["yaxis"]
        | {"anchor": "x3", "title": {"text": _("share of the values")}, "tickformat": ".3~%"},
    }
    frame = {
        "coloraxis": {
            "cmin": low,
            "cmax": high,
            "colorscale": [[0, look.color("surface")], [1, look.color("accent")]],
            "colorbar": _colorbar(low, high, layout["font"]["size"]),
            "showscale": not look.present,
        },
        "height": PRESENT_HEIGHT_PX if look.present else HEIGHT_PX,
        "legend": layout["legend"] | {"x": 0.68, "y": 1.02},
        "showlegend": not look.present,
    }
    figure = drawing.figure(layout | axes | frame)
    return Picture(figure=figure, alt=_sentence(losses), table=_table(losses))


def _range(losses: Sequence[Loss]) -> tuple[float, float]:
    tiles = np.concatenate([loss.tiles.reshape(-1) for loss in losses])
    seen = tiles[np.isfinite(tiles) & (tiles > FLOOR)]
    if not seen.size:
        return -1.0, 0.0
    low, high = float(np.log10(seen.min())), float(np.log10(seen.max()))
    return (low, high) if high - low > 0.1 else (low - 0.5, high + 0.5)


def _colorbar(low: float, high: float, size: int) -> dict[str, Any]:
    marks = np.linspace(low, high, 4 if high - low > 0.3 else 2)
    return {
        "x": 0.525,
        "xanchor": "left",
        "thickness": size,
        "tickvals": list(marks),
        "ticktext": [f"{10**mark:.2g}" for mark in marks],
        "title": {"text": _("error"), "side": "top"},
        "outlinewidth": 0,
    }


def _draw_map(drawing: Drawing, loss: Loss, number: int, lowest: float) -> None:
    """Draw the error of each tile; an exact one as if its error were 10**lowest."""
    suffix = "" if number == 0 else str(number + 1)
    tiles = np.where(loss.tiles > FLOOR, loss.tiles, 10**lowest)
    tiles = np.where(np.isnan(loss.tiles), np.nan, tiles)
    drawing.trace(
        "heatmap", z=np.log10(tiles).round(3),
        customdata=np.where(np.isnan(loss.tiles), 0, loss.tiles).round(7), coloraxis="coloraxis",
        hovertemplate=_("RMS error of this tile: %{customdata:.3g} of the tensor's RMS")
        + "<extra></extra>",
        xaxis=f"x{suffix}", yaxis=f"y{suffix}",
    )  # fmt: skip


def _draw_histogram(drawing: Drawing, loss: Loss, number: int, look: Look) -> None:
    name, meaning = SIDES[number]
    drawing.scatter(
        x=histogram_centers(), y=loss.shares, name=f"{name} · {loss.name}", mode="lines",
        line={"color": look.color(meaning), "dash": _DASHES[number], "width": 3},
        hovertemplate="%{x:.1e}: %{y:.1%}<extra>%{fullData.name}</extra>", xaxis="x3", yaxis="y3",
    )  # fmt: skip


def _sentence(losses: Sequence[Loss]) -> str:
    parts = [
        _(
            "{name}: RMS error {rmse}, largest error {largest}, {exact} of the values unchanged"
        ).format(
            name=loss.name,
            rmse=_size_text(loss, loss.stats.rmse),
            largest=_size_text(loss, loss.stats.max_abs),
            exact=format_percent(loss.exact_share),
        )
        for loss in losses
    ]
    return _("; ").join(parts) + _(".")


def _size_text(loss: Loss, size: float) -> str:
    """Return the size of an error, or n/a where no value is left to compare."""
    return f"{size:.3g}" if loss.stats.num_values else "n/a"


def _table(losses: Sequence[Loss]) -> Table:
    rows = {
        _("RMS error"): [_size_text(loss, loss.stats.rmse) for loss in losses],
        _("SQNR"): [format_decibels(loss.stats.sqnr_db) for loss in losses],
        _("largest error"): [_size_text(loss, loss.stats.max_abs) for loss in losses],
        _("largest relative error"): [f"{loss.stats.max_relative:.4g}" for loss in losses],
        _("cosine"): [f"{loss.stats.cosine:.8f}" for loss in losses],
        _("became zero"): [f"{loss.stats.num_zeroed:,}" for loss in losses],
        _("clipped"): [f"{loss.stats.num_clipped or 0:,}" for loss in losses],
        _("became NaN or infinite"): [f"{loss.stats.num_lost:,}" for loss in losses],
        _("unchanged"): [f"{loss.exact_share:.2%}" for loss in losses],
    }
    columns = {
        f"{name} · {loss.name}": [cells[number] for cells in rows.values()]
        for number, ((name, _token), loss) in enumerate(zip(SIDES, losses, strict=True))
    }
    return {_("measure"): list(rows), **columns}


TAB: Final = Tab(label=N_("Error"), show=error, question=ask_about_outliers)
