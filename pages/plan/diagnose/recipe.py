"""A recipe, a config or a checkpoint's header: the plan that it describes, beside the reader's."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, Final

import streamlit as st

from core.budget.diagnosis.brought.record import KINDS, Brought
from core.budget.diagnosis.planned import planned, taken_from
from core.budget.planning.plan import Count, Plan, on_count
from core.budget.planning.settings import settings_of
from core.figures.budget.device_bars import DeviceBar, bar_picture
from core.language import _
from core.language.listing import followed_by
from pages.shared.plan.choices import OWN
from pages.shared.plan.own_config import keep_config
from pages.shared.plan.plan import ASK, INPUTS, Chosen, set_plan
from pages.shared.plan.verdict import parts_of, verdict
from pages.shared.settings import locked, look
from pages.shared.tabbed_page import Chart, Shown

_MOST_NAMED: Final = 12
_MARKS: Final = re.compile(r"([\\`*_\[\]<$~])")  # of Markdown: what a file says is no link


def show_recipe(told: Brought, chosen: Chosen) -> Shown:
    """Show what the file's plan needs, beside the reader's plan where they differ."""
    plan = planned(told, chosen.plan)
    here, mine = (on_count(each, each.num_devices) for each in (plan, chosen.plan))
    bars = [_bar(_("the file"), here)]
    if plan != chosen.plan:
        bars.append(_bar(_("the plan as set"), mine))
    picture = bar_picture(bars, plan.cluster.device.memory_usable, look(), named_above=True)
    return Shown(
        headline=followed_by(_("Read as {kind}.").format(kind=_(KINDS[told.kind])), verdict(here)),
        charts=[Chart(picture=picture, file_name="recipe")],
        numbers=[(_(each.name), each) for each in told.items],
        notes=_notes(told, plan),
        below=partial(_offer, told, chosen),
    )


def _bar(label: str, count: Count) -> DeviceBar:
    return DeviceBar(label, parts_of(count), count.need.low, count.need.high)


def _notes(told: Brought, plan: Plan) -> Sequence[str]:
    notes = [_MARKS.sub(r"\\\1", each) for each in (*told.notes, *taken_from(told, plan))]
    if told.ignored:
        names = [name.replace("`", "'") for name in told.ignored[:_MOST_NAMED]]
        more = len(told.ignored) - _MOST_NAMED
        text = _("Not understood, and so without effect: {fields}.")
        if more > 0:
            text = _("Not understood, and so without effect: {fields} and {count} more.")
        fields = _(", ").join(f"`{name}`" for name in names)
        notes.append(text.format(fields=fields, count=more))
    return notes


def _offer(told: Brought, chosen: Chosen) -> None:
    """Show what the file sets, setting by setting, and the button that sets the plan to it."""
    said = _said(told)
    if not said:
        return
    before = settings_of(chosen.plan) | {"model": chosen.model.key or OWN}
    settable = {
        name: nearest
        for name, value in said.items()
        if (nearest := INPUTS[name].nearest(value)) is not None
    }
    is_same_model = planned(told, chosen.plan).spec == chosen.plan.spec
    columns = {
        _("setting"): [_(INPUTS[name].label) for name in said],
        _("in the file"): list(_in_words(said, said)),
        _("in the plan"): list(_in_words(before, said)),
        _("can be set to"): list(_in_words(settable, said)),
    }
    st.button(
        _("Set the plan to this"),
        key=ASK.key("take_brought"),
        icon=":material/input:",
        on_click=_take,
        args=(settable, told.config),
        disabled=locked() or (settable.items() <= before.items() and is_same_model),
    )
    st.dataframe(columns, hide_index=True)


def _in_words(settings: Mapping[str, Any], names: Iterable[str]) -> Iterator[str]:
    for name in names:
        yield INPUTS[name].words(settings[name]) if name in settings else "–"


def _said(told: Brought) -> Mapping[str, Any]:
    model = {"model": told.model or OWN} if told.model or told.config else {}
    return model | dict(told.settings)


def _take(settings: Mapping[str, Any], config: str) -> None:
    set_plan(settings)
    if config:
        keep_config(ASK, config)
