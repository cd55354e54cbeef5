"""How far it goes: the budget solved backwards for sequences, lengths, devices and models."""

from typing import Final

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from core.budget.catalogue.models import MODELS
from core.budget.cluster import DeviceSpec
from core.budget.fits.jobs import Job
from core.budget.fits.plane import MOST_DEVICES
from core.budget.fits.solve import (
    Answer,
    Edge,
    edges,
    largest_model,
    largest_that_fits,
    min_devices,
)
from core.budget.weights.parameters import count_parameters
from core.figures.budget.what_fits.frontier import frontier_alt, frontier_figure, frontier_table
from core.language import _, ngettext
from core.models.spec import ModelSpec
from pages.budget.what_fits.inputs import PAGE, Case
from pages.budget.what_fits.recipes import show_recipes
from pages.budget.what_fits.words import context_note, what
from pages.shared import pickers
from pages.shared.charts import show_chart
from pages.shared.header import headline
from pages.shared.numbers import explained_number
from pages.shared.settings import presenting, theme_mode

NUMBERS: Final = tuple(2**power for power in range(MOST_DEVICES.bit_length()))


@st.cache_data(max_entries=64, show_spinner=False)
def _edges(
    spec: ModelSpec, job: Job, device: DeviceSpec, numbers: tuple[int, ...]
) -> tuple[Edge, ...]:
    return edges(spec, job, device, numbers)


def show_reach(case: Case) -> None:
    """Show how many sequences of which length fit on how many devices."""
    head = st.container()
    picture, numbers = st.columns([4, 1])
    with numbers:
        number = pickers.select_slider(PAGE, "devices", _("Devices"), NUMBERS, default=1)
    job = case.job.on(number)
    try:
        job.need(case.model.spec)
    except ValueError as error:
        with head:
            headline(str(error))
    else:
        _show_answers(case, number, head, numbers)
    with picture:
        _show_edges(case, number)
        show_recipes(case, number)


def _show_answers(case: Case, number: int, head: DeltaGenerator, numbers: DeltaGenerator) -> None:
    """Say in the head how many sequences fit; show beside the picture what else follows."""
    job, spec, device = case.job.on(number), case.model.spec, case.device.device
    sequences = largest_that_fits(spec, job, device, "sequences")
    with head:
        headline(_summary(case, number, sequences))
        if note := context_note(case):
            st.caption(note)
    with numbers:
        _show_longest(case, largest_that_fits(spec, job, device, "tokens"))
        if sequences.need is not None:
            explained_number(_("Bytes at the most sequences"), sequences.need)
        _show_fewest(min_devices(spec, case.job, device, MOST_DEVICES))
        _show_largest(case, job)


def _show_edges(case: Case, number: int) -> None:
    """Show the edges for the chosen number of devices, twice and four times as many."""
    numbers = tuple(sorted({1, number, 2 * number, 4 * number}))
    found = _edges(case.model.spec, case.job, case.device.device, numbers)
    here = (case.read_tokens, case.sequences)
    show_chart(
        frontier_figure(found, here, theme_mode(), present=presenting()),
        key=f"{PAGE}_reach",
        alt=frontier_alt(found, here),
        table=frontier_table(found),
        file_name="how-far-it-goes",
    )


def _summary(case: Case, number: int, found: Answer) -> str:
    where = ngettext("{what} on {count} {device}", "{what} on {count} {device}", number)
    place = where.format(what=what(case), count=number, device=case.device.device.name)
    if not found.amount:
        return _(
            "{place}: not one sequence of {tokens} tokens fits; the first that fails: **{item}**."
        ).format(place=place, tokens=f"{case.read_tokens:,}", item=_(found.reason))
    return _("{place}: at most **{sequences}** sequences of {tokens} tokens at once.").format(
        place=place, sequences=f"{found.amount:,}", tokens=f"{case.read_tokens:,}"
    )


def _show_longest(case: Case, tokens: Answer) -> None:
    reason = _("the model's own context") if tokens.at_limit else _(tokens.reason)
    st.metric(
        _("Longest sequence at {count} at once").format(count=f"{case.sequences:,}"),
        f"{tokens.amount:,}",
        help=_("Ends at: {reason}").format(reason=reason),
    )


def _show_largest(case: Case, job: Job) -> None:
    found = largest_model(MODELS, job, case.device.device)
    if found is not None:
        spec = MODELS[found[0]]
        label = _("Largest model of the list: {model}").format(model=spec.name)
        explained_number(label, count_parameters(spec))


def _show_fewest(fewest: Answer) -> None:
    st.metric(
        _("Fewest devices"),
        f"{fewest.amount:,}" if fewest.amount else _("none"),
        help=_why_so_many(fewest),
    )


def _why_so_many(fewest: Answer) -> str:
    if fewest.amount == 1:
        return _("One device is enough.")
    if not fewest.amount:
        return _("No number up to {most} is enough; what fails then: {reason}").format(
            most=f"{MOST_DEVICES:,}", reason=_(fewest.reason)
        )
    if not fewest.reason:
        return _("Fewer devices cannot share the model.")
    return _("With half as many fails: {reason}").format(reason=_(fewest.reason))
