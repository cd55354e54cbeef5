"""Pinned scenarios side by side, and what changed between two of them.

The pins A to D live in the session and in the address.

Why long: a letter, the setting that it stands for and what is said of both are one subject.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Final, cast

import streamlit as st

from core.budget.budget import Budget, at_peak
from core.budget.comparison.difference import Difference, one_by_one, peak_difference
from core.budget.item import Item
from core.budget.training.memory import training_budget
from core.budget.training.scenario import CHOICES, Scenario, read_scenario, write_scenario
from core.figures.budget.training_memory.scenarios import (
    MOST_RUNGS,
    Rung,
    Way,
    signed,
    waterfall_picture,
)
from core.language import N_, _
from pages.budget.training_memory.inputs import ASK, Case
from pages.budget.training_memory.words import (
    CHOICE_NAMES,
    change_text,
    choice_text,
    setting_text,
    why,
)
from pages.shared.charts import table_markdown
from pages.shared.settings import locked, look, presenting
from pages.shared.tabbed_page import Chart, Shown

SLOTS: Final = ("A", "B", "C", "D")
NOW: Final = "now"
MARK: Final = "|"
MAX_CHARS: Final = 1500
_EXAMPLE: Final = (
    "llama-3.1-8b;h100-sxm;num_devices=8;zero_stage=3;batch_size=2;seq_len=8192;precision=fsdp2"
)
EXAMPLES: Final = MARK.join(
    [
        f"{_EXAMPLE};profile=hf_eager",
        f"{_EXAMPLE};checkpointing=full;profile=hf_eager",
        f"{_EXAMPLE};checkpointing=full;profile=hf_eager;loss_chunks=8",
    ]
)
VIEWS: Final[Mapping[str, str]] = {
    "parts": N_("what the bytes are"),
    "choices": N_("which choice did it"),
    "table": N_("table"),
}
VERDICTS: Final[Mapping[str, str]] = {
    "fits": N_("✓ fits"),
    "close": N_("~ close"),
    "too_big": N_("✗ too big"),
}


@dataclass(frozen=True, slots=True)
class Pair:
    """Two pins that are compared, each with its letter."""

    first: str
    last: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Wanted:
    """What the reader wants to compare: two letters, and a key of VIEWS."""

    first: str
    last: str
    view: str


def choose_letters() -> Wanted:
    """Return which two settings are compared, and how."""
    letters = (*SLOTS, NOW)
    with st.container(horizontal=True):
        first = ASK.selectbox("from", _("From"), letters, default="A", labels=letter_label)
        last = ASK.selectbox("to", _("To"), letters, default="C", labels=letter_label)
    return Wanted(
        first=first,
        last=last,
        view=ASK.selectbox(
            "change",
            _("Attribute change by"),
            tuple(VIEWS),
            default="parts",
            labels=lambda each: _(VIEWS[each]),
        ),
    )


def scenarios(case: Case, wanted: Wanted) -> Shown:
    """Show two of up to four pinned scenarios as a waterfall, or all of them as a table."""
    now = case.scenario.tidied()
    pins = read_pins(now)
    budgets = _budgets(pins)
    pair = _pair(wanted, budgets)
    buttons = partial(_show_pin_buttons, now)
    if pair is None:
        return Shown(
            headline=_("Nothing can be compared: the setting of the page cannot be."),
            beside_headline=buttons,
        )
    first, last = budgets[pair.first].item, budgets[pair.last].item
    headline, settings = sentence(pair, first, last), settings_of(pair, pins)
    if wanted.view == "table":
        _show_table(pins, budgets)
        peaks = [(letter_label(letter), budget.item) for letter, budget in budgets.items()]
        return Shown(
            headline=headline,
            beside_headline=buttons,
            numbers=peaks,
            numbers_below=True,
            notes=settings,
        )
    changed = peak_difference(first, last)
    rungs = _by_choice(pair, pins) if wanted.view == "choices" else _by_part(changed)
    names = letter_label(pair.first), letter_label(pair.last)
    way = Way(first=names[0], last=names[1], start=first.amount, rungs=rungs, settings=settings)
    picture = waterfall_picture(way.shortened(MOST_RUNGS[presenting()]), look())
    return Shown(
        headline=headline,
        beside_headline=buttons,
        charts=[Chart(picture=picture, file_name="what-changed")],
        numbers=list(zip(names, (first, last), strict=True)),
        beside=partial(_say, settings),
        widths=(3, 1),
        notes=[
            _("The largest moment was “{before}” and is now “{after}”.").format(
                before=_(move.before), after=_(move.after)
            )
            for move in changed.moves
        ],
    )


def read_pins(now: Scenario) -> Mapping[str, Scenario]:
    """Return the pinned scenarios by letter, and the setting of the page as "now".

    They stand in an unseen field that the address is bound to. A pin that cannot be read is named
    in a sentence and left out.
    """
    key = ASK.key("pins")
    with st.container(key=f"bound_{key}"):
        ASK.text("pins", key, default=EXAMPLES, max_chars=MAX_CHARS)
    found = {slot: _read(slot, word) for slot, word in zip(SLOTS, _words(), strict=False)}
    return {slot: each for slot, each in found.items() if each is not None} | {NOW: now}


def _words() -> list[str]:
    """Return the pins as they are written, at most four."""
    return [word for word in ASK.used("pins").split(MARK) if word][: len(SLOTS)]


def _read(slot: str, word: str) -> Scenario | None:
    if word in _own():
        return _own()[word]
    try:
        return read_scenario(word)
    except ValueError as error:
        st.caption(_("Pin {slot} is left out. {why}").format(slot=slot, why=error))
        return None


def _own() -> dict[str, Scenario]:
    """Return, by word, the session's scenarios with a model or a device of the reader's own."""
    return cast("dict[str, Scenario]", st.session_state.setdefault(ASK.key("pins_own"), {}))


def _budgets(pins: Mapping[str, Scenario]) -> dict[str, Budget]:
    """Return the budgets of all pins that can be; say why of those that cannot."""
    found: dict[str, Budget] = {}
    for letter, pin in pins.items():
        try:
            found[letter] = training_budget(pin.spec, pin.recipe, pin.cluster)
        except ValueError as error:
            if letter == NOW:
                left_out = _("The setting of the page is left out. {why}")
            else:
                left_out = _("Pin {slot} is left out. {why}")
            st.caption(left_out.format(slot=letter, why=error))
    return found


def _pair(wanted: Wanted, budgets: Mapping[str, Budget]) -> Pair | None:
    """Return what is compared; a letter that stands for nothing gives way to the page's setting."""
    asked = (wanted.first, wanted.last)
    chosen = [letter if letter in budgets else NOW for letter in asked]
    if not set(chosen) <= set(budgets):
        return None
    for letter in sorted(set(asked) - set(budgets)):
        st.caption(_("{slot} is empty; the setting of the page stands in.").format(slot=letter))
    return Pair(*chosen)


