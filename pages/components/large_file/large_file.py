"""A place to choose or drop a file that is too large for Streamlit's uploads.

The browser sends it to a route of this server by itself, so that it says how far it is; the page
hears of it when the route has answered.
"""

from collections.abc import Callable, Mapping
from typing import Any, Final

import streamlit as st

from core.language import N_
from pages.components.part import browser_part, translated

CHOOSE: Final = N_("Choose a file")
# The browser fills in {percent}; a number is the status with which the route refuses.
WORDS: Final[Mapping[str, str]] = {
    "drop": N_("or drop it here, at most {size}"),
    "sending": N_("Sent: {percent}%"),
    "reading": N_("The server reads it …"),
    "failed": N_("The file did not arrive: is the server running? Try again."),
    "408": N_("The file came too slowly: try again, or record fewer steps."),
    "413": N_("The file has more than {size}."),
    "429": N_("Too many files in one minute from one browser: wait a little."),
    "503": N_("The server reads somebody else's file: try again in a few minutes."),
    "507": N_("The server has no room on its disk for the file."),
}
_mount = browser_part(
    __file__,
    html="<div class='place'><button type='button' hidden></button><small></small>"
    "<input type='file' hidden><progress max='100' hidden></progress>"
    "<span role='status' aria-live='polite'></span></div>",
)


def large_file(
    key: str, path: str, most: tuple[int, str], on_sent: Callable[[str, str], None], *,
    choose: str = CHOOSE, disabled: bool,
) -> None:  # fmt: skip
    """Show the place for a file of at most so many bytes, in a number and in words.

    `choose` is the message id of what stands on its button.

    `on_sent` is called with the key of the route's answer and the file's name.

    Of the route at `path` a GET asks whether a file may come, and a POST brings it; the answer is
    JSON with a "key".
    """
    max_bytes, size = most
    words = translated({**WORDS, "choose": choose})
    words = {name: text.replace("{size}", size) for name, text in words.items()}

    def receive() -> None:
        sent: dict[str, Any] = st.session_state[key].sent or {}
        on_sent(str(sent.get("key", "")), str(sent.get("name", "")))

    data = [{"path": path, "mostBytes": max_bytes, "words": words, "disabled": disabled}]
    _mount(key=key, data=data, height="content", on_sent_change=receive)
