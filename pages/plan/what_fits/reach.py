"""How far it goes: the budget solved backwards for sequences, lengths, devices and models."""

from collections.abc import Sequence
from functools import partial
from typing import Final

import streamlit as st

from core.budget.catalogue.models import MODELS
from core.budget.cluster import DeviceSpec
from core.budget.fits.feasible import MFU, Feasible, feasible
from core.budget.fits.jobs import Job
from core.budget.fits.plane import MOST_DEVICES
from core.budget.fits.solve import (
    Answer,
    Edge,
    by_length,
    edges,
    largest_model,
    largest_that_fits,
    min_devices,
)
from core.budget.item import is_uncertain
from core.budget.planning.jobs import PlannedJob
from core.budget.weights.parameters import count_parameters
from core.figures.budget.frames import log_axis
from core.figures.picture import Drawing, Look, Picture, Table
from core.language import _, ngettext
from core.models.spec import ModelSpec
from core.units import format_percent
from pages.plan.what_fits.detail import show_detail
from pages.plan.what_fits.inputs import Case, note_context, sequences_label, way_label, what
from pages.shared.answer import explained_number, written
from pages.shared.charts import table_markdown
from pages.shared.plan.choices import CHECKPOINTED
from pages.shared.settings import look
from pages.shared.tabbed_page import Chart, Shown

_LOOKS: Final = (
    ("format_a", "solid", "circle"),
    ("format_b", "dash", "square"),
    ("format_c", "dot", "diamond"),
    ("format_d", "dashdot", "cross"),
)


def reach_picture(edges: Sequence[Edge], here: tuple[int, int], many: str, look: Look) -> Picture:
    layout, drawing = look.layout(), Drawing()
    for edge, (meaning, dash, symbol) in zip(edges, _LOOKS * len(edges), strict=False):
        points = by_length(edge)
        drawing.scatter(
            x=list(points),
            y=list(points.values()),
            mode="lines+markers",
            name=_devices(edge.num_devices),
            line={"color": look.color(meaning), "dash": dash, "width": 3},
            marker={"symbol": symbol, "size": 9},
            hovertemplate="%{x:,} × %{y:,}<extra>%{fullData.name}</extra>",
        )
    drawing.scatter(
        x=[here[0]], y=[here[1]], mode="markers", name=_("chosen"),
        marker={"symbol": "x", "size": 14, "color": look.color("text")},
        hovertemplate="%{x:,} × %{y:,}<extra></extra>",
    )  # fmt: skip
    size = layout["font"]["size"]
    places = sorted({here[0], *(tokens for edge in edges for tokens in edge.tokens)})
    x = log_axis(places, _short, title=_("Sequence length"), tickangle=0)
    axes = {
        "xaxis": layout["xaxis"] | x,
        "yaxis": layout["yaxis"] | {"type": "log", "title": many, "dtick": 1},
        "height": (18 if look.present else 24) * size,
        "margin": {"l": 8, "r": 8, "t": 2 * size, "b": 8},
    }
    figure = drawing.figure(layout | axes)
    parts = [_in_words(edge) for edge in edges]
    chosen = _("Chosen: {sequences} × {tokens} tokens.").format(
        sequences=f"{here[1]:,}", tokens=f"{here[0]:,}"
    )
    alt = _("{said}. {more}").format(said=_("; ").join(parts), more=chosen)
    return Picture(figure=figure, alt=alt, table=_table(edges))


def _short(tokens: int) -> str:
    return f"{tokens // 1024}k" if tokens >= 1024 and tokens % 1024 == 0 else str(tokens)


def _devices(number: int) -> str:
    return ngettext("{count} device", "{count} devices", number).format(count=f"{number:,}")


def _in_words(edge: Edge) -> str:
    points = by_length(edge)
    name = _devices(edge.num_devices)
    if not points:
        words = (
            _("{devices}: perhaps nothing fits") if edge.is_guess else _("{devices}: nothing fits")
        )
        return words.format(devices=name)
    first, last = min(points), max(points)
    return _("{devices}: {many} sequences of {short} tokens to {few} of {long}").format(
        devices=name,
        many=f"{points[first]:,}",
        short=f"{first:,}",
        few=f"{points[last]:,}",
        long=f"{last:,}",
    )


def _table(edges: Sequence[Edge]) -> Table:
    tokens = edges[0].tokens if edges else ()
    columns = {_devices(edge.num_devices): list(edge.sequences) for edge in edges}
    return {_("Sequence length"): list(tokens), **columns}


@st.cache_data(max_entries=64, show_spinner=False)
def _edges(
    spec: ModelSpec, job: Job, device: DeviceSpec, numbers: tuple[int, ...]
) -> tuple[Edge, ...]:
    return edges(spec, job, device, numbers)


@st.cache_data(max_entries=256, show_spinner=False)
def _longest(spec: ModelSpec, job: Job, device: DeviceSpec) -> int:
    return largest_that_fits(spec, job, device, "tokens").amount


