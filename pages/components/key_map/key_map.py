"""The keys that work on every page, and the list of them that `?` opens."""

from collections.abc import Callable

from core.language import _
from pages.components.part import browser_part

_mount = browser_part(
    __file__,
    html="<button type='button' hidden>?</button><dialog><h2></h2><dl></dl><form method='dialog'>"
    "<button></button></form></dialog>",
)


def key_map(*, has_list: bool, on_list_wanted: Callable[[], None]) -> None:
    """Mount the keys, once a page; `reader` handles P and Escape, this part the others.

    `on_list_wanted` is called when the pointer is at the button of the list of lessons, or a key
    wants it, and it is not on the page.
    """
    keys = [
        {"keys": "?", "does": _("open or close this list")},
        {"keys": "1 - 9", "does": _("open a lesson of this page")},
        {"keys": "N", "does": _("open the next lesson")},
        {"keys": "P", "does": _("large text for a projector, on and off")},
        {"keys": "Esc", "does": _("leave the projector view")},
        {"keys": "Tab, Space", "does": _("reach and press any control")},
    ]
    words = {"title": _("Keys"), "close": _("Close"), "open": _("Show the keys of this page")}
    data = [{"keys": keys, "words": words, "has_list": has_list}]
    _mount(key="key_map", data=data, width="content", on_list_wanted_change=on_list_wanted)
