"""Copy a link to exactly this picture: every setting, defaults too.

The address bar leaves defaults out, and a fragment changes settings without running the frame. So
the browser part reads the address at the click and fills in what it leaves out.
"""

from collections.abc import Callable, Sequence
from typing import Final

import streamlit as st

from core.language import _
from pages.components.part import browser_part
from pages.shared.link import Parameter, Refusal

KEY: Final = "copy_link"
_mount = browser_part(
    __file__,
    html='<button type="button" hidden></button><span role="status" aria-live="polite"></span>',
)


def copy_link(
    parameters: Sequence[Parameter],
    refusals: Sequence[Refusal],
    *,
    reachable: str = "",
    on_copied: Callable[[str], None] = lambda _link: None,
) -> None:
    """Show the button, given every setting, and the link values that were not accepted.

    `reachable`: in a class, scheme, host and port that others can reach; else empty.
    """
    refused = {refusal.name for refusal in refusals}
    settings = [
        {
            "name": each.name,
            "value": each.value,
            "default": each.default,
            "follows": each.visible and each.name not in refused,
        }
        for each in parameters
    ]
    words = {"copy": _("Copy link"), "copied": _("Link copied"), "failed": _("Copy this link:")}
    data = [{"settings": settings, "words": words, "reachable": reachable}]

    def receive() -> None:
        on_copied(str(st.session_state[KEY].copied))

    _mount(key=KEY, data=data, width="content", on_copied_change=receive)