def letter_label(letter: str) -> str:
    """Return what a pin is called."""
    return _("now") if letter == NOW else letter


def _show_pin_buttons(now: Scenario) -> None:
    """Show the button that pins the setting of the page, and those that unpin."""
    words = _words()
    full = len(words) == len(SLOTS)
    free = SLOTS[min(len(words), len(SLOTS) - 1)]
    st.button(
        _("All four are pinned") if full else _("Pin as {slot}").format(slot=free),
        key=ASK.key("pin"),
        icon=":material/keep:",
        help=_("Keeps the setting of the page for a comparison, also in the link."),
        on_click=_pin,
        args=(words, now),
        disabled=full or locked(),
    )
    if not words:
        return
    with st.popover(_("Unpin"), icon=":material/keep_off:", key=ASK.key("unpin")):
        for place, (slot, word) in enumerate(zip(SLOTS, words, strict=False)):
            st.button(
                _("Unpin {slot}").format(slot=slot),
                key=ASK.key(f"unpin_{slot}"),
                help=f"`{word}`",
                on_click=_unpin,
                args=(place,),
                disabled=locked(),
            )


def _pin(words: list[str], scenario: Scenario) -> None:
    word = write_scenario(scenario)
    if not word or len(MARK.join([*words, word])) > MAX_CHARS:
        word = f"own{len(_own()) + 1}"
        _own()[word] = scenario
    ASK.set("pins", MARK.join([*words, word]))


