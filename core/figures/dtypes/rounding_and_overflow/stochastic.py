"""Stochastic rounding in a picture: how often each neighbour, and the mean on its way."""

import math
from fractions import Fraction
from typing import Any, Final

from core.dtypes.cast.draws import Draws
from core.dtypes.exact import to_float
from core.figures.dtypes.rounding_and_overflow.cast_words import digits, percent
from core.figures.picture import Drawing, Look, Picture
from core.language import _

HEIGHT_PX: Final = 340
PRESENT_HEIGHT_PX: Final = 350
_LEFT: Final = 0.42  # where the picture of the mean begins


def stochastic_picture(draws: Draws, number: Fraction | float, said: str, look: Look) -> Picture:
    """Return the counts of both neighbours on the left and the running mean on the right.

    The mean should end at the number; `said` is how the reader wrote it.
    """
    drawing, value = Drawing(), to_float(number)
    _draw_counts(drawing, draws, look)
    if not math.isfinite(draws.mean):  # where the line would be stands why there is no more of it
        text = _("The mean is {mean}.").format(mean=digits(draws.mean))
        if math.isfinite(draws.near):
            away = digits(draws.away)
            text += "<br>" + _("A single {away} among the draws is enough.").format(away=away)
        drawing.note(x=(_LEFT + 1) / 2, y=0.5, xref="paper", yref="paper", text=text)
    right = {"mode": "lines", "xaxis": "x2", "yaxis": "y2"}
    drawing.scatter(
        x=draws.sizes,
        y=[mean if math.isfinite(mean) else None for mean in draws.means],
        name=_("mean so far"),
        line={"color": look.color("text"), "width": 2.5},
        **right,
    )
    if math.isfinite(value):
        drawing.scatter(
            x=[draws.sizes[0], draws.sizes[-1]],
            y=[value, value],
            name=_("the number itself"),
            line={"color": look.color("exact"), "width": 2, "dash": "dash"},
            **right,
        )
    return Picture(
        figure=drawing.figure(_layout(look)),
        alt=_sentence(draws, said),
        table={_("number of draws"): list(draws.sizes), _("mean so far"): list(draws.means)},
    )


def _draw_counts(drawing: Drawing, draws: Draws, look: Look) -> None:
    counts, results = [draws.num_near, draws.num_away], [draws.near, draws.away]
    if draws.is_settled:
        counts, results = [sum(counts)], results[:1]
    drawing.bar(
        x=[digits(result) for result in results],
        y=counts,
        text=[f"{count:,}" for count in counts],
        textposition="outside",
        cliponaxis=False,
        marker={"color": [look.color(each) for each in ("candidate_low", "candidate_high")]},
        hoverinfo="x+y",
        name=_("stored"),
        showlegend=False,
    )


def _layout(look: Look) -> dict[str, Any]:
    """Return the layout: two bars on the left, the mean over the logarithm of draws right."""
    base = look.layout()
    across, up = base["xaxis"], base["yaxis"]
    means = {"dtick": 1, "title": {"text": _("number of draws")}}
    return base | {
        "height": PRESENT_HEIGHT_PX if look.present else HEIGHT_PX,
        "margin": {"l": 8, "r": 8, "t": 2.4 * base["font"]["size"], "b": 8},
        "xaxis": {**across, "domain": [0, 0.3], "type": "category", "title": {"text": _("stored")}},
        "yaxis": {**up, "title": {"text": _("how often")}},
        "xaxis2": {**across, **means, "domain": [_LEFT, 1], "anchor": "y2", "type": "log"},
        "yaxis2": {**up, "anchor": "x2", "zeroline": False, "title": {"text": _("mean")}},
        "legend": {**base["legend"], "x": _LEFT},
    }


def _sentence(draws: Draws, said: str) -> str:
    """Return the chance, the counts and the mean."""
    total = f"{draws.num_near + draws.num_away:,}"
    if draws.is_settled:
        return _("{number} rounded {count} times: {result} every time.").format(
            number=said, count=total, result=digits(draws.near)
        )
    return _(
        "{number} rounded {count} times: {near_count} times {near}, {away_count} times {away} "
        "(expected share {chance}). The mean is {mean}."
    ).format(
        number=said,
        count=total,
        near=digits(draws.near),
        near_count=f"{draws.num_near:,}",
        away=digits(draws.away),
        away_count=f"{draws.num_away:,}",
        chance=percent(draws.chance),
        mean=digits(draws.mean, 8),
    )
