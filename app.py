"""The server: Streamlit around pages/frame.py, with the live stream, headers and Host check."""

import gc
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import streamlit as st

from pages.components.live_chart.stream import install_stop_signal, routes
from pages.shared.guard import middleware

FRAME = Path(__file__).parent / "pages" / "frame.py"


@asynccontextmanager
async def lifespan(_app: st.App) -> AsyncIterator[None]:
    """Let open streams end with the server, and keep the collector away from what is loaded."""
    install_stop_signal()
    gc.freeze()  # the backup of runner.postScriptGC = false: a collection walks 277,000 objects
    yield


app = st.App(FRAME, lifespan=lifespan, routes=routes(), middleware=middleware())
