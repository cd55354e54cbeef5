"""What the tabs of This machine share: the page's inputs, and asking PyTorch about the machine."""

from typing import Final

import streamlit as st

from core.language import _
from core.machine import Probe, probe_machine
from pages.server.background import jobs
from pages.server.rate import take_turn
from pages.shared.inputs import Inputs

ASK: Final = Inputs("machine")


def asked_probe(*, again: bool = False) -> Probe | None:
    """Return the probe; None, after an error on the page, when it fails.

    `again` asks torch in a child process although it has been asked before.
    """
    try:
        if again:
            take_turn("measure")
        with st.spinner(_("Asking PyTorch about this machine…")):
            name = "probe again" if again else "probe"
            return jobs().finish(name, lambda: probe_machine(refresh=again))
    except ValueError as error:
        st.error(str(error))
        return None
