"""How fast answers come: throughput over latency."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final

from core.budget.budget import fit_words
from core.budget.item import Item, is_uncertain
from core.budget.serving.latency import decode_latency, prefill_latency
from core.budget.serving.memory import inference_budget
from core.budget.serving.plan import ServingPlan
from core.budget.serving.throughput import (
    Curve,
    CurvePoint,
    device_speed,
    throughput_curve,
    user_speed,
)
from core.figures.budget.frames import framed
from core.figures.picture import Drawing, Look, Picture, Table
from core.language import N_, _, ngettext
from core.units import format_count, format_rate, format_seconds
from pages.plan.serving.code import rules
from pages.plan.serving.inputs import MARGIN, Case, words_of
from pages.shared.answer import if_fitted
from pages.shared.beside import Compared, named_beside
from pages.shared.settings import look
from pages.shared.tabbed_page import Chart, Shown, Tab

SPEED: Final = """
# {count} concurrent
{rules}
print(f"{{1 / time_per_token:.4g}} tokens/s for each of {count} users")
"""
DEVICE: Final = """
# prompts included
{prefill}
concurrency, output_len = {count}, {output_len}
answers = concurrency * output_len
seconds = concurrency * time_to_first_token + output_len * time_per_token
print(f"{{answers / seconds / {tensor}:.4g}} tokens/s per device")
"""
SPEED_HEIGHT_PX: Final = 330
_APART_X, _APART_Y = 0.09, 0.09  # of the picture, between two names
BOUNDS: Final[Mapping[str, str]] = {"reading": N_("memory-bound"), "computing": N_("compute-bound")}
_SYMBOLS: Final = {"reading": "circle", "computing": "square"}


def speed_picture(curve: Curve, chosen: int, look: Look) -> Picture:
    """Return the curve from one sequence to many, the plan and the end of memory marked."""
    drawing = Drawing()
    _draw_curve(drawing, curve, look)
    _mark_end(drawing, curve, look)
    plan = next(point for point in curve.points if point.concurrency == chosen)
    open_mark = {"size": 14, "symbol": "diamond-open", "line": {"width": 3}}
    _mark(drawing, plan, _("your plan"), {"color": look.color("text"), **open_mark})
    figure = framed(
        drawing,
        look,
        height=SPEED_HEIGHT_PX,
        margin=MARGIN,
        x={"title": _("time per output token (ms)")},
        y={"title": _("tokens/s per device"), "title_standoff": 8, "rangemode": "tozero"},
    )
    return Picture(figure=figure, alt=_speed_sentence(curve), table=_speed_table(curve))


def _draw_curve(drawing: Drawing, curve: Curve, look: Look) -> None:
    """Draw what fits as a solid line, and where it ends the rest as a dotted one."""
    inside = [point for point in curve.points if point.fits]
    names = _names(curve)
    joint = inside[-1:]  # the dotted line goes on from where the other one ends
    beyond = [*joint, *(point for point in curve.points if not point.fits)]
    lines = (
        (beyond, [""] * len(joint) + names[len(inside) :], ("other", "dot", 6)),
        (inside, names, ("throughput", "solid", 9)),
    )
    for points, texts, (meaning, dash, size) in lines:
        if not points:
            continue
        color = look.color(meaning)
        drawing.scatter(
            **_places(points), mode="lines+markers+text",
            name=fit_words(points is inside, is_sure=not points[0].is_guess), text=texts,
            cliponaxis=False, textposition="bottom right",
            line={"color": color, "dash": dash, "width": 2.5},
            marker={"color": color, "size": size, "symbol": [_SYMBOLS[p.bound] for p in points]},
            customdata=list(map(_point_words, points)),
            hovertemplate="%{customdata}<extra>%{fullData.name}</extra>",
        )  # fmt: skip


def _names(curve: Curve) -> list[str]:
    """Return each point's number of sequences, left out where it would lie on another name."""
    width = curve.points[-1].seconds_per_token - curve.points[0].seconds_per_token
    height = max(point.tokens_per_second for point in curve.points)
    named: list[CurvePoint] = [each for each in (curve.last_that_fits,) if each]
    names = []
    for point in curve.points:
        near = any(
            abs(point.seconds_per_token - other.seconds_per_token) < _APART_X * width
            and abs(point.tokens_per_second - other.tokens_per_second) < _APART_Y * height
            for other in named
        )
        names.append("" if near else f"{point.concurrency:,}")
        named += [] if near else [point]
    return names


def _places(points: Sequence[CurvePoint]) -> dict[str, list[float]]:
    return {
        "x": [1e3 * point.seconds_per_token for point in points],
        "y": [point.tokens_per_second for point in points],
    }


def _point_words(point: CurvePoint) -> str:
    return _("{count} concurrent: {latency} per token, {speed} per device, {bound}").format(
        count=f"{point.concurrency:,}",
        latency=format_seconds(point.seconds_per_token),
        speed=format_rate(point.tokens_per_second, _("tokens")),
        bound=_(BOUNDS[point.bound]),
    )


def _mark_end(drawing: Drawing, curve: Curve, look: Look) -> None:
    end, color = curve.last_that_fits, look.color("refused")
    font = {"color": color}
    if end is None:
        text = _("not even one sequence fits")
        drawing.note(xref="paper", yref="paper", x=0.5, y=0.5, text=text, font=font)
        return
    _mark(drawing, end, _("KV cache full"), {"color": color, "size": 16, "symbol": "x"})
    text = _("KV cache full at {count}").format(count=f"{end.concurrency:,}")
    place = {"x": 1e3 * end.seconds_per_token, "y": end.tokens_per_second, "xshift": -12}
    drawing.note(**place, text=text, xanchor="right", yanchor="bottom", font=font)


