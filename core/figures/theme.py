"""One colour per meaning, for charts, components and the page itself.

The hues are those of Okabe and Ito (2008, "Color universal design"), darkened for the light page
and lightened for the dark one until a mark reaches 3:1 and a text 7:1 against its background
(WCAG 2.1).
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Final, Literal

Mode = Literal["light", "dark"]
MODES: Final[tuple[Mode, ...]] = ("light", "dark")

# Every machine has one of these, in this order; the names after the Latin ones carry Chinese.
FONT_FAMILY: Final = (
    '"Source Sans", "Segoe UI", "Helvetica Neue", Arial, "Noto Sans SC", "Noto Sans CJK SC", '
    '"PingFang SC", "Microsoft YaHei", sans-serif'
)
CODE_FAMILY: Final = (  # DejaVu: a sign for a space that can be seen from afar
    '"Source Code Pro", Consolas, Menlo, "DejaVu Sans Mono", "Noto Sans Mono CJK SC", '
    '"Microsoft YaHei", monospace'
)

CHART_TEXT_PX: Final = 15
PRESENT_CHART_TEXT_PX: Final = 22

_HUES: Final[Mapping[Mode, Mapping[str, str]]] = {
    "light": {
        "vermillion": "#c44e00",
        "blue": "#0067a8",
        "green": "#00825d",
        "orange": "#b27500",
        "purple": "#8f2a6b",
        "sky": "#2f86be",
        "yellow": "#6e3a00",  # yellow cannot reach 3:1 on paper; its darkest shade is a brown
        "grey": "#838892",
    },
    "dark": {
        "vermillion": "#f07b35",
        "blue": "#4ea3e8",
        "green": "#2fbd90",
        "orange": "#f0b429",
        "purple": "#f2a9d2",
        "sky": "#a5dcfa",
        "yellow": "#f0e442",
        "grey": "#7d8593",
    },
}

_PAGE: Final[Mapping[Mode, Mapping[str, str]]] = {
    "light": {
        "background": "#fbfaf7",
        "surface": "#f0eee7",
        "text": "#14181f",
        "muted": "#434a58",
        "border": "#c9c5b9",
        "accent": "#00566b",
    },
    "dark": {
        "background": "#10151d",
        "surface": "#1a212c",
        "text": "#f3f1ea",
        "muted": "#b9bfca",
        "border": "#3a4454",
        "accent": "#6fd3e0",
    },
}

_MEANINGS: Final[Mapping[str, str]] = {
    "sign": "vermillion",
    "exponent": "blue",
    "mantissa": "green",
    "weights": "blue",
    "gradients": "orange",
    "optimizer": "purple",
    "activations": "green",
    "kv_cache": "sky",
    "temporary": "yellow",
    "other": "grey",
    "forward": "blue",
    "backward": "vermillion",
    "setup": "green",
    "exact": "green",
    "measured": "blue",
    "estimated": "orange",
    "data_sheet": "sky",
    "bound": "purple",
    "claimed": "yellow",
    "training_loss": "blue",
    "validation_loss": "vermillion",
    "learning_rate": "purple",
    "gradient_norm": "green",
    "throughput": "sky",
    "reference": "grey",
    "candidate_low": "blue",
    "candidate_high": "orange",
    "guard": "vermillion",
    "round_bit": "purple",
    "sticky": "sky",
    "format_a": "blue",
    "format_b": "orange",
    "format_c": "purple",
    "format_d": "green",
    "overflow": "vermillion",
    "underflow": "purple",
    "matrix_units": "green",
    "vector_units": "blue",
    "converted": "orange",
    "absent": "grey",
    "works": "green",
    "refused": "vermillion",
    "embedding": "sky",
    "attention": "vermillion",
    "feed_forward": "blue",
    "experts": "green",
    "norms": "grey",
    "axis_1": "blue",
    "axis_2": "orange",
    "axis_3": "green",
    "axis_4": "purple",
    "axis_5": "sky",
    "axis_6": "yellow",
    "grew": "vermillion",
    "shrank": "green",
    "written": "orange",
    "surprise": "orange",
    "positive": "blue",
    "negative": "orange",
    "side_a": "blue",
    "side_b": "orange",
}

# Meanings that stand side by side in one picture; inside a group no two may look alike.
GROUPS: Final[tuple[tuple[str, ...], ...]] = (
    ("sign", "exponent", "mantissa"),
    ("weights", "gradients", "optimizer", "activations", "kv_cache", "temporary", "other"),
    ("forward", "backward", "optimizer", "setup", "temporary", "other"),
    ("exact", "data_sheet", "measured", "bound", "estimated", "claimed"),
    ("training_loss", "validation_loss", "reference"),
    ("candidate_low", "candidate_high"),
    ("mantissa", "guard", "round_bit", "sticky"),
    ("format_a", "format_b", "format_c", "format_d"),
    ("overflow", "underflow"),
    ("matrix_units", "vector_units", "converted", "absent"),
    ("works", "refused"),
    ("embedding", "attention", "feed_forward", "experts", "norms"),
    ("grew", "shrank", "other"),
    ("positive", "negative"),
    ("side_a", "side_b"),
    ("axis_1", "axis_2", "axis_3", "axis_4", "axis_5", "axis_6"),
)

COLORS: Final[Mapping[Mode, Mapping[str, str]]] = MappingProxyType(
    {
        mode: MappingProxyType(
            {**_PAGE[mode], **{meaning: _HUES[mode][hue] for meaning, hue in _MEANINGS.items()}}
        )
        for mode in MODES
    }
)


def plotly_layout(mode: Mode, *, present: bool = False) -> dict[str, Any]:
    """Return plotly layout fields as a plain dict, so that importing the theme costs nothing.

    Args:
        mode: "light" or "dark".
        present: Chart text for a projector (22 px instead of 15 px).

    Raises:
        ValueError: If the mode is neither light nor dark.
    """
    if mode not in COLORS:
        raise ValueError(f"theme {mode!r} is not known; use one of: {', '.join(MODES)}")
    color = COLORS[mode]
    size = PRESENT_CHART_TEXT_PX if present else CHART_TEXT_PX
    font = {"family": FONT_FAMILY, "size": size, "color": color["text"]}
    axis = _axis(color, font)
    return {
        "paper_bgcolor": color["background"],
        "plot_bgcolor": color["background"],
        "font": font,
        "title": {"font": {**font, "size": size + 4}, "x": 0, "xanchor": "left"},
        "colorway": [color[name] for name in GROUPS[1]],
        "xaxis": axis,
        "yaxis": dict(axis),
        "legend": {"orientation": "h", "x": 0, "y": 1.02, "yanchor": "bottom", "font": font},
        "hoverlabel": {"bgcolor": color["surface"], "bordercolor": color["border"], "font": font},
        "margin": {"l": 8, "r": 8, "t": 48, "b": 8},
    }


def css_variables() -> str:
    """Return every colour as a CSS variable, `--b2g-<meaning>`, that follows the page's theme.

    The browser chooses between the two by the `color-scheme` in force where the colour is used.
    """
    light, dark = COLORS["light"], COLORS["dark"]
    return "".join(
        f"--b2g-{name.replace('_', '-')}:light-dark({light[name]},{dark[name]});" for name in light
    )


def _axis(color: Mapping[str, str], font: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "gridcolor": color["border"],
        "linecolor": color["muted"],
        "zerolinecolor": color["muted"],
        "tickfont": font,
        "automargin": True,
    }
