"""The server: Streamlit around pages/frame.py, with our routes, headers and Host check."""

import gc
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import streamlit as st

from pages.shared.guard import middleware

FRAME = Path(__file__).parent / "pages" / "frame.py"


@asynccontextmanager
async def lifespan(_app: st.App) -> AsyncIterator[None]:
    """Put what is loaded at start out of the garbage collector's reach: a rerun looks at less."""
    gc.freeze()
    yield


app = st.App(FRAME, lifespan=lifespan, middleware=middleware())
