"""The picture frame around every page: menu, language, units, theme. It computes nothing."""

import streamlit as st

from core.language import install_provider
from pages.shared import link, look, navigation, settings, switches

st.set_page_config(page_title="Bits to GPT", page_icon=look.ICON, layout="wide")
install_provider(settings.language)
link.begin_run()
settings.bind_settings()
page = st.navigation(navigation.build_menu(), position="top")
link.enter(navigation.key_of(page))
look.dress()
switches.show()
notices = st.container(key="frame_notices")
page.run()
for refusal in link.refusals():
    notices.caption(refusal.sentence())
