"""Colours by meaning: readable from the last row, apart for every eye, the same in every place."""

import itertools
import math
import re
import tomllib

import pytest
from plotly.graph_objects import Layout

from core.figures.theme import COLORS, GROUPS, MODES, css_variables, plotly_layout

TEXTS = ("text", "muted", "accent")
PAGE = ("background", "surface", "border", *TEXTS)
# Machado, Oliveira, Fernandes 2009, "A physiologically-based model for simulation of color vision
# deficiency", severity 1.0, for linear RGB.
VISIONS = {
    "normal": ((1, 0, 0), (0, 1, 0), (0, 0, 1)),
    "protanopia": (
        (0.152286, 1.052583, -0.204868),
        (0.114503, 0.786281, 0.099216),
        (-0.003882, -0.048116, 1.051998),
    ),
    "deuteranopia": (
        (0.367322, 0.860646, -0.227968),
        (0.280085, 0.672501, 0.047413),
        (-0.011820, 0.042940, 0.968881),
    ),
    "tritanopia": (
        (1.255528, -0.076749, -0.178779),
        (-0.078411, 0.930809, 0.147602),
        (0.004733, 0.691367, 0.303900),
    ),
}
each_mode = pytest.mark.parametrize("mode", MODES)


def linear(color):
    """sRGB to linear light (IEC 61966-2-1)."""
    values = [int(color[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    return [v / 12.92 if v <= 0.04045 else ((v + 0.055) / 1.055) ** 2.4 for v in values]


def luminance(color):
    red, green, blue = linear(color)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one, other):
    """WCAG 2.1, 1.4.3."""
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


def lab(color, vision):
    """CIE 1976 L*a*b* under D65 of what an eye of this kind sees."""
    light = linear(color)
    red, green, blue = (
        min(1, max(0, sum(m * v for m, v in zip(row, light, strict=True))))
        for row in VISIONS[vision]
    )
    x = (0.4124564 * red + 0.3575761 * green + 0.1804375 * blue) / 0.95047
    y = 0.2126729 * red + 0.7151522 * green + 0.0721750 * blue
    z = (0.0193339 * red + 0.1191920 * green + 0.9503041 * blue) / 1.08883
    fx, fy, fz = (
        t ** (1 / 3) if t > 216 / 24389 else (24389 / 27 * t + 16) / 116 for t in (x, y, z)
    )
    return 116 * fy - 16, 500 * (fx - fy), 200 * (fy - fz)


@each_mode
def test_text_has_a_contrast_of_7_on_page_and_surface(mode):
    colors = COLORS[mode]
    for text, ground in itertools.product(TEXTS, ("background", "surface")):
        assert contrast(colors[text], colors[ground]) >= 7, (text, ground)


@each_mode
def test_marks_have_a_contrast_of_3_on_page_and_surface(mode):
    colors = COLORS[mode]
    for mark, ground in itertools.product(set(colors) - set(PAGE), ("background", "surface")):
        assert contrast(colors[mark], colors[ground]) >= 3, (mark, ground)


@each_mode
def test_text_over_the_strongest_surprise_has_a_contrast_of_4_5(mode, root):
    script = (root / "pages/components/live_chart/surprise.js").read_text(encoding="utf-8")
    share = float(re.search(r"STRONGEST = ([\d.]+)", script)[1])
    tint, paper = (COLORS[mode][name] for name in ("surprise", "surface"))
    pairs = zip(
        *((int(color[i : i + 2], 16) for i in (1, 3, 5)) for color in (tint, paper)), strict=True
    )
    mixed = "#" + "".join(f"{round(share * t + (1 - share) * p):02x}" for t, p in pairs)
    assert contrast(COLORS[mode]["text"], mixed) >= 4.5


@each_mode
@pytest.mark.parametrize("vision", VISIONS)
def test_colours_that_stand_together_stay_apart_for_every_eye(mode, vision):
    """A distance of 2.3 is just noticeable (Mahy 1994); marks that are small need far more."""
    for group in GROUPS:
        for one, other in itertools.combinations(group, 2):
            distance = math.dist(*(lab(COLORS[mode][name], vision) for name in (one, other)))
            assert distance >= 11, (one, other, round(distance, 1))


def test_light_and_dark_know_the_same_meanings():
    assert set(COLORS["light"]) == set(COLORS["dark"])
    assert {name for group in GROUPS for name in group} <= set(COLORS["light"])


@each_mode
def test_streamlits_theme_repeats_the_table(root, mode):
    config = tomllib.loads((root / ".streamlit" / "config.toml").read_text(encoding="utf-8"))
    colors = COLORS[mode]
    assert config["theme"][mode] == {
        "primaryColor": colors["accent"],
        "backgroundColor": colors["background"],
        "secondaryBackgroundColor": colors["surface"],
        "textColor": colors["text"],
        "linkColor": colors["accent"],
        "borderColor": colors["border"],
        "codeBackgroundColor": colors["surface"],
        "codeTextColor": colors["text"],
        "grayTextColor": colors["muted"],
    }


@each_mode
def test_the_layout_is_plain_and_plotly_accepts_it(mode):
    layout = plotly_layout(mode)
    assert type(layout) is dict
    assert Layout(**layout).paper_bgcolor == COLORS[mode]["background"]


def test_on_a_projector_chart_text_has_at_least_18_px():
    layout = plotly_layout("light", present=True)
    assert layout["font"]["size"] >= 18
    assert layout["xaxis"]["tickfont"]["size"] >= 18
    assert layout["legend"]["font"]["size"] >= 18


def test_a_theme_that_is_not_known_is_refused():
    with pytest.raises(ValueError, match="'sepia' is not known; use one of: light, dark"):
        plotly_layout("sepia")


def test_css_variables_hold_both_colours_of_every_meaning():
    text = css_variables()
    assert "--b2g-kv-cache:light-dark(#2f86be,#a5dcfa);" in text
    assert text.count("light-dark(") == len(COLORS["light"])