def _unpin(place: int) -> None:
    words = ASK.used("pins").split(MARK)
    ASK.set("pins", MARK.join(words[:place] + words[place + 1 :]))


def _by_part(changed: Difference) -> list[Rung]:
    """Return the way by what the bytes are."""
    return [Rung(_(step.path[-1]), step.change, why(step)) for step in changed.changed]


def _by_choice(pair: Pair, pins: Mapping[str, Scenario]) -> list[Rung]:
    """Return the way by which choice did it, one after the other."""
    first, last = pins[pair.first], pins[pair.last]
    steps = one_by_one(
        first, last, lambda each: training_budget(each.spec, each.recipe, each.cluster).item
    )
    return [Rung(change_text(step.names, first, last), step.change) for step in steps]


def sentence(pair: Pair, first: Item, last: Item) -> str:
    """Return both peaks and the difference."""
    return _("{first} → {last}: {before} → {after} at the peak, {change}").format(
        first=letter_label(pair.first),
        last=letter_label(pair.last),
        before=look().format_bytes(first.amount),
        after=look().format_bytes(last.amount),
        change=signed(last.amount - first.amount, look()),
    )


def _say(sentences: Sequence[str]) -> None:
    with st.container():  # one below the other on a projector too
        for said in sentences:
            st.caption(said)


def settings_of(pair: Pair, pins: Mapping[str, Scenario]) -> list[str]:
    """Return a sentence for each of the two letters: what setting it stands for, in words."""
    letters = list(dict.fromkeys((pair.first, pair.last)))
    differing = _that_differ([pins[letter] for letter in letters])
    return [
        _("{letter} is {setting}.").format(
            letter=letter_label(letter), setting=setting_text(pins[letter], differing)
        )
        for letter in letters
    ]


def _show_table(pins: Mapping[str, Scenario], budgets: Mapping[str, Budget]) -> None:
    parts = {
        letter: {part.name: part.amount for part in at_peak(budget.largest)}
        for letter, budget in budgets.items()
    }
    table = scenario_table({letter: pins[letter] for letter in budgets}, budgets, parts)
    with st.container(key=ASK.key("pin_table")):
        st.markdown(table_markdown({letter_label(name): cells for name, cells in table.items()}))


def scenario_table(
    scenarios: Mapping[str, Scenario],
    budgets: Mapping[str, Budget],
    parts: Mapping[str, Mapping[str, float]],
) -> Mapping[str, Sequence[str]]:
    """Return a column for each scenario: peak and verdict, the parts, the choices that differ.

    Args:
        scenarios: By letter.
        budgets: Of the same letters.
        parts: Of the same letters: name of a part -> bytes.
    """
    letters, size = list(budgets), look().format_bytes
    rows = {
        _("peak"): [f"**{size(budgets[x].item.amount)}**" for x in letters],
        _("capacity"): [size(budgets[x].capacity) for x in letters],
        _("verdict"): [_(VERDICTS[budgets[x].verdict]) for x in letters],
    }
    for name in dict.fromkeys(name for letter in letters for name in parts[letter]):
        amounts = [parts[letter].get(name) for letter in letters]
        rows[_(name)] = [size(amount) if amount else "–" for amount in amounts]
    for name in _that_differ([scenarios[letter] for letter in letters]):
        rows[_(CHOICE_NAMES[name])] = [choice_text(name, scenarios[letter]) for letter in letters]
    columns = zip(letters, zip(*rows.values(), strict=True), strict=True)
    return {"": list(rows), **{letter: list(column) for letter, column in columns}}


def _that_differ(scenarios: Sequence[Scenario]) -> list[str]:
    """Return the model, the device and every other choice in which the scenarios differ."""
    found = [{name: each.choices[name] for name in CHOICES} for each in scenarios]
    return [
        name
        for name in CHOICES
        if name in {"model", "device"} or any(each[name] != found[0][name] for each in found)
    ]
