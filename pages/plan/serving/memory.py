"""Weights and KV cache against the device, over one setting of the plan."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from textwrap import indent
from typing import Final

from core.budget.budget import Budget
from core.budget.item import Item, hedged
from core.budget.planning.plan import on_count
from core.budget.serving.latency import decode_latency
from core.budget.serving.memory import (
    MOST_SEQUENCES,
    Axis,
    MemorySweep,
    inference_budget,
    largest_concurrency,
    memory_sweep,
)
from core.budget.serving.throughput import user_speed
from core.figures.budget.frames import framed
from core.figures.picture import Drawing, Look, Picture, Table
from core.language import N_, _, ngettext
from core.units import format_count
from pages.plan.serving.code import rules, variable
from pages.plan.serving.inputs import MARGIN, Case, words_of
from pages.plan.serving.question import ask_how_many
from pages.shared.answer import if_fitted
from pages.shared.beside import Compared, named_beside
from pages.shared.plan.verdict import show_changes
from pages.shared.settings import look
from pages.shared.tabbed_page import Chart, Shown, Tab

MEMORY: Final = """
from math import ceil

{weights}
room = {capacity:_} - weights  # bytes


def growing(concurrency):
{growing}
    return {names}


cache, work = growing({plan})
print(f"weights {{weights / 2**30:.2f}} GiB, KV cache {{cache / 2**30:.2f}} GiB", end=", ")
print(f"workspace {{work / 2**30:.2f}} GiB")
most = 0
while most < {limit:_} and sum(growing(most + 1)) <= room:
    most += 1
