"""Copy a link to exactly this picture: every setting, defaults too.

The address bar leaves defaults out, and a fragment changes settings without running the frame. So
the browser part reads the address at the click and fills in what it leaves out.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Final

import streamlit as st

from core.language import _
from pages.shared.link import Parameter, Refusal

_FOLDER: Final = Path(__file__).parent
_mount = st.components.v2.component(
    "copy_link",
    html='<button type="button" hidden></button><span role="status" aria-live="polite"></span>',
    js=(_FOLDER / "copy_link.js").read_text(encoding="utf-8"),
    css=(_FOLDER / "copy_link.css").read_text(encoding="utf-8"),
)


def copy_link(parameters: Sequence[Parameter], refusals: Sequence[Refusal]) -> None:
    """Show the button.

    Args:
        parameters: Every setting of the frame and of the page.
        refusals: Link values that were not accepted; the address may still hold them.
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
    _mount(key="copy_link", data=[{"settings": settings, "words": words}], width="content")
