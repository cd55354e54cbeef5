"""An error text of torch, its reason and its remedy."""

from textwrap import indent
from typing import Final

import streamlit as st

from core.language import N_, _
from pages.shared.start.torch_errors import (
    FAMILIES,
    TorchError,
    explain_error,
    find_error,
    load_torch_errors,
)
from pages.shared.tabbed_page import Shown, Tab
from pages.start.machine.inputs import ASK

_CODE: Final = """
import torch

try:
{code}
except Exception as error:
    print(f"{{type(error).__name__}}: {{error}}")
"""


def errors() -> Shown:
    """Show the list over the whole width, and what is known about the chosen error."""
    error = _choose_error()
    with st.container(border=True):
        explain_error(error)
        if error.family:
            st.caption(_family(error))
        if error.source:
            source = _(
                "It takes certain hardware, several processes or another version to raise this "
                "error, so no code is shown. Source of its words: `{source}`"
            )
            st.caption(source.format(source=error.source))
    code = _CODE.format(code=indent(error.code, "    ")) if error.code else ""
    return Shown(headline=f"`{error.line}`", code=code)


def _family(error: TorchError) -> str:
    family = [each for each in load_torch_errors() if each.family == error.family]
    lines = [_(FAMILIES[error.family]).format(count=len(family))]
    lines += [f"- `{each.line}`" for each in family if each is not error]
    return "\n".join(lines)


def _choose_error() -> TorchError:
    """Show the list of error texts and return the chosen one; a list that opens also searches."""
    errors = load_torch_errors()
    with st.container(key="machine_errors"):
        slug = ASK.selectbox(
            "error",
            _("Error text of PyTorch"),
            [error.slug for error in errors],
            default=errors[0].slug,
            labels=lambda slug: find_error(slug).line,
        )
    return find_error(slug)


TAB: Final = Tab(label=N_("PyTorch errors"), show=errors)
