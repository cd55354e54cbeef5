"""Which lines install torch on a system, for an accelerator."""

import streamlit as st

from core.language import _
from core.machine.install import InstallPlan
from pages.shared.tabbed_page import Shown


def install(plan: InstallPlan) -> Shown:
    """Show the lines to type, why they are these, and how to check the result."""
    lines, reason = st.columns([3, 2], gap="large")
    with lines:
        st.code("\n".join(plan.commands), language="bash", wrap_lines=True)
    with reason:
        st.markdown(_(plan.note))
        st.caption(
            _(
                "PyTorch 2.13 comes for CUDA 12.6, 13.0 and 13.2. Guides that name cu118 or cu121 "
                "are older than 2.8 and 2.6; those indexes have no 2.13."
            )
        )
        st.caption(_("Check what you got:"))
        st.code(plan.check, language="bash", wrap_lines=True)
    return Shown(headline=f"`{plan.torch_line}`", code=_printed(plan))


def no_wheel(problem: ValueError) -> Shown:
    """Say that torch has no such wheel."""
    st.warning(str(problem))
    return Shown(headline=_("There is no such wheel"))


def _printed(plan: InstallPlan) -> str:
    return f"""
import torch

print({plan.torch_line!r})
print(torch.__version__, "is here now")
"""