print(f"{{most:,}} concurrent sequences fit")
"""
HEIGHTS: Final = (330, 315)
AXIS_TITLES: Final[Mapping[Axis, str]] = {
    "context": N_("context length (tokens)"),
    "sequences": N_("concurrent sequences"),
}
_AREAS: Final = (
    (N_("weights"), "weights", ""),
    (N_("workspace"), "activations", "."),
    (N_("KV cache"), "kv_cache", "/"),
)
_AREA_ROOM: Final = 1.2  # of the highest thing: names stand above it
_WORDS_ROOM: Final = 0.6  # of the picture's width: two names stand side by side on the capacity
_WORDS_BELOW: Final = 0.89  # of the picture's height: where words at its top end
_FEW: Final = 9  # sequences: each has its tick
_SIDE: Final = 0.3  # of the picture's width: words at a line nearer to the left stand beside it


def memory_picture(sweep: MemorySweep, device: str, look: Look) -> Picture:
    """Return stacked areas against the capacity, the plan and the end marked."""
    drawing = Drawing()
    for (word, meaning, pattern), amounts in zip(_AREAS, _parts(sweep), strict=True):
        color = look.color(meaning)
        drawing.scatter(
            x=sweep.values, y=[look.in_unit(amount) for amount in amounts], stackgroup="memory",
            mode="lines", name=_(word), line={"color": color, "width": 1.5},
            fillpattern={"shape": pattern, "fgcolor": color, "fillmode": "overlay", "size": 8},
            customdata=[look.format_bytes(amount) for amount in amounts],
            hovertemplate="%{x:,}: %{customdata}<extra>%{fullData.name}</extra>",
        )  # fmt: skip
    top = _AREA_ROOM * look.in_unit(max(sweep.capacity, _total(sweep, -1)))
    _draw_capacity(drawing, sweep, device, look, top)
    _draw_chosen(drawing, sweep, look)
    across: dict[str, object] = {"title": _(AXIS_TITLES[sweep.axis]), "tickformat": ",d"}
    across |= {"dtick": 1} if sweep.values[-1] < _FEW else {}  # no half sequences
    figure = framed(
        drawing,
        look,
        height=HEIGHTS[look.present],
        margin=MARGIN,
        x=across | {"showgrid": False, "range": [1, sweep.values[-1]]},
        y={"title": look.unit, "title_standoff": 8, "range": [0, top]},
    )
    alt = _memory_sentence(sweep, device, look)
    return Picture(figure=figure, alt=alt, table=_memory_table(sweep, look))


def _parts(sweep: MemorySweep) -> tuple[Sequence[float], ...]:
    return ([sweep.weights] * len(sweep.values), sweep.work_spaces, sweep.caches)


def _total(sweep: MemorySweep, place: int) -> float:
    return sweep.weights + sweep.caches[place] + sweep.work_spaces[place]


def chosen_bytes(sweep: MemorySweep) -> float:
    return _total(sweep, sweep.values.index(sweep.chosen))


def _draw_capacity(
    drawing: Drawing, sweep: MemorySweep, device: str, look: Look, top: float
) -> None:
    """Draw the capacity, and a line where the areas cross it: its words lie on no area.

    They stand on the capacity where the areas reach it far enough to the right; else at the top of
    the picture, which the areas never reach.
    """
    height, color = look.in_unit(sweep.capacity), look.color("refused")
    line, font = {"color": color, "width": 3}, {"color": color}
    drawing.shape(type="line", line=line, xref="paper", x0=0, x1=1, y0=height, y1=height)
    name = f"{device}: {look.format_bytes(sweep.capacity)}"
    full = _("full at {value}").format(value=f"{'≈ ' if sweep.is_guess else ''}{sweep.largest:,}")
    share = sweep.largest / sweep.values[-1]
    is_free = share >= _WORDS_ROOM
    if 0 < share <= 1:
        end = height if is_free else _WORDS_BELOW * top
        dotted = {"color": color, "width": 2, "dash": "dot"}
        drawing.shape(type="line", line=dotted, x0=sweep.largest, x1=sweep.largest, y0=0, y1=end)
    if is_free:
        drawing.note(xref="paper", x=0.01, xanchor="left", **_on(height), text=name, font=font)
        if share <= 1:
            drawing.note(x=sweep.largest, xanchor="right", **_on(height), text=full, font=font)
        return
    text = _("{name}, {full}").format(name=name, full=full) if share else name
    side = "left" if share < _SIDE else "center"
    at_top = {"yref": "paper", "y": 1, "yanchor": "top"}
    drawing.note(x=max(1, sweep.largest), xanchor=side, **at_top, text=text, font=font)


def _on(height: float) -> dict[str, float | str]:
    return {"y": height, "yanchor": "bottom"}


def _draw_chosen(drawing: Drawing, sweep: MemorySweep, look: Look) -> None:
    total, color = chosen_bytes(sweep), look.color("text")
    drawing.scatter(
        x=[sweep.chosen, sweep.chosen], y=[0, look.in_unit(total)], mode="lines+markers",
        name=_("your plan"), line={"color": color, "width": 2},
        marker={"color": color, "size": [0, 11], "symbol": "diamond"},
        customdata=[look.format_bytes(total)] * 2,
        hovertemplate="%{x:,}: %{customdata}<extra>%{fullData.name}</extra>",
    )  # fmt: skip


def _memory_sentence(sweep: MemorySweep, device: str, look: Look) -> str:
    words = {
        "weights": look.format_bytes(sweep.weights),
        "device": device,
        "capacity": look.format_bytes(sweep.capacity),
        "setting": _(AXIS_TITLES[sweep.axis]),
        "largest": f"{'≈ ' if sweep.is_guess else ''}{sweep.largest:,}",
    }
    if not sweep.largest:
        said = _(
            "Memory by {setting}: beside {weights} of weights nothing fits in the {capacity} of "
            "{device}."
        )
        if sweep.is_guess:
            said = _(
                "Memory by {setting}: beside {weights} of weights perhaps nothing fits in the "
                "{capacity} of {device}."
            )
        return said.format(**words)
    if sweep.largest > sweep.values[-1]:
        words["last"] = f"{sweep.values[-1]:,}"
        return _(
            "Memory by {setting}: {weights} of weights stay, the KV cache grows, and {device} "
            "with {capacity} is not full at {last} yet.",
            **words,
        )
    return _(
        "Memory by {setting}: {weights} of weights stay, the KV cache grows, and {device} with "
        "{capacity} is full at {largest}.",
        **words,
    )


def _memory_table(sweep: MemorySweep, look: Look) -> Table:
    columns = {
        _(name): [look.format_bytes(amount) for amount in amounts]
        for (name, *_look), amounts in zip(_AREAS, _parts(sweep), strict=True)
    }
    totals = [look.format_bytes(_total(sweep, place)) for place in range(len(sweep.values))]
    return {_(AXIS_TITLES[sweep.axis]): list(sweep.values), **columns, _("total"): totals}


def memory(case: Case) -> Shown:
    """Show the memory over one setting, the parts of the plan as numbers, and its speed."""
    budget = inference_budget(case.spec, case.plan, case.cluster)
    sweep = memory_sweep(case.spec, case.plan, case.cluster, case.axis)
    picture = memory_picture(sweep, case.cluster.device.name, look())
    speed = _speed_of_a_user(case)
    parts, change = [(_(part.name), part) for part in budget.item.children], _what_to_change(case)
    return Shown(
        headline=memory_sentence(case, budget, speed),
        charts=[Chart(picture=picture, file_name="serving-memory")],
        beside=change,
        widths=(3, 1) if change else (5, 1),
        numbers=[*parts, *([(if_fitted(_("per user"), fits=budget.fits), speed)] if speed else [])],
        code=memory_code(budget, case.plan.concurrency),
    )


def _what_to_change(case: Case) -> Callable[[], None] | None:
    """Return what shows the changes that make the plan fit; None where it fits or stands alone."""
    plan = replace(case.chosen.plan, work="serve", spec=case.spec, serving=case.plan)
    if case.plan.tensor != plan.num_devices:  # a group that cannot be: one device is shown
        return None
    here = on_count(plan, plan.num_devices)
    return None if here.verdict == "fits" else partial(show_changes, plan, here)


def _side(case: Case, name: str) -> Compared:
    budget = inference_budget(case.spec, case.plan, case.cluster)
    parts = [(_(part.name), part) for part in budget.item.children]
    speed = _speed_of_a_user(case)
    return Compared(
        name=name,
        rows=[
            (_("device memory"), budget.item),
            *parts,
            *([(_("tokens/s per user"), speed)] if speed else []),
        ],
        verdict=budget.words,
        code=memory_code(budget, case.plan.concurrency),
    )


def _speed_of_a_user(case: Case) -> Item | None:
    try:
        return user_speed(decode_latency(case.spec, case.plan, case.cluster))
    except ValueError:
        return None


def memory_sentence(case: Case, budget: Budget, speed: Item | None) -> str:
    """Return how many sequences fit, what the plan's take and how fast each of them is."""
    most = largest_concurrency(case.spec, case.plan, case.cluster)
    words = {
        "count": f"{most:,}",
        "context": f"{case.plan.context:,}",
        "capacity": _capacity(case, budget),
    }
    weights, is_guess = budget.item.child("weights"), budget.item.guess
    if not most:
        said = _(
            "Not one user with {context} tokens fits in {capacity}: the weights take {weights}"
        )
        if is_guess:
            said = _(
                "Perhaps not one user with {context} tokens fits in {capacity}: the weights take "
                "{weights}"
            )
        return said.format(weights=hedged(look().format_bytes(weights.amount), weights), **words)
    if is_guess:
        fits = ngettext(
            "About {count} user with {context} tokens may fit in {capacity}",
            "About {count} concurrent users with {context} tokens each may fit in {capacity}",
            most,
        )
    elif most == MOST_SEQUENCES:
        fits = _("At least {count} concurrent users with {context} tokens each fit in {capacity}")
    else:
        fits = ngettext(
            "Only {count} user with {context} tokens fits in {capacity}",
            "Up to {count} concurrent users with {context} tokens each fit in {capacity}",
            most,
        )
    plan = _plan_said(case, budget, speed, fits=case.plan.concurrency <= most)
    return _("{fits}; {plan}").format(fits=fits.format(**words), plan=plan)


