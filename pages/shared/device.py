"""The quiet line that names the device in use."""

import streamlit as st

from core.language import _


def device_banner(kind: str, name: str) -> None:
    """Name the device as it calls itself; on a CPU, say that GPU numbers are not invented."""
    with st.container(key="device_banner"):
        if kind == "cpu":
            text = _("Runs on the CPU {name}. What needs a GPU reads: n/a on this device.")
        else:
            text = _("Runs on {name}.")
        st.caption(text.format(name=f"`{name.replace('`', '')}`"))
