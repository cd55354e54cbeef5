"""What the torch of this machine does, asked by whichever page needs it first."""

import streamlit as st

from core.dtypes.libraries.library_records import LibraryReport
from core.language import _
from core.machine.kept_library import cached_library_report, library_report
from pages.server.background import jobs


def asked_report() -> LibraryReport | None:
    """Return what torch does, asking it in a child process the first time.

    None, and a sentence, if it cannot answer.
    """
    try:
        with st.spinner(_("Asking torch in a separate process …")):
            return cached_library_report() or jobs().finish("library", library_report)
    except ValueError as error:
        st.error(str(error))
        return None
