"""Quality against size: every format on one tensor, and the bytes of a model in two of them."""

import math
from collections.abc import Sequence
from typing import Any, Final

import streamlit as st

from core.budget.weights.stored import quantized_weights
from core.dtypes import FORMATS
from core.dtypes.blocks.block_formats import BLOCK_FORMATS
from core.dtypes.blocks.gguf_formats import GGUF_FORMATS
from core.dtypes.blocks.storage import find_storage
from core.dtypes.blocks.storage_trials import Trial, best_per_bit, try_all
from core.dtypes.rounding import Floats
from core.figures.picture import Drawing, Look, Picture, Table
from core.figures.theme import CHART_TEXT_PX, PRESENT_CHART_TEXT_PX
from core.language import N_, _
from core.units import format_decibels, format_percent
from pages.dtypes.quantization.codes import ask_about_outliers
from pages.dtypes.quantization.inputs import ASK, Case, Pair, error_notes, qualities
from pages.dtypes.quantization.snippets import quality_code
from pages.shared.settings import look
from pages.shared.tabbed_page import Chart, Shown, Tab

ALWAYS_TRIED: Final = (
    *BLOCK_FORMATS,
    *GGUF_FORMATS,
    *("float16", "bfloat16", "float8_e4m3fn", "float8_e5m2"),
)
MODELS: Final = {"7B": 7 * 10**9, "13B": 13 * 10**9, "70B": 70 * 10**9}
REFERENCE: Final = "bfloat16"
CODE: Final = """
bits_per_value = {bits}  # with their share of the scale
for name, bits in bits_per_value.items():
    num_bytes = {num_params:_} * bits / 8
    print(name, f"{{num_bytes / {unit}:#.3g}}".rstrip("."), {name!r})
"""
_UNITS: Final = {"GiB": "2**30", "GB": "1e9"}


def _choose_model() -> str:
    return ASK.segmented("model", _("Model"), tuple(MODELS), default="7B")


@st.cache_data(max_entries=16, show_spinner=False)
def _always_tried(x: Floats) -> tuple[Trial, ...]:
    return try_all(x, [find_storage(name) for name in ALWAYS_TRIED])


@st.cache_data(max_entries=32, show_spinner=False)
def _standing_of(x: Floats, pair: Pair) -> tuple[Trial, ...]:
    chosen = try_all(x, list(dict.fromkeys(pair)))
    names = {trial.name for trial in chosen}
    return (*chosen, *(trial for trial in _always_tried(x) if trial.name not in names))


def standing(case: Case, model: str) -> Shown:
    """Show quality against size for all formats, and the bytes of a model in A and B."""
    with st.spinner(_("Trying every format on this tensor…")):
        trials = _standing_of(case.chosen.x, case.pair)
    first, second = (storage.name for storage in case.pair)
    found = {trial.name: trial for trial in trials}
    shown = [found[name] for name in dict.fromkeys((first, second))]
    items = {
        name: quantized_weights(MODELS[model], fmt)
        for name, fmt in (
            *((storage.name, storage.fmt) for storage in case.pair),
            (REFERENCE, FORMATS[REFERENCE]),
        )
    }
    headline = _("{errors}. {model} weights: {parts}").format(
        errors=qualities(shown),
        model=model,
        parts=_(", ").join(
            f"`{name}` {look().format_bytes(item.amount)}" for name, item in items.items()
        ),
    )
    bits = {name: storage.bits_per_value for name, storage in zip(items, case.pair, strict=False)}
    bits[REFERENCE] = FORMATS[REFERENCE].bits
    code = quality_code(case, is_whole=all(trial.stats.is_whole for trial in shown)) + CODE.format(
        bits=bits, num_params=MODELS[model], unit=_UNITS[look().unit], name=look().unit
    )
    picture = standing_picture(trials, (first, second), look())
    return Shown(
        headline=headline,
        charts=[Chart(picture=picture, file_name="sqnr-against-bits")],
        numbers=list(items.items()),
        numbers_below=True,
        notes=[*case.chosen.notes(), *error_notes(shown)],
        code=code,
    )


