"""The box that searches on Home, and what it found: one answer, or the nearest and no answer."""

from collections.abc import Sequence

import streamlit as st

from core.language import _, current_language
from core.language.glossary import GLOSSARY
from pages.shared import page_links
from pages.shared.inputs import Inputs
from pages.shared.lessons import lesson_link
from pages.shared.navigation import page_row
from pages.shared.start.course_map import find
from pages.shared.start.torch_errors import explain_error
from pages.start.home.index import Entry, question
from pages.start.home.search import Found, find_all, links_of

MAX_QUERY = 600
_ICONS = {
    "term": ":material/dictionary:",
    "lesson": ":material/school:",
    "model": ":material/neurology:",
    "device": ":material/memory:",
    "page": ":material/article:",
    "tab": ":material/tab:",
}
_ERRORS_PAGE = "start/machine"


def search_box(ask: Inputs) -> tuple[str, Found | None]:
    """Show the box; return what is asked and what that finds, None while nothing is asked."""
    query = ask.text(
        "search",
        _("Search: a term, a model, a device, a number or an error text"),
        max_chars=MAX_QUERY,
        help=_(
            "A term of the field, “Qwen3-32B”, “how many H100”, “65504”, or an error text of "
            "PyTorch, whole or in part; the numbers in it may differ."
        ),
    )
    return query, find_all(query) if query.strip() else None


def show_door(query: str) -> None:
    """Show the way to Diagnose, with what was asked if that is something it reads."""
    label, settings = _("Or bring an error, a recipe, a log or a file"), {}
    if query.strip() and _is_read(query):
        label, settings = _("Diagnose reads this, and says what it means"), {"diagnose_text": query}
    page_links.show_link("plan/diagnose", label, settings, icon=":material/troubleshoot:")


def _is_read(query: str) -> bool:
    from core.budget.diagnosis.recognise import recognise  # only who searches waits for it

    try:
        recognise(query.encode())
    except ValueError:
        return False
    return True


def headline_of(found: Found) -> str:
    if found.error:
        return f"`{found.error.line}`"
    if found.is_error:
        return _("No explanation for this text")
    return title_of(found.hits[0]) if found.is_answer else _("Nothing found for these words.")


def title_of(hit: Entry) -> str:
    return hit.names[current_language() == "zh"]


def show_found(query: str, found: Found) -> None:
    """Show an error with its reason and remedy, or the answer and further hits, or the nearest."""
    if error := found.error:
        with st.container(border=True):
            explain_error(error)
            here = {"machine_tab": "errors", "machine_error": error.slug}
            no_code = _("All errors explained here")
            label = no_code if error.source else _("Code that raises it, and other errors")
            page_links.show_link(_ERRORS_PAGE, label, here, icon=":material/error:")
        return
    others = found.hits
    if found.is_answer:
        with st.container(border=True, key="home_answer"):
            _show_answer(query, others)
        others = [hit for hit in others[1:] if hit is not _shown_with(others)]
    elif found.is_error:
        st.caption(_("None of the errors explained here has these words."))
        label = _("All errors explained here")
        here = {"machine_tab": "errors"}
        page_links.show_link(_ERRORS_PAGE, label, here, icon=":material/error:")
    else:
        st.caption(_("Try the words of an error text, a term of the field, or fewer words."))
    if others and not found.is_answer:
        st.caption(_("Nearest, though perhaps not what you mean:"))
    for hit in others:
        _show_link(query, hit)


def _show_answer(query: str, hits: Sequence[Entry]) -> None:
    hit = hits[0]
    st.caption(kind_of(hit))
    if hit.kind == "term":
        st.markdown(f"**{title_of(hit)}** · {_told(hit)}")
        if shown := _shown_with(hits):
            _show_link(query, shown)
    elif hit.kind in {"model", "device"}:
        st.markdown(f"**{title_of(hit)}**")
        with st.container(horizontal=True):
            for page, settings in links_of(hit, query):
                page_links.show_link(page, _(page_row(page).title), settings, icon=_ICONS["page"])
    else:
        _show_link(query, hit)
        if hit.kind == "page":
            st.markdown(_(question(page_row(hit.key))))


def _shown_with(hits: Sequence[Entry]) -> Entry | None:
    """Return where a term is shown: the best hit that is no term; None where no term answers."""
    is_term = hits[0].kind == "term"
    return next((each for each in hits if is_term and each.kind != "term"), None)


def _told(hit: Entry) -> str:
    return GLOSSARY[hit.key].explained()


def kind_of(hit: Entry) -> str:
    if hit.kind == "lesson":
        return _("Lesson · {page}").format(page=_(page_row(find(hit.key).page).title))
    if hit.kind == "tab":
        return _("Tab · {page}").format(page=_(page_row(hit.links[0][0]).title))
    words = {"term": _("Glossary"), "page": _("Page"), "model": _("Model"), "device": _("Device")}
    return words.get(hit.kind, _("Number format"))


def _show_link(query: str, hit: Entry) -> None:
    label = f"{title_of(hit)} · :small[{kind_of(hit)}]"
    icon = _ICONS.get(hit.kind, ":material/numbers:")
    if hit.kind == "lesson":
        lesson_link(find(hit.key), label, icon=icon)
    elif hit.kind == "term":
        st.markdown(f"**{title_of(hit)}** · :small[{kind_of(hit)}] · {_told(hit)}")
    else:
        page, settings = links_of(hit, query)[0]
        page_links.show_link(page, label, settings, icon=icon)
