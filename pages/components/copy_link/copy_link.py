"""Copy a link to exactly this picture: every setting, defaults too.

The address bar leaves defaults out, and a fragment changes settings without running the frame. So
the browser part reads the address at the click and fills in what it leaves out.
"""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final

import streamlit as st

from core.language import _
from pages.shared.link import Parameter, Refusal

KEY: Final = "copy_link"
_FOLDER: Final = Path(__file__).parent
_mount = st.components.v2.component(
    KEY,
    html='<button type="button" hidden></button><span role="status" aria-live="polite"></span>',
    js=(_FOLDER / "copy_link.js").read_text(encoding="utf-8"),
    css=(_FOLDER / "copy_link.css").read_text(encoding="utf-8"),
)


def copy_link(
    parameters: Sequence[Parameter],
    refusals: Sequence[Refusal],
    *,
    reachable: str = "",
    on_copied: Callable[[str], None] = lambda _link: None,
) -> None:
    """Show the button.

    Args:
        parameters: Every setting of the frame and of the page.
        refusals: Link values that were not accepted; the address may still hold them.
        reachable: In a class, scheme, host and port that others can reach; else empty.
        on_copied: In a class, called with the link that was copied.
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
    # Streamlit loads pandas to look into a dict, but not into a list.
    data = [{"settings": settings, "words": words, "reachable": reachable}]

    def receive() -> None:
        on_copied(str(st.session_state[KEY].copied))

    _mount(key=KEY, data=data, width="content", on_copied_change=receive)
