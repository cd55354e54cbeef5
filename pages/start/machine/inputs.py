"""What This machine asks for: a system and an accelerator, an error text."""

from typing import Final

import streamlit as st

from core.language import _
from core.machine.install import BUILDS, SYSTEMS, InstallPlan, find_build, install_plan
from pages.shared.inputs import Inputs
from pages.shared.start.torch_errors import TorchError, find_error, load_torch_errors

ASK: Final = Inputs("machine")


def choose_plan() -> InstallPlan:
    """Show the two pickers and return the plan.

    Raises:
        ValueError: If torch has no such wheel; a sentence.
    """
    system = ASK.selectbox(
        "system", _("System"), list(SYSTEMS), default="linux", labels=SYSTEMS.__getitem__
    )
    build = ASK.selectbox(
        "build",
        _("Accelerator"),
        [row.key for row in BUILDS],
        default="cpu",
        labels=lambda key: _(find_build(key).label),
    )
    return install_plan(system, build)


def choose_error() -> TorchError:
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
