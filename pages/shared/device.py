"""The quiet line that names the device in use."""

import streamlit as st

from core.language import _


def device_banner(kind: str, name: str) -> None:
    """Name the device; on a CPU, say that GPU numbers are not invented.

    Args:
        kind: "cpu", "cuda", "rocm", "xpu" or "mps".
        name: What the device calls itself; shown as it is.
    """
    with st.container(key="device_banner"):
        if kind == "cpu":
            text = _("Runs on the CPU {name}. What needs a GPU reads: n/a on this device.")
        else:
            text = _("Runs on {name}.")
        st.caption(text.format(name=f"`{name.replace('`', '')}`"))