def _mark(drawing: Drawing, point: CurvePoint, name: str, marker: Mapping[str, object]) -> None:
    drawing.scatter(
        **_places([point]), mode="markers", name=name, marker=marker,
        customdata=[_point_words(point)],
        hovertemplate="%{customdata}<extra>%{fullData.name}</extra>",
    )  # fmt: skip


def _speed_sentence(curve: Curve) -> str:
    first, last = curve.points[0], curve.last_that_fits
    if last is None and first.is_guess:
        return _(
            "Throughput against latency: perhaps not even one sequence fits beside the weights."
        )
    if last is None:
        return _("Throughput against latency: not even one sequence fits beside the weights.")
    return _("Throughput against latency: {first}; {last}, where the KV cache is full.").format(
        first=_point_words(first), last=_point_words(last)
    )


def _speed_table(curve: Curve) -> Table:
    points = curve.points
    return {
        _("concurrent sequences"): [point.concurrency for point in points],
        _("time per output token"): [format_seconds(point.seconds_per_token) for point in points],
        _("tokens/s per user"): [format_count(1 / point.seconds_per_token) for point in points],
        _("tokens/s per device"): [format_count(point.tokens_per_second) for point in points],
        _("limited by"): [_(BOUNDS[point.bound]) for point in points],
        _("Device memory"): [fit_words(point.fits, is_sure=not point.is_guess) for point in points],
    }


def speed(case: Case) -> Shown:
    """Show throughput over latency, and the plan's four numbers."""
    curve = throughput_curve(case.spec, case.plan, case.cluster)
    prefill = prefill_latency(case.spec, case.plan, case.cluster)
    token = decode_latency(case.spec, case.plan, case.cluster)
    fits = inference_budget(case.spec, case.plan, case.cluster).fits
    numbers = {
        _("first token (TTFT)"): prefill,
        _("each token (TPOT)"): token,
        _("per user"): user_speed(token),
        _("per device"): device_speed(case.plan, prefill, token),
    }
    picture = speed_picture(curve, case.plan.concurrency, look())
    return Shown(
        headline=speed_sentence(case),
        charts=[Chart(picture=picture, file_name="latency-throughput")],
        numbers=[(if_fitted(label, fits=fits), item) for label, item in numbers.items()],
        notes=[_band_said(token)],
        code=_speed_code(case, prefill),
    )


def _side(case: Case, name: str) -> Compared:
    prefill = prefill_latency(case.spec, case.plan, case.cluster)
    token = decode_latency(case.spec, case.plan, case.cluster)
    rows = [
        (_("tokens/s per user"), user_speed(token)),
        (_("tokens/s per device"), device_speed(case.plan, prefill, token)),
        (_("first token (TTFT)"), prefill),
        (_("each token (TPOT)"), token),
    ]
    verdict = inference_budget(case.spec, case.plan, case.cluster).words
    code = speed_code([case.plan], [token], None)
    return Compared(name=name, rows=rows, verdict=verdict, code=code)


def _band_said(token: Item) -> str:
    """Return how long a token may take, and where that band comes from."""
    if token.high == math.inf:
        return _("How much longer a token takes is not known: not everything was counted.")
    return _("Each token takes {low} to {high}: {why}.").format(
        low=format_seconds(token.low), high=format_seconds(token.high), why=_(token.source)
    )


def speed_sentence(case: Case) -> str:
    """Return the speed for one user and for as many as memory allows."""
    curve = _curve_from_one(case)
    first, last = curve.points[0], curve.last_that_fits
    is_guess = is_uncertain(case.spec)
    one = format_count(1 / first.seconds_per_token)
    words = {"one": _("about {amount}").format(amount=one) if is_guess else one}
    if last is None:
        said = _("One user would get {one} tokens/s, but not one sequence fits")
        if is_guess:
            said = _("One user would get {one} tokens/s, but perhaps not one sequence fits")
        return said.format(**words)
    words |= {
        "each": format_count(1 / last.seconds_per_token),
        "device": format_count(last.tokens_per_second),
        "count": f"{'≈ ' if is_guess else ''}{last.concurrency:,}",
    }
    said = ngettext(
        "{one} tokens/s for one user; KV cache full at {count} sequence ({device} tokens/s per "
        "device, prompts included)",
        "{one} tokens/s for one user; KV cache full at {count} concurrent users: {each} each, "
        "{device} per device, prompts included",
        last.concurrency,
    ).format(**words)
    return said[:1].upper() + said[1:]


def _curve_from_one(case: Case) -> Curve:
    return throughput_curve(case.spec, replace(case.plan, concurrency=1), case.cluster)


def _speed_code(case: Case, prefill: Item) -> str:
    last = _curve_from_one(case).last_that_fits
    counts = (1, last.concurrency) if last and last.concurrency > 1 else (1,)
    plans = [replace(case.plan, concurrency=count) for count in counts]
    tokens = [decode_latency(case.spec, plan, case.cluster) for plan in plans]
    return speed_code(plans, tokens, prefill if last else None)


def speed_code(plans: Sequence[ServingPlan], tokens: Sequence[Item], prefill: Item | None) -> str:
    """Return code for the speed of some plans, and of the device with the last if it fits."""
    known: dict[str, str] = {}
    parts = [
        SPEED.format(count=plan.concurrency, rules=rules(token, known=known))
        for plan, token in zip(plans, tokens, strict=True)
    ]
    if prefill:
        last = plans[-1]
        device = DEVICE.format(
            prefill=rules(prefill, known=known),
            count=last.concurrency,
            output_len=last.output_len,
            tensor=last.tensor,
        )
        parts.append(device)
    return "".join(parts)


TAB: Final = Tab(label=N_("Speed"), show=speed, compare=named_beside(words_of, _side))