HEIGHTS_PX: Final = (400, 420)  # on a screen, on a projector
# Formats of about the same size share a column of labels beside them: (up to so many bits, where).
# The first has room for its longest name before the second, also on a narrow screen.
_COLUMNS: Final = ((5.4, 4.7), (7.0, 6.6), (9.0, 9.2), (64.0, 15.0))
_RIGHT_ALIGNED: Final = 15.0  # the labels of the last column stand left of its points
_LINE_SHARE: Final = 0.05  # of the height of the picture, from one label to the next


def standing_picture(trials: Sequence[Trial], names: tuple[str, str], look: Look) -> Picture:
    """Return SQNR over bits per value, one labelled point a format, A and B in their colours."""
    drawing = Drawing()
    shown = [trial for trial in trials if abs(trial.stats.sqnr_db) < float("inf")]
    _draw_points(drawing, shown, names, look)
    low, high = _ends(shown, look)
    _draw_labels(drawing, shown, names, (low, high), look)
    layout, axis = look.layout(), {"zeroline": False, "fixedrange": True}
    frame = {
        "xaxis": layout["xaxis"]
        | axis
        | {
            "type": "log",  # half as many bits are as far from 8 as twice as many
            "range": [math.log10(bits) for bits in (3.8, 17.5)],
            "tickvals": [4, 5, 6, 8, 12, 16],
            "title": {"text": _("bits per value")},
        },
        "yaxis": layout["yaxis"] | axis | {"title": {"text": _("SQNR (dB)")}, "range": [low, high]},
        "showlegend": False,
        "height": HEIGHTS_PX[look.present],
        "margin": {"l": 8, "r": 8, "t": 12, "b": 8},
    }
    return Picture(
        figure=drawing.figure(layout | frame), alt=_sentence(trials, names), table=_table(trials)
    )


def _draw_points(
    drawing: Drawing, trials: Sequence[Trial], names: tuple[str, str], look: Look
) -> None:
    """Draw a point a format, A and B above all others, and the line that no format is above."""
    front = best_per_bit(trials)
    drawing.scatter(
        x=[trial.bits for trial in front],
        y=[trial.stats.sqnr_db for trial in front],
        mode="lines",
        line={"color": look.color("reference"), "dash": "dot", "width": 2, "shape": "hv"},
        hoverinfo="skip",
    )
    ordered = sorted(trials, key=lambda trial: trial.name in names)
    drawing.scatter(
        x=[trial.bits for trial in ordered],
        y=[trial.stats.sqnr_db for trial in ordered],
        mode="markers",
        marker={
            "color": [look.color(_meaning(trial.name, names)) for trial in ordered],
            "symbol": [_symbol(trial, names) for trial in ordered],
            "size": [15 if trial.name in names else 9 for trial in ordered],
        },
        text=[trial.name for trial in ordered],
        hovertemplate="%{text}: %{y:.1f} dB, %{x:.3f} bits<extra></extra>",
    )


def _meaning(name: str, names: tuple[str, str]) -> str:
    return {names[1]: "format_b", names[0]: "format_a"}.get(name, "muted")


def _symbol(trial: Trial, names: tuple[str, str]) -> str:
    shape = {names[1]: "square", names[0]: "diamond"}.get(trial.name, "circle")
    return f"{shape}-open" if trial.stats.lost_share else shape


def _draw_labels(
    drawing: Drawing,
    trials: Sequence[Trial],
    names: tuple[str, str],
    ends: tuple[float, float],
    look: Look,
) -> None:
    low, high = ends
    lowest, gap = 0.0, (high - low) * _LINE_SHARE * (1.6 if look.present else 1)
    for most_bits, place in _COLUMNS:
        column = [trial for trial in trials if lowest <= trial.bits < most_bits]
        lowest = most_bits
        if look.present:  # on a projector only what is compared is named; the rest is in the table
            column = [trial for trial in column if trial.name in names]
        heights = spread_labels([each.stats.sqnr_db for each in column], low, high, gap)
        for trial, height in zip(column, heights, strict=True):
            drawing.note(
                x=math.log10(trial.bits),
                y=trial.stats.sqnr_db,
                ay=height,
                text=f"<b>{trial.name}</b>" if trial.name in names else trial.name,
                **_style(_meaning(trial.name, names), place, look),
            )


