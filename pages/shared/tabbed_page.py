"""A page with tabs: one contract between the page, its tabs, their pictures and their code.

From top to bottom a page is its title, its tabs, the headline that answers its question and, below
it, the inputs on the left and the picture beside them. A tab is a function `case -> Shown`; parts
that it draws itself stand above the pictures. Only the open tab is computed.
A tab with `compare` can keep its state as A and show it beside what the inputs say then.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from core.budget import Item
from core.figures.picture import Picture
from core.language import _
from pages.shared import accepts, compare
from pages.shared.answer import HEADLINE, explained_number, forget_caveats, headline, with_caveats
from pages.shared.charts import show_chart
from pages.shared.header import page_header, tabs_place
from pages.shared.inputs import Inputs
from pages.shared.poster import poster
from pages.shared.prose import prose
from pages.shared.questions import answer_waits, ask_on_demand
from pages.shared.settings import is_hidden, presenting
from pages.shared.snippet import show_code


@dataclass(frozen=True, kw_only=True, slots=True)
class Chart:
    """A picture in its place on a page."""

    picture: Picture  # what is drawn, said and listed
    file_name: str  # name of its downloads, without an ending
    # The last part of its key: another one where a tab has several pictures
    key: str = "chart"
    # Called with what a clicked point carries
    on_click: Callable[[Sequence[Any]], None] | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Part:
    """A picture that the tab has drawn with one of our own parts; its poster stands below it."""

    key: str  # of the part, as a whole
    file_name: str  # name of the poster, without an ending


@dataclass(frozen=True, kw_only=True, slots=True)
class Shown:
    """What a tab shows for a case, from top to bottom."""

    headline: str = ""  # the sentence that answers the question; "" if the tab has drawn it itself
    line: str = ""  # under it; the page's own if the tab has none
    beside_headline: Callable[[], None] | None = None  # draws what stands to the right of it
    charts: Sequence[Chart] = ()
    part: Part | None = None  # another one, that the tab has drawn itself
    numbers: Sequence[tuple[str, Item]] = ()  # translated label and number, beside the picture
    beside: Callable[[], None] | None = None  # draws what stands below these numbers
    # Of the picture and of the numbers beside it; on a projector they stand below
    widths: tuple[int, int] = (5, 1)
    numbers_below: bool = False  # whether the numbers always stand in a row below the picture
    notes: Sequence[str] = ()  # sentences below the picture
    below: Callable[[], None] | None = None  # draws what stands below everything else of the tab
    code: str = ""  # Python that reproduces the headline; "" while there is no number


@dataclass(frozen=True, kw_only=True, slots=True)
class Tab:
    """One way to look at what was chosen."""

    label: str  # the word on its switch, marked for the catalogue
    # Takes what the page chose, if `with_inputs`, then what the tab chose, if it does
    show: Callable[..., Shown]
    # Whether the page's own inputs matter; where not they are kept, unseen
    with_inputs: bool = True
    unseen: Sequence[str] = ()  # names of those that do not matter, where the others do
    # Shows inputs of the tab's own and returns what they say
    choose: Callable[[], Any] | None = None
    question: Callable[[], None] | None = None  # asks another question than the page's
    reading: str = ""  # another text than the page's: its name beside the page
    # Takes what `show` would for side A, then for side B, each as a sequence
    compare: Callable[[Sequence[Any], Sequence[Any]], Shown] | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Page:
    """A page with at most six tabs; the first one answers its question and is open at first."""

    inputs: Inputs
    tabs: Mapping[str, Tab]  # by its word in the address
    question: Callable[[], None] | None = None  # asks the reader to predict something
    # Shows the inputs of the page and returns what they say
    choose: Callable[[], Any] | None = None
    # Python where a tab brings none of its own; it says the error that a tab has refused with
    code: Callable[[Any], str] | None = None
    # What to show for choices that cannot be, given the sentence why
    refusal: Callable[[ValueError], Shown] | None = None
    snippet: str = ""  # name of the code; else the tab's
    # The page's text: its name beside the page, or what shows it
    reading: str | Callable[[], None] = "reading"
    # A sentence under the headline for what was chosen; "" for none
    line: Callable[[Any], str] | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class _Places:
    """Where everything goes, in the order of the eye; filled in another one."""

    head: DeltaGenerator
    side_a: DeltaGenerator
    choices: DeltaGenerator
    own: DeltaGenerator
    offer: DeltaGenerator
    body: DeltaGenerator
    question: DeltaGenerator
    code: DeltaGenerator


@dataclass(frozen=True, kw_only=True, slots=True)
class _Chosen:
    """What the page's inputs say, or why they cannot be."""

    case: Any = None
    problem: ValueError | None = None


