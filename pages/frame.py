"""The picture frame around every page: menu, language, units, theme. It computes nothing."""

from copy import copy

import streamlit as st
from streamlit.navigation.page import StreamlitPage

from core.language import _, install_provider
from pages.components.unseen.unseen import mount_unseen_parts
from pages.server.control_right import goes_first
from pages.server.run_slots import run_slot
from pages.shared import answer, header, link, navigation, questions, settings, switches


@st.fragment
def show_page(page: StreamlitPage) -> None:
    """Show what is inside the frame: an input there draws it anew, and the frame stays."""
    with run_slot(waits=not goes_first()), settings.held_for_run(), st.container(key="page"):
        link.begin_page()
        header.begin_run()
        answer.begin_run()
        questions.begin_run()
        notices = st.container(key="frame_notices", gap=None)
        copy(page).run()  # Streamlit lets each of its own run once
        header.end_run()
        for refusal in link.refusals():
            notices.caption(refusal.sentence())


with run_slot(waits=not goes_first()):
    install_provider(settings.language)
    st.set_page_config(page_icon=switches.ICON, layout="wide")
    link.begin_run()
    settings.bind_settings()
    chosen = st.navigation(navigation.build_menu(), position="top")
    link.enter(navigation.key_of(chosen))
    st.set_page_config(page_title=f"{chosen.title} · {_('Bits to GPT')}")
    with settings.held_for_run():
        switches.dress()
        switches.show()
        mount_unseen_parts()
show_page(chosen)
