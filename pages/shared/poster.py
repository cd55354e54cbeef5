"""The poster of a picture: what stands around it, and the link that leads back to it."""

import re
from collections.abc import Sequence
from typing import Final
from urllib.parse import urlencode, urlsplit

import streamlit as st

from core.budget import Item
from core.figures.theme import CODE_FAMILY, COLORS, FONT_FAMILY
from core.language import _
from pages.components.poster.poster import Poster, is_asked_for, poster_menu
from pages.server.classroom import class_address, in_class
from pages.server.qr import MAX_CHARS, qr_path
from pages.shared import link
from pages.shared.answer import written
from pages.shared.navigation import page_row
from pages.shared.settings import theme_mode

MAX_NUMBERS: Final = 5
_THIS_COMPUTER: Final = frozenset({"localhost", "127.0.0.1", "::1"})
_MARKS: Final = re.compile(
    r"`([^`]+)`|\*\*(.+?)\*\*|:[a-z-]+\[([^\]]*)\]|\\([!-/:-@\[-`{-~])|\[([^\]]+)\]\([^)]*\)"
)


def poster(
    chart: str,
    *,
    file_name: str,
    headline: str,
    numbers: Sequence[tuple[str, Item]],
    small: bool = False,
) -> None:
    """Show the menu for the poster of a picture, once all settings of the page are known."""
    address = full_link()
    note = _not_to_be_carried(address)
    asked = is_asked_for(chart)
    # A code takes 50 ms: a slider that moves waits for none.
    path, size = qr_path(address) if asked and not note else ("", 0)
    colors, title = COLORS[theme_mode()], _(page_row(link.current_page()).title)
    poster_menu(
        Poster(
            chart=chart,
            file_name=file_name,
            title=f"{_('Bits to GPT')} · {title}",
            headline=plain(headline),
            numbers=[
                (plain(label), written(item.amount, item.unit))
                for label, item in numbers[:MAX_NUMBERS]
            ],
            link=note or address,
            code={"path": path, "size": size} if path else None,
            code_waits=not note and not asked,
            colors={name: colors[name] for name in ("background", "text", "muted")},
            fonts={"text": FONT_FAMILY, "code": CODE_FAMILY},
            small=small,
        )
    )


def full_link() -> str:
    """Return the address of what is shown, as "copy link" does: every setting, defaults too."""
    here = st.context.url or ""
    if in_class() and urlsplit(here).hostname in _THIS_COMPUTER:
        reachable, own = urlsplit(class_address()), urlsplit(here)
        here = own._replace(scheme=reachable.scheme, netloc=reachable.netloc).geturl()
    settings = {each.name: each.value for each in link.parameters() if each.value or each.default}
    return f"{here}?{urlencode(settings)}"


def plain(text: str) -> str:
    """Return a sentence without the marks of Markdown."""
    return _MARKS.sub(lambda mark: next(filter(None, mark.groups()), ""), text)


def _not_to_be_carried(address: str) -> str:
    """Return why a poster cannot bear a link to this state; "" if it can."""
    if beyond := link.book().beyond:
        return beyond
    if len(address) > MAX_CHARS:
        return _("The link to this picture is too long for a poster: copy it on the page.")
    return ""
