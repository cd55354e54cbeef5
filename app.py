"""The server: Streamlit around pages/frame.py, with our routes, headers and Host check."""

import gc
import importlib
import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import streamlit as st

from pages.components.live_chart.stream import install_stop_signal, routes
from pages.shared.guard import middleware

FRAME = Path(__file__).parent / "pages" / "frame.py"
# What Home would load while its first reader waits: 0.5 s, half of it pandas, which Streamlit asks
# for. Torch is not here: this process never needs it.
FIRST_NEEDED = ("pandas", "streamlit.emojis", "core.machine", "core.train.plan")


def warm_up() -> None:
    """Load what the first page needs, then keep it out of the garbage collector's reach."""
    for name in FIRST_NEEDED:
        importlib.import_module(name)
    gc.freeze()


@asynccontextmanager
async def lifespan(_app: st.App) -> AsyncIterator[None]:
    """Warm up beside the first requests; end open streams when the server is told to stop."""
    gc.freeze()
    threading.Thread(target=warm_up, name="warm-up", daemon=True).start()
    put_signals_back = install_stop_signal()
    yield
    put_signals_back()


app = st.App(FRAME, lifespan=lifespan, routes=routes(), middleware=middleware())