def _style(meaning: str, place: float, look: Look) -> dict[str, Any]:
    return {
        "ax": math.log10(place),
        "xanchor": "right" if place == _RIGHT_ALIGNED else "left",
        "axref": "x",
        "ayref": "y",
        "showarrow": True,
        "arrowhead": 0,
        "arrowwidth": 1,
        "arrowcolor": look.color("border"),
        "standoff": 6,
        "bgcolor": look.color("background"),
        "borderpad": 0,
        "font": {
            "color": look.color("text" if meaning == "muted" else meaning),
            "size": PRESENT_CHART_TEXT_PX if look.present else CHART_TEXT_PX - 2,
        },
    }


def _ends(trials: Sequence[Trial], look: Look) -> tuple[float, float]:
    values = [trial.stats.sqnr_db for trial in trials] or [0.0, 1.0]
    low, high = min(values), max(values)
    room = max(high - low, 10.0) * (0.12 if look.present else 0.06)
    return low - room, high + room


def _sentence(trials: Sequence[Trial], names: tuple[str, str]) -> str:
    found = {trial.name: trial for trial in trials}
    parts = [
        _("{name}: {sqnr} at {bits} bits").format(
            name=name,
            sqnr=format_decibels(found[name].stats.sqnr_db),
            bits=f"{found[name].bits:.4g}",
        )
        for name in dict.fromkeys(names)
    ]
    best = _(", ").join(trial.name for trial in best_per_bit(trials))
    return _("{compared}. Better than every format of the same size or less: {best}.").format(
        compared=_("; ").join(parts), best=best or "-"
    )


def _table(trials: Sequence[Trial]) -> Table:
    ordered = sorted(trials, key=lambda trial: (trial.bits, -trial.stats.sqnr_db))
    return {
        _("format"): [trial.name for trial in ordered],
        _("bits per value"): [f"{trial.bits:.4g}" for trial in ordered],
        _("SQNR"): [format_decibels(trial.stats.sqnr_db) for trial in ordered],
        _("values lost"): [format_percent(trial.stats.lost_share) for trial in ordered],
    }


def spread_labels(heights: Sequence[float], low: float, high: float, gap: float) -> list[float]:
    """Return places at least `gap` apart and inside the picture, as near as can be to the heights.

    Labels that would touch form a cluster around the mean of what they want; clusters that touch
    become one (pool adjacent violators, which minimises the squared distances).
    """
    order = sorted(range(len(heights)), key=heights.__getitem__)
    clusters: list[list[float]] = []  # what each member asks of the lowest place of its cluster
    for place in order:
        clusters.append([heights[place]])
        while len(clusters) > 1 and _top(clusters[-2], gap) > _start(clusters[-1]):
            upper, below = clusters.pop(), clusters.pop()
            clusters.append(below + [want - gap * len(below) for want in upper])
    placed = [
        _start(cluster) + gap * number for cluster in clusters for number in range(len(cluster))
    ]
    inside = _keep_inside(placed, low + gap / 2, high - gap / 2, gap)
    return [height for _place, height in sorted(zip(order, inside, strict=True))]


def _start(cluster: Sequence[float]) -> float:
    return sum(cluster) / len(cluster)


def _top(cluster: Sequence[float], gap: float) -> float:
    return _start(cluster) + gap * len(cluster)


def _keep_inside(places: list[float], low: float, high: float, gap: float) -> list[float]:
    """Push ascending places up from the lower end, then down from the upper one."""
    for number, place in enumerate(places):
        places[number] = max(place, low if number == 0 else places[number - 1] + gap)
    for number in reversed(range(len(places))):
        ceiling = high if number == len(places) - 1 else places[number + 1] - gap
        places[number] = min(places[number], ceiling)
    return places


TAB: Final = Tab(
    label=N_("Quality"), show=standing, question=ask_about_outliers, choose=_choose_model
)
