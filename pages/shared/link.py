"""What the address says: every setting that a link may carry, and every value that was refused.

A page's inputs register here what they accept; "copy link" writes all of them, defaults too, and
the frame names each link value that was not accepted.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, cast

import streamlit as st
from streamlit.runtime.scriptrunner import get_script_run_ctx

from core.language import _

RESERVED: Final = frozenset({"embed", "embed_options"})
BOOK: Final = "frame_book"


@dataclass(frozen=True, kw_only=True, slots=True)
class Refusal:
    """A link value that was not accepted: what it was, what would be, and what was used instead."""

    name: str
    value: str
    allowed: str
    used: str

    def sentence(self) -> str:
        if not self.allowed:
            return _("The link sets {name} = {value}; this page has no such setting.").format(
                name=f"`{self.name}`", value=f"`{_plain(self.value)}`"
            )
        return _(
            "The link's value {name} = {value} was not accepted: allowed is {allowed}; "
            "{used} is used instead."
        ).format(
            name=f"`{self.name}`",
            value=f"`{_plain(self.value)}`",
            allowed=self.allowed,
            used=f"`{self.used}`",
        )


def _plain(value: str) -> str:
    """Return a link value short and without the marks that would end a code span."""
    text = "".join(mark if mark.isprintable() and mark != "`" else "?" for mark in value)
    return text if len(text) <= 60 else f"{text[:60]}..."


@dataclass(frozen=True, kw_only=True, slots=True)
class Parameter:
    """One setting, as the address writes it. A hidden one follows no click in the browser."""

    name: str
    value: str
    default: str
    visible: bool = True


@dataclass(kw_only=True, slots=True)
class Book:
    """What a session notes about its settings: one entry of Streamlit's state.

    Streamlit looks through all entries at each of some forty widgets of a page.
    """

    page: str = ""  # the page on show, such as "train/live_run"; "" while the frame starts
    last_page: str = ""  # the one of the last run
    parameters: dict[str, Parameter] = field(default_factory=dict)  # name -> setting of this run
    of_frame: Mapping[str, Parameter] = field(default_factory=dict)  # those of the frame alone
    # Page -> name -> default, as far as this reader has met them
    defaults: dict[str, dict[str, str]] = field(default_factory=dict)
    # Name -> a link value that was not accepted
    refusals: dict[str, Refusal] = field(default_factory=dict)
    # Name -> what an input was when it was last seen or set by a link
    used: dict[str, Any] = field(default_factory=dict)
    # Name -> what the address said and what Streamlit held when it was last read
    known: dict[str, tuple[str | None, object]] = field(default_factory=dict)
    beyond: str = ""  # why no link can carry the state of the page; "" if one can
    # Name -> what turns a value of the address into what the session holds
    holds: dict[str, Callable[[str], object]] = field(default_factory=dict)
    # Key of a slider -> the words of its stops when it was last drawn
    stops: dict[str, tuple[str, ...]] = field(default_factory=dict)
    # Whether this run begins with a click on a control that a field stands for
    clicked: bool = False
    # Name -> what its control says, where this run begins with another word
    overtaken: dict[str, str] = field(default_factory=dict)
    entering: bool = False  # whether the page is about to be shown by a menu, a link or a reload
    arrived: bool = False  # whether it was in this run: no input of its own has started it
    switched: bool = False  # whether it then was another page than before
    # Setting of Sizing -> the reader's own value, which no lesson overwrites
    my_plan: dict[str, str] = field(default_factory=dict)
    in_lesson: bool = False  # whether a lesson's plan stands in its place


def book() -> Book:
    if BOOK not in st.session_state:
        st.session_state[BOOK] = Book()
    return cast("Book", st.session_state[BOOK])


def begin_run() -> None:
    notes = book()
    notes.parameters, notes.page, notes.beyond = {}, "", ""


def begin_page() -> None:
    """Forget the parameters of the page; those of the frame and what was clicked last stand."""
    notes = book()
    notes.parameters, notes.beyond = dict(notes.of_frame), ""
    notes.arrived, notes.entering = notes.entering, False
    notes.switched = notes.switched and notes.arrived
    if notes.clicked:
        st.session_state.update(notes.overtaken)
    notes.clicked, notes.overtaken = False, {}


def enter(page: str) -> None:
    """Note which page runs; on another page than before, its refusals are forgotten.

    Called after the settings of the frame have registered: what was refused of them stands.
    """
    notes = book()
    notes.switched = notes.last_page != page
    if notes.switched:
        notes.refusals = {
            name: each for name, each in notes.refusals.items() if name in notes.parameters
        }
    notes.last_page = notes.page = page
    notes.entering = True
    notes.of_frame = dict(notes.parameters)


def current_page() -> str:
    """Return the key of the page on show, such as "train/live_run"; "" while the frame starts."""
    return book().page


def register(name: str, value: str, *, default: str = "", visible: bool = True) -> None:
    """Note one setting of this run, and for later links its default."""
    notes = book()
    notes.parameters[name] = Parameter(name=name, value=value, default=default, visible=visible)
    if notes.page:
        notes.defaults.setdefault(notes.page, {})[name] = default


def parameters() -> tuple[Parameter, ...]:
    """Return every setting that the frame and this page have registered in this run."""
    return tuple(book().parameters.values())


def values() -> Mapping[str, str]:
    """Return the value of every setting of this run, defaults too."""
    return {each.name: each.value for each in parameters()}


def defaults_of(page: str) -> Mapping[str, str]:
    """Return the defaults of a page's settings, as far as this reader has met them.

    Those of the plan are met on any page of Sizing.
    """
    room, met = page.partition("/")[0], book().defaults
    plan = {
        name: default
        for other, found in met.items() if other.partition("/")[0] == room == "plan"
        for name, default in found.items() if name.startswith("plan_")
    }  # fmt: skip
    return plan | met.get(page, {})


def raw_value(name: str) -> str | None:
    """Return what the address says about a setting, before any check; None if nothing."""
    return st.query_params.get(name)


def is_repeated(name: str) -> bool:
    """Return whether the address says a setting more than once; the last one is what counts."""
    return len(st.query_params.get_all(name)) > 1


def settle(name: str, value: str | None) -> None:
    """Leave one value of a setting in the address, or none, before Streamlit reads what is there.

    Of every number that a link gives twice or as infinity it would make a whole number first.
    """
    context = get_script_run_ctx()
    if context is None:
        return
    with context.session_state.query_params() as held:
        held.remove_param(name)
        if value is not None:
            held.set_with_no_forward_msg(name, value)
        held.set_initial_query_params_from_current()


def refuse(name: str, value: str, *, allowed: str, used: str) -> None:
    """Note that a link value was not accepted.

    The first note stands: the address keeps the value while the reader already chooses others.
    """
    noted = book().refusals
    standing = noted.get(name)
    if standing is None or standing.value != value:
        noted[name] = Refusal(name=name, value=value, allowed=allowed, used=used)


def refusals() -> tuple[Refusal, ...]:
    """Return the refused link values that still explain what is on the screen.

    A refusal is over as soon as the reader has chosen another value. Names that nothing on the page
    reads are refused too; not those of an input that was there before the last click closed it.
    """
    known = values()
    standing = [each for each in book().refusals.values() if known.get(each.name) == each.used]
    read = {*known, *defaults_of(current_page()), *RESERVED}
    unknown = [name for name in st.query_params if name not in read]
    strangers = [
        Refusal(name=name, value=st.query_params[name], allowed="", used="") for name in unknown
    ]
    return (*standing, *strangers)
