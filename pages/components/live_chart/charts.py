"""The charts of the live run without a run: what stands still; charts.js fills in what moves.

Every trace says in `meta.role` what belongs into it, and in `meta.label` how its label is
written. These are Plotly's data and layout as plain values: Python draws none of them.
"""

from typing import Any, Final

from core.figures.picture import Look
from core.language import N_, _
from pages.components.live_chart.words import CATEGORY_NAMES

Piece = dict[str, Any]
# Each label ends at a third of its own, so that they never meet, however close the lines are; the
# lowest one last and above its line, where the curve has long fallen below it.
RUNGS: Final = (
    ("ln_vocab", "dot", N_("uniform: {value}"), 1 / 3, "bottom left"),
    ("unigram_entropy", "dash", N_("unigram: {value}"), 2 / 3, "top left"),
    ("bigram_entropy", "dashdot", N_("bigram: {value}"), 1.0, "top left"),
)
# Of each run beside the shown one: whoever sees no colours still tells them apart.
BESIDE: Final = (
    ("activations", "dash", "square"),
    ("gradients", "dot", "circle"),
    ("optimizer", "dashdot", "triangle-up"),
    ("kv_cache", "longdash", "x"),
    ("other", "longdashdot", "star"),
)
_NORM_TICKS: Final = [digit * 10.0**power for power in range(-4, 5) for digit in (1, 2, 5)]


def empty_charts(look: Look, *, show_prediction: bool = True) -> list[Piece]:
    """Return the five charts, the headline first."""
    changes, title = [_changes(look)], _("gradient norm")
    clipped = _reference("grad_clip", _("clipped at {value}"), "dash", look)
    # Plotly's own labels between the powers of ten are too small for a projector.
    ticks = {"tickvals": _NORM_TICKS, "ticktext": [f"{tick:g}" for tick in _NORM_TICKS]}
    speed, rate = _("tokens per second"), _("learning rate")
    promised = [_reference("predicted_rate", _("predicted: {value}"), "dash", look)]
    line = {"width": 1.2, "showlegend": False, "connectgaps": True}
    loss = _chart("loss", _loss(look) + changes, look, _("loss (nats per token)"))
    loss["layout"]["meta"]["lines"] = [
        {"color": look.color(meaning), "dash": dash, "symbol": symbol}
        for meaning, dash, symbol in BESIDE
    ]
    return [
        loss,
        _memory(look, show_prediction=show_prediction),
        _chart(
            "learning_rate",
            [_line("learning_rate", rate, "learning_rate", look, showlegend=False), *changes],
            look,
            rate,
        ),
        _chart(
            "grad_norm",
            [clipped, _line("grad_norm", title, "gradient_norm", look, **line), *changes],
            look,
            title,
            type="log",
            **ticks,
        ),
        _chart(
            "tokens_per_second",
            [
                *(promised if show_prediction else []),
                _line("tokens_per_second", speed, "throughput", look, **line),
                *changes,
            ],
            look,
            speed,
            rangemode="tozero",
            exponentformat="SI",
        ),
    ]


def _loss(look: Look) -> list[Piece]:
    """Return the rungs that need no network, then the losses.

    ln V is the loss of a uniform guess; the entropies are counted in the run's own text.
    """
    rungs = [
        _reference(name, _(label), dash, look, at, side) for name, dash, label, at, side in RUNGS
    ]
    evaluated = {"mode": "lines+markers", "marker": {"size": 8, "symbol": "diamond"}}
    broken = {"mode": "markers", "marker": {"size": 12, "symbol": "x"}, "showlegend": False}
    return [
        *rungs,
        _line("ghost", _("earlier attempt"), "muted", look, width=1, dash="dot"),
        _line("training", _("training loss"), "training_loss", look, width=1, opacity=0.7),
        _line("smoothed", _("smoothed"), "training_loss", look, width=2.5),
        _line(
            "validation", _("validation"), "validation_loss", look, **evaluated, cliponaxis=False
        ),
        _line("non_finite", _("not a finite number"), "text", look, **broken, cliponaxis=False),
    ]


def _memory(look: Look, *, show_prediction: bool) -> Piece:
    """Return bytes by category over the steps (left), the newest beside the prediction (right).

    On a projector the bars have the whole width. The resident size of the whole process is drawn
    only on request: it holds Python and PyTorch too, and would press the categories flat. On a GPU
    that is another memory: there an outline over what is measured says how much was held at one
    time, by the allocator. The browser drops whichever of the two the run does not have.
    """
    areas = [] if look.present else [_area(name, look) for name in CATEGORY_NAMES]
    places = [_("measured"), *([_("predicted")] if show_prediction else [])]
    bars = [_bar(name, places, look) for name in CATEGORY_NAMES]
    resident = _line(
        "resident", "", "muted", look, dash="dot", visible="legendonly",
        label=_("whole process (RSS): {value}"),
    )  # fmt: skip
    traces = [*areas, *bars, _peak(look), *([] if look.present else [resident])]
    chart = _chart("memory", traces, look, "", rangemode="tozero")
    small = {"domain": [0, 0.28], "nticks": 2, "tickangle": 0}
    # The loss says what its axis is.
    chart["layout"]["xaxis"] |= {"visible": False} if look.present else small
    of_bars = {"anchor": "y", "fixedrange": True, "tickangle": 0, "automargin": True}
    if not look.present:
        of_bars["tickfont"] = {"size": 12}  # on a phone, too, the two names stand apart
    # The names of the parts stand between the two bars, in the room of two more.
    slots = [places[0], " ", "  ", *places[1:]]
    chart["layout"] |= {
        "barmode": "stack",
        "bargap": 0.1,
        "showlegend": not look.present,
        "xaxis2": {
            "domain": [0 if look.present else 0.34, 1],
            "categoryorder": "array",
            "categoryarray": slots,
            "tickvals": places,
            "range": [-0.5, len(slots) - 0.5],
        }
        | of_bars,
    }
    chart["layout"]["meta"]["labels"] = {
        "names": [_(name) for name in CATEGORY_NAMES.values()],
        "colors": [look.color(name) for name in CATEGORY_NAMES],
        "size": 22 if look.present else 12,
        "around": 70 if look.present else 96,  # pixels of the chart above and below the bars
        "apart": 3,
        "num_bars": len(places),
    }
    return chart


