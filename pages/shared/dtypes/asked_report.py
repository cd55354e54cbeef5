"""What the torch of this machine does, asked by whichever page needs it first."""

from collections.abc import Callable
from typing import TypeVar

import streamlit as st

from core.dtypes.libraries.library_records import LibraryReport
from core.language import _
from core.machine.kept_library import cached_library_report, library_report
from pages.server.background import jobs

T = TypeVar("T")


def asked(ask: Callable[[], T]) -> T | None:
    """Return what the libraries answer in a child process; None, and a sentence, if they cannot."""
    try:
        with st.spinner(_("Asking torch and ml_dtypes in a separate process …")):
            return ask()
    except ValueError as error:
        st.error(str(error))
        return None


def asked_report() -> LibraryReport | None:
    """Return what the libraries do, asking them in a child process the first time."""
    return asked(lambda: cached_library_report() or jobs().finish("library", library_report))