def tabbed_page(file: str, doc: str | None, page: Page) -> None:
    """Show a whole page: header, inputs, tabs, the open tab, question, code and reading.

    Its style `page.css` and its texts lie beside `file`; the first line of `doc` is its question.
    """
    page_header(doc)
    if (style := Path(file).with_name("page.css")).exists():
        st.html(style)
    tab = page.tabs[key := _choose_tab(page)]
    places = _make_places(page, tab)
    other = _choose_a(page, tab, places)
    chosen = _choose(page, tab, places)
    shown = _show(page, tab, places, chosen, other)
    if tab.compare and not page.inputs.used(compare.SETTING):
        with places.offer:
            compare.offer(page.inputs)
    with places.question:
        if ask := tab.question or page.question:
            ask_on_demand(page.inputs, ask)
    files = _draw(shown, page.inputs.key(key), places)
    if tab.reading or isinstance(page.reading, str):
        prose(file, tab.reading or str(page.reading))
    else:
        page.reading()
    source = shown.code
    if not source and page.code and chosen.problem is None:
        source = page.code(chosen.case)
    if source:
        with places.code:
            show_code(page.snippet or key, source)
    if not is_hidden(page.inputs.page, "poster"):
        _offer_posters(shown, files)


def _offer_posters(shown: Shown, files: Mapping[Part, DeltaGenerator]) -> None:
    """Put the posters beside the other files of the pictures; last, for they bear every setting."""
    waits = answer_waits()
    for part, place in files.items():
        with place:
            poster(
                part.key,
                file_name=part.file_name,
                headline="" if waits else str(st.session_state[HEADLINE]),
                numbers=() if waits else shown.numbers,
                small=part is shown.part,
            )


def _choose_tab(page: Page) -> str:
    if len(page.tabs) == 1:
        return next(iter(page.tabs))
    accepted = accepts.one_of(tuple(page.tabs), next(iter(page.tabs)))

    def draw(*, key: str, disabled: bool, **on_change: Any) -> str:  # noqa: ANN401  Streamlit's own
        tabs = list(page.tabs)
        widget = {
            "format_func": lambda tab: _(page.tabs[tab].label), "label_visibility": "collapsed",
            "key": key, "disabled": disabled, **on_change,
        }  # fmt: skip
        if presenting():  # one line has no room for a row
            return str(st.selectbox(_("Show"), tabs, **widget))
        return str(st.segmented_control(_("Show"), tabs, required=True, **widget))

    with tabs_place():
        return page.inputs.choose("tab", accepted, draw)


def _make_places(page: Page, tab: Tab) -> _Places:
    head = st.container(key="page_answer", gap=None)
    has_inputs = tab.choose is not None or (page.choose is not None and tab.with_inputs)
    with st.container(key="page_split"):  # without inputs the picture has the whole width
        rail, body = st.columns([1, 4], gap="medium") if has_inputs else (st.container(),) * 2
    with rail.container(key="page_rail", gap="small"):
        side_a = st.container(key="page_side", gap="small")
        choices = st.container(key="page_choices", gap="small")
        own = st.container(key="tab_choices", gap="small")
        offer = st.container(key="page_offer", gap="small")
    question, code = st.columns(2) if tab.question or page.question else (st.container(),) * 2
    return _Places(
        head=head, side_a=side_a, choices=choices, own=own, offer=offer, body=body,
        question=question, code=code,
    )  # fmt: skip


