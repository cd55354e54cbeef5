"""Show the code: a snippet that a reader can run, and that the suite runs."""

from typing import Final, cast

import streamlit as st

from core.language import _

SNIPPETS: Final = "snippets"


def begin_run() -> None:
    """Forget the snippets of the last run."""
    st.session_state[SNIPPETS] = {}


def show_code(name: str, source: str) -> None:
    """Show Python that reproduces the headline number, closed until asked for.

    Args:
        name: Unique on the page; the suite finds the snippet by it and runs it.
        source: Complete Python that prints the number, run from the product's folder.
    """
    cast("dict[str, str]", st.session_state.setdefault(SNIPPETS, {}))[name] = source
    # Sent only when it is opened: what colours code takes a browser a quarter of a second to load.
    place = st.expander(
        _("Show the code"), key=f"{name}_code", icon=":material/code:", on_change="rerun"
    )
    if place.open:
        with place:
            st.code(source.strip(), language="python")
            st.caption(_("Run it in the folder of this dashboard with its own Python."))
