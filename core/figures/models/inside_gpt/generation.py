"""Generation: the chances that a token is drawn from, and what each token costs."""

from collections.abc import Sequence
from typing import Final

from core.figures.picture import Drawing, Look, Picture
from core.language import _
from core.models.generation import GeneratedToken, forward_flops
from core.models.spec import GPTShape
from core.units import format_bytes, format_count, format_percent

HEIGHT_PX: Final = 330
PRESENT_HEIGHT_PX: Final = 300
NUM_BARS: Final = 8
PRESENT_BARS: Final = 5  # whose signs do not touch on a projector


def generation_picture(
    written: Sequence[GeneratedToken], signs: Sequence[str], vocabulary: Sequence[str],
    shape: GPTShape, look: Look,
) -> Picture:  # fmt: skip
    """Return the chances of the first token on the left, the work for each token on the right.

    Args:
        written: The tokens, in their order; at least one.
        signs: A visible sign for each of them.
        vocabulary: A visible sign for each token of the vocabulary.
        shape: Of the model that wrote them.
        look: How the reader wants to see.
    """
    drawing = Drawing()
    plain = written[0].logits.float().softmax(0)
    best = plain.topk(min(PRESENT_BARS if look.present else NUM_BARS, len(plain))).indices.tolist()
    _draw_chances(drawing, written[0], best, vocabulary, look)
    uncached = [forward_flops(shape, each.num_seen, each.num_seen) for each in written]
    _draw_work(drawing, written, uncached, signs, look)
    first, last = written[0], written[-1]
    alt = _(
        "The likeliest next token is {token} with {plain}; at this temperature and top-k it is "
        "drawn with {chance}. Token {count} costs {cached} FLOPs with the KV cache, which then "
        "holds {memory}, and {whole} FLOPs without."
    ).format(
        token=vocabulary[best[0]], plain=format_percent(float(plain[best[0]])),
        chance=format_percent(float(first.chances[best[0]])), count=len(written),
        cached=format_count(last.flops), memory=format_bytes(last.cache_bytes),
        whole=format_count(uncached[-1]),
    )  # fmt: skip
    return Picture(
        figure=drawing.figure(_layout(look, [vocabulary[each] for each in best])),
        alt=alt,
        table=_table(written, uncached, signs),
    )


def _draw_chances(
    drawing: Drawing, first: GeneratedToken, best: Sequence[int], vocabulary: Sequence[str],
    look: Look,
) -> None:  # fmt: skip
    """Draw what is drawn from as bars, and what the model says at temperature 1 as marks."""
    plain = first.logits.float().softmax(0)
    places, names = list(range(len(best))), [vocabulary[each] for each in best]
    drawing.bar(
        x=[float(first.chances[each]) for each in best], y=places, orientation="h",
        marker={"color": look.color("forward")}, name=_("drawn with"), customdata=names,
        hovertemplate="%{customdata}: %{x:.2%}<extra></extra>",
    )  # fmt: skip
    drawing.scatter(
        x=[float(plain[each]) for each in best], y=places, mode="markers",
        marker={"symbol": "line-ns-open", "size": 18, "line": {"width": 3},
                "color": look.color("reference")},
        name=_("at temperature 1"), customdata=names,
        hovertemplate="%{customdata}: %{x:.2%}<extra></extra>",
    )  # fmt: skip


def _draw_work(
    drawing: Drawing, written: Sequence[GeneratedToken], uncached: Sequence[int],
    signs: Sequence[str], look: Look,
) -> None:  # fmt: skip
    steps = list(range(1, len(written) + 1))
    lines = (
        (_("without a cache"), list(uncached), look.color("backward"), "dash"),
        (_("with the KV cache"), [each.flops for each in written], look.color("kv_cache"), "solid"),
    )
    for name, flops, color, dash in lines:
        drawing.scatter(
            x=steps, y=flops, name=name, mode="lines+markers", xaxis="x2", yaxis="y2",
            line={"color": color, "width": 3, "dash": dash}, marker={"size": 6},
            customdata=list(signs), hovertemplate="%{customdata}: %{y:.3s} FLOPs<extra></extra>",
        )  # fmt: skip


def _layout(look: Look, names: Sequence[str]) -> dict[str, object]:
    layout = look.layout()
    plain = {"showgrid": False, "zeroline": False}
    axes = {
        "xaxis": layout["xaxis"] | plain | {
            "nticks": 4,
            "domain": [0, 0.36], "tickformat": ".3~%", "rangemode": "tozero",
            "title": {"text": _("probability")},
        },
        "yaxis": layout["yaxis"] | plain | {
            "autorange": "reversed", "tickvals": list(range(len(names))), "ticktext": list(names),
            "title": {"text": "" if look.present else _("next token")},
        },
        "xaxis2": layout["xaxis"] | plain | {
            "domain": [0.5, 1], "anchor": "y2", "title": {"text": _("generated token")},
        },
        "yaxis2": layout["yaxis"] | {
            "anchor": "x2", "type": "log", "exponentformat": "SI", "dtick": 1,
            "title": {"text": _("FLOPs per token")},
        },
        "legend": {"orientation": "h", "y": 1.02, "yanchor": "bottom", "x": 0},
        "height": PRESENT_HEIGHT_PX if look.present else HEIGHT_PX,
        "margin": {"l": 8, "r": 8, "t": 8, "b": 8},
    }  # fmt: skip
    return layout | axes


def _table(
    written: Sequence[GeneratedToken], uncached: Sequence[int], signs: Sequence[str]
) -> dict[str, list[object]]:
    return {
        _("generated token"): list(signs),
        _("drawn with"): [format_percent(float(each.chances[each.id])) for each in written],
        _("tokens computed"): [each.num_computed for each in written],
        _("FLOPs with the KV cache"): [each.flops for each in written],
        _("FLOPs without a cache"): list(uncached),
        _("bytes of the KV cache"): [each.cache_bytes for each in written],
    }