def reach(case: Case) -> Shown:
    """Show how many sequences of which length fit on so many devices, twice and four times."""
    number, job = case.plan.num_devices, PlannedJob(case.plan)
    spec, device = case.plan.spec, case.chosen.device.device
    numbers = tuple(sorted({1, number, 2 * number, 4 * number}))
    any_size = job.sized("tokens", spec.seq_len).sized("sequences", 1)
    found = _edges(spec, any_size, device, numbers)
    here = (case.read_tokens, case.sequences)
    picture = reach_picture(found, here, sequences_label(case.plan.work), look())
    try:
        job.need(spec)
    except ValueError as error:
        said, beside = str(error), None
    else:
        known = [
            by_length(edge).get(case.read_tokens) for edge in found if edge.num_devices == number
        ]
        most = largest_that_fits(spec, job, device, "sequences", *known)
        said, beside = sentence(case, number, most), partial(_show_answers, case, job, most)
        note_context(case)
    return Shown(
        headline=said,
        charts=[Chart(picture=picture, file_name="how-far-it-goes")],
        beside=beside,
        widths=(4, 1),
        below=partial(_show_below, case, number),
    )


def sentence(case: Case, number: int, found: Answer) -> str:
    """Return how many sequences fit at once, or what is the first that fails."""
    is_guess = is_uncertain(case.plan.spec)
    where = ngettext("{what} on {count} {device}", "{what} on {count} {device}", number)
    place = where.format(what=what(case), count=number, device=case.chosen.device.device.name)
    if not found.amount:
        said = _(
            "{place}: not one sequence of {tokens} tokens fits; the first that fails: **{item}**."
        )
        if is_guess:
            said = _(
                "{place}: perhaps not one sequence of {tokens} tokens fits; the first that fails: "
                "**{item}**."
            )
        return said.format(place=place, tokens=f"{case.read_tokens:,}", item=_(found.reason))
    said = _("{place}: at most **{sequences}** sequences of {tokens} tokens at once.")
    if is_guess:
        said = _("{place}: about **{sequences}** sequences of {tokens} tokens at once.")
    return said.format(place=place, sequences=f"{found.amount:,}", tokens=f"{case.read_tokens:,}")


def _show_answers(case: Case, job: Job, sequences: Answer) -> None:
    """Show what else follows: lengths, bytes, devices, models."""
    spec, device = case.plan.spec, case.chosen.device.device
    about = "≈ " if is_uncertain(spec) else ""
    longest = _longest(spec, job.sized("tokens", spec.seq_len), device)
    tokens = largest_that_fits(spec, job, device, "tokens", longest)
    reason = _("the model's own context") if tokens.at_limit else _(tokens.reason)
    st.metric(
        _("Longest sequence, {count} concurrent").format(count=f"{case.sequences:,}"),
        f"{about}{tokens.amount:,}",
        help=_("Ends at: {reason}").format(reason=reason),
    )
    if sequences.need is not None:
        explained_number(_("Memory at the most sequences"), sequences.need)
    fewest = min_devices(spec, job, device, MOST_DEVICES)
    st.metric(
        _("Fewest devices"),
        about + (f"{fewest.amount:,}" if fewest.amount else _("none")),
        help=_("A guess: nothing here is certain.") if about else _why_so_many(fewest),
    )
    if (largest := largest_model(MODELS, job, device)) is not None:
        spec = MODELS[largest[0]]
        label = _("Largest model that fits: {model}").format(model=spec.name)
        explained_number(label, count_parameters(spec))


def _why_so_many(fewest: Answer) -> str:
    if fewest.amount == 1:
        return _("One device is enough.")
    if not fewest.amount:
        return _("No number up to {most} is enough; what fails then: {reason}").format(
            most=f"{fewest.tried:,}", reason=_(fewest.reason)
        )
    if not fewest.reason:
        return _("Fewer devices cannot share the model.")
    return _("With half as many fails: {reason}").format(reason=_(fewest.reason))


def _show_below(case: Case, number: int) -> None:
    if case.plan.work == "train":
        _show_recipes(case, number)
    show_detail(case)


def _show_recipes(case: Case, number: int) -> None:
    """Show every way and checkpointing that fits on so many devices, the fastest first."""
    found = feasible(case.plan.spec, case.plan.recipe, case.chosen.device.device, number)
    where = f"{number:,} × {case.chosen.device.device.name}"
    if not found:
        none = _("No recipe of this list fits on {devices}.")
        if is_uncertain(case.plan.spec):
            none = _("Perhaps no recipe of this list fits on {devices}.")
        st.caption(none.format(devices=where))
        return
    said = _("Recipes that fit on {devices}, the fastest first; speeds are estimates at {mfu} MFU.")
    if is_uncertain(case.plan.spec):
        said = _(
            "Recipes that may fit on {devices}, the fastest first; speeds are estimates at {mfu} "
            "MFU."
        )
    st.caption(said.format(devices=where, mfu=format_percent(MFU)))
    st.markdown(table_markdown(_recipes(found)))


def _recipes(found: tuple[Feasible, ...]) -> dict[str, list[str]]:
    return {
        _("recipe"): [way_label(each.way) for each in found],
        _("activation checkpointing"): [_(CHECKPOINTED[each.checkpointing]) for each in found],
        _("each device holds"): [look().format_bytes(each.need.amount) for each in found],
        _("speed"): [written(each.speed.amount, each.speed.unit) for each in found],
    }
