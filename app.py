"""The server: Streamlit around pages/frame.py, with the live stream, headers and Host check."""

import asyncio
import gc
import importlib
import threading
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import streamlit as st

from pages.components.live_chart.stream import install_stop_signal, routes
from pages.server.classroom import announce
from pages.server.connections import bound_connections
from pages.server.guard import middleware
from pages.server.snapshots import snapshot_routes
from pages.server.streamlit_session import install_sessions
from pages.server.uploads import upload_refusal

FRAME = Path(__file__).parent / "pages" / "frame.py"
# What Home would load while its first reader waits.
FIRST_NEEDED = ("streamlit.emojis", "core.machine", "core.train.start.plan")
# What a first chart would: half a second in which nobody who waits for Home shall share the core.
NEXT_NEEDED = ("pandas", "plotly.graph_objects")
SECONDS_FOR_HOME = 3.0
# The pages of tensors run torch here; no other page does. It comes last, with what it loads late.
TORCH_NEEDED = ("core.tensors.trace", "sympy")


def warm_up() -> None:
    """Load what the first pages need and keep the collector away from it."""
    for name in FIRST_NEEDED:
        importlib.import_module(name)
    time.sleep(SECONDS_FOR_HOME)
    for name in NEXT_NEEDED:
        importlib.import_module(name)
    time.sleep(SECONDS_FOR_HOME)
    for name in TORCH_NEEDED:
        importlib.import_module(name)
    gc.freeze()  # the backup of runner.postScriptGC = false: a collection walks 277,000 objects


@asynccontextmanager
async def lifespan(_app: st.App) -> AsyncIterator[None]:
    """Warm up beside the first requests, and let open streams end with the server."""
    bound_connections(asyncio.get_running_loop())
    announce()
    install_stop_signal()
    threading.Thread(target=warm_up, name="warm-up", daemon=True).start()
    yield


install_sessions(upload_refusal)
_routes = [*routes(), *snapshot_routes()]
app = st.App(FRAME, lifespan=lifespan, routes=_routes, middleware=middleware())