def _choose_a(page: Page, tab: Tab, places: _Places) -> Sequence[Any] | None:
    """Return what side A hands to the tab, after its buttons; None while nothing is compared."""
    if all(each.compare is None for each in page.tabs.values()):
        return None
    text = compare.kept_text(page.inputs)
    if not text or tab.compare is None:
        return None

    def choose() -> list[Any]:
        wanted = [page.choose()] if page.choose and tab.with_inputs else []
        return [*wanted, tab.choose()] if tab.choose else wanted

    with places.side_a:
        try:
            return compare.read_a(page.inputs, text, choose)
        except ValueError as error:
            compare.left_out(error)
    return None


def _choose(page: Page, tab: Tab, places: _Places) -> _Chosen:
    if page.choose is None:
        return _Chosen()
    keys = [f"{page.inputs.key(each)}{end}" for each in tab.unseen for end in ("", "_choice")]
    if keys or not tab.with_inputs:
        hidden = ", ".join(f".st-key-{key}" for key in keys or ["page_choices"])
        st.html(f"<style>{hidden} {{ display: none }}</style>")
    try:
        with places.choices:
            return _Chosen(case=page.choose())
    except ValueError as error:
        return _Chosen(problem=error)
    finally:
        if not tab.with_inputs:
            forget_caveats()


def _show(
    page: Page, tab: Tab, places: _Places, chosen: _Chosen, other: Sequence[Any] | None
) -> Shown:
    """Ask for what the tab needs and return what it shows; choices that cannot be are told."""
    wanted = [chosen.case] if page.choose and tab.with_inputs else []
    with places.body:
        try:
            if tab.choose is not None:
                with places.own:
                    wanted.append(tab.choose())
            if chosen.problem is not None and tab.with_inputs:
                raise chosen.problem
            if tab.compare is not None and other is not None:
                try:
                    return tab.compare(other, wanted)
                except ValueError as error:
                    with places.side_a:
                        compare.left_out(error)
            shown = tab.show(*wanted)
            if shown.line or page.line is None or not tab.with_inputs:
                return shown
            return replace(shown, line=page.line(chosen.case))
        except ValueError as error:
            if page.refusal is None:
                raise
            return page.refusal(error)


def _draw(shown: Shown, key: str, places: _Places) -> Mapping[Part, DeltaGenerator]:
    """Draw what a tab shows and return the places of its pictures' files, where these are open.

    Its sentence and numbers wait while a question about them is open.
    """
    waits = answer_waits()
    with places.head:
        _draw_headline(shown, waits=waits)
    with places.body:
        files = _place_of_part(shown)
        picture, numbers = _beside(shown)
        with picture:
            files |= _draw_charts(shown, key)
            for note in shown.notes:
                st.caption(note)
        with numbers:
            for label, item in () if waits else shown.numbers:
                explained_number(label, item)
            if shown.beside:
                shown.beside()
        if shown.below:
            shown.below()
    return files


def _place_of_part(shown: Shown) -> dict[Part, DeltaGenerator]:
    """Return the place of the poster right below a part; on a projector it has no room."""
    if shown.part is None or presenting():
        return {}
    return {
        shown.part: st.container(key="part_files", horizontal=True, horizontal_alignment="right")
    }


def _draw_charts(shown: Shown, key: str) -> dict[Part, DeltaGenerator]:
    files = {}
    for chart in shown.charts:
        part = Part(key=f"{key}_{chart.key}", file_name=chart.file_name)
        picture = replace(chart.picture, alt=with_caveats(chart.picture.alt))
        place = show_chart(picture, key=part.key, file_name=part.file_name, on_click=chart.on_click)
        if place is not None:
            files[part] = place
    return files


def _draw_headline(shown: Shown, *, waits: bool) -> None:
    if not shown.headline:
        return
    with st.container(key="tab_answer", horizontal=True, vertical_alignment="center"):
        headline(shown.headline, waits=waits)
        if shown.beside_headline:
            shown.beside_headline()
    if shown.line and not waits:
        with st.container(key="page_line"):
            st.caption(shown.line)


def _beside(shown: Shown) -> tuple[DeltaGenerator, DeltaGenerator]:
    """Return a place for the pictures and one for what stands beside them."""
    if not shown.numbers and not shown.beside:
        return st.container(), st.container()
    if shown.numbers_below or presenting():
        return st.container(), st.container(key="tab_numbers", horizontal=True)
    picture, numbers = st.columns(shown.widths)
    return picture, numbers.container(key="tab_numbers")