def _area(name: str, look: Look) -> Piece:
    of_category = {"showlegend": False, "stackgroup": "measured"}
    return _line("area", _(CATEGORY_NAMES[name]), name, look, width=1, category=name, **of_category)


def _bar(name: str, places: list[str], look: Look) -> Piece:
    color = look.color(name)
    return {
        "type": "bar",
        "x": places,
        "xaxis": "x2",
        "name": _(CATEGORY_NAMES[name]),
        "showlegend": False,
        "marker": {
            "color": color,
            "line": {"color": color, "width": 1},
            "pattern": {"shape": ["", "/"], "fillmode": "replace", "solidity": 0.35},
        },
        "meta": {"role": "bar", "category": name},
        "hovertemplate": "%{x}: %{y:.3f}<extra>%{fullData.name}</extra>",
    }


def _peak(look: Look) -> Piece:
    return {
        "type": "bar",
        "x": [_("measured")],
        "base": [0],  # Plotly stacks no bar that says where it begins
        "xaxis": "x2",
        "marker": {"color": "rgba(0,0,0,0)", "line": {"color": look.color("text"), "width": 2}},
        "meta": {"role": "peak", "label": _("peak: {value}")},
        "hovertemplate": "%{y:.3f}<extra>%{fullData.name}</extra>",
    }


def _line(role: str, name: str, meaning: str, look: Look, **style: Any) -> Piece:  # noqa: ANN401
    """Return a line; `style` may hold width, dash, what else `meta` says, and fields of Plotly."""
    line = {"width": style.pop("width", 2), "dash": style.pop("dash", "solid")}
    meta = {key: style.pop(key) for key in ("category", "label") if key in style}
    return {
        "type": "scatter",
        "name": name,
        "mode": "lines",
        "line": {"color": look.color(meaning)} | line,
        "meta": {"role": role} | meta,
        **style,
    }


def _reference(
    role: str, label: str, dash: str, look: Look, at: float = 1.0, side: str = "bottom left"
) -> Piece:
    """Return a horizontal line across the run with its label, in which {value} stands.

    The label ends at the share `at` of the line: labels of lines that may come close to each other
    have stretches of their own.
    """
    return {
        "type": "scatter",
        "textposition": side,
        "textfont": {"color": look.color("muted")},
        "mode": "lines+markers+text",
        "marker": {"size": 9, "opacity": 0},  # unseen: it keeps the label off the line
        "line": {"color": look.color("reference"), "dash": dash, "width": 1.5},
        "meta": {"role": role, "label": label, "at": at},
        "showlegend": False,
        "hoverinfo": "skip",
    }


def _changes(look: Look) -> Piece:
    """Return a triangle and a vertical line at each step where a new multiplier took effect."""
    downwards = {"type": "data", "symmetric": False, "width": 0, "thickness": 1}
    return {
        "type": "scatter",
        "error_y": downwards | {"color": look.color("muted")},
        "mode": "markers+text",
        "marker": {"symbol": "triangle-down", "size": 10, "color": look.color("text")},
        "yaxis": "y2",
        "name": _("learning-rate multiplier"),
        "meta": {"role": "multiplier"},
        "showlegend": False,
        "hovertemplate": "%{x}: %{customdata}<extra></extra>",
    }


def _chart(name: str, traces: list[Piece], look: Look, title: str, **of_y: object) -> Piece:
    """Return a chart with axes, the hidden axis of the change marks, and the look.

    `uirevision` is a constant, so that a reader's zoom survives every redraw.
    """
    base, plain = look.layout(), {"zeroline": False}
    x = {"title": {"text": ""}, "rangemode": "tozero", "autorangeoptions": {}}
    y = {"title": {"text": title}, "type": "linear", "exponentformat": "power"}
    layout = base | {
        "margin": base["margin"] | {"t": 40 if name == "loss" else 28},
        "uirevision": name,
        "meta": {"name": name},
        "xaxis": base["xaxis"] | plain | x,
        "yaxis": base["yaxis"] | plain | y | of_y,
        "yaxis2": {"overlaying": "y", "range": [0, 1], "visible": False, "fixedrange": True},
        "hovermode": "closest",
        "template": {"data": {"scatter": [{"type": "scatter"}]}},  # Plotly's "none"
    }
    return {"data": traces, "layout": layout}
