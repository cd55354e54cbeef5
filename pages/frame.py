"""The picture frame around every page: menu, language, units, theme. It computes nothing."""

import streamlit as st

from core.language import _, install_provider
from pages.components.kept_zoom.kept_zoom import keep_zooms
from pages.components.live_slider.live_slider import follow_the_hand
from pages.server.run_slots import run_slot
from pages.shared import answer, header, link, navigation, questions, settings, switches

with run_slot():
    install_provider(settings.language)
    st.set_page_config(page_icon=switches.ICON, layout="wide")
    link.begin_run()
    header.begin_run()
    answer.begin_run()
    questions.begin_run()
    settings.bind_settings()
    page = st.navigation(navigation.build_menu(), position="top")
    link.enter(navigation.key_of(page))
    st.set_page_config(page_title=f"{page.title} · {_('Bits to GPT')}")
    switches.dress()
    switches.show()
    keep_zooms()
    follow_the_hand()
    notices = st.container(key="frame_notices", gap=None)
    page.run()
    header.end_run()
    for refusal in link.refusals():
        notices.caption(refusal.sentence())
    settings.end_run()