def _plan_said(case: Case, budget: Budget, speed: Item | None, *, fits: bool) -> str:
    """Return what the plan's sequences take and, if they fit, how fast each is."""
    count = f"{case.plan.concurrency:,}"
    if not fits or speed is None:
        cache = budget.item.child("KV cache")
        size = hedged(look().format_bytes(cache.amount), cache)
        if case.plan.concurrency == 1:
            return _("{count} needs {cache} of KV cache").format(count=count, cache=size)
        each = hedged(look().format_bytes(cache.amount / case.plan.concurrency), cache)
        text = _("{count} need {cache} of KV cache, {each} each")
        return text.format(count=count, cache=size, each=each)
    return ngettext(
        "{count} user gets {speed} tokens/s",
        "with {count}, each gets {speed} tokens/s",
        case.plan.concurrency,
    ).format(count=count, speed=hedged(format_count(speed.amount), speed))


def _capacity(case: Case, budget: Budget) -> str:
    capacity = look().format_bytes(budget.capacity)
    if case.plan.tensor == 1:
        return capacity
    words = _("{capacity} on each of {devices} devices")
    return words.format(capacity=capacity, devices=case.plan.tensor)


def memory_code(budget: Budget, concurrency: int) -> str:
    """Return code that counts the parts of a plan and how many sequences fit."""
    weights, *growing = budget.item.children
    names = ", ".join(map(variable, growing))
    return MEMORY.format(
        weights=rules(weights),
        capacity=budget.capacity,
        growing=indent(rules(*growing, given="concurrency"), "    "),
        names=names,
        plan=concurrency,
        limit=MOST_SEQUENCES,
    )


TAB: Final = Tab(
    label=N_("Device memory"),
    show=memory,
    question=ask_how_many,
    compare=named_beside(words_of, _side),
)
