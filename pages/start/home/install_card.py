"""The install card: a system and an accelerator in, the lines to type out."""

import streamlit as st

from core.language import _
from core.machine.install import BUILDS, SYSTEMS, InstallPlan, find_build, install_plan
from pages.shared import pickers


def picked_plan(page: str) -> InstallPlan | None:
    """Show the two pickers and return the plan; where there is no wheel, say so instead."""
    left, right = st.columns(2)
    with left:
        system = pickers.segmented(
            page,
            "system",
            _("System"),
            list(SYSTEMS),
            default="linux",
            labels=SYSTEMS.__getitem__,
        )
    with right:
        build = pickers.segmented(
            page,
            "build",
            _("Accelerator"),
            [row.key for row in BUILDS],
            default="cpu",
            labels=lambda key: _(find_build(key).label),
        )
    try:
        return install_plan(system, build)
    except ValueError as error:
        st.warning(str(error))
        return None


def show_plan(plan: InstallPlan) -> None:
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
