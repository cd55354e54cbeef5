"""What happens while a GPT learns?

One small GPT trains in a process of its own; every browser that looks at it sees the same curves.
"""

import streamlit as st

from core.figures.picture import Look
from core.figures.train.live_run.live_parts import LiveLook
from core.language import _
from core.train.start.plan import device_in_use
from pages.components.live_chart.live_chart import empty_figures, live_chart
from pages.server.control_right import is_teacher
from pages.shared.answer import headline, show_code
from pages.shared.device import device_banner
from pages.shared.header import page_header
from pages.shared.prose import prose
from pages.shared.settings import is_hidden, locked, presenting, unit_system
from pages.train.live_run.manage import offer_management
from pages.train.live_run.prediction import (
    ask_first_loss,
    outline,
    predict,
    show_prediction,
)
from pages.train.live_run.runs import (
    controls_of,
    follow,
    followed_run,
    list_earlier_runs,
    send_command,
    show_replay,
    show_viewer,
)
from pages.train.live_run.settings import ASK, choose_duration, choose_size, choose_wish
from pages.train.live_run.shown_run import answer_of, code_of, next_run_text, shown_run
from pages.train.live_run.start import show_refusal, start

page_header(__doc__)
followed = followed_run()
top, picture, below = st.container(gap="small"), st.container(), st.container()

with top, st.container(key="lr_setup", horizontal=True, vertical_alignment="bottom"):
    # On a projector the picture comes first: all choices wait behind one button.
    choices = st.container(horizontal=True, width="content") if not presenting() else None
    start_pressed = not is_hidden(ASK.page, "start") and st.button(
        _("Start"),
        key="lr_start",
        type="primary",
        icon=":material/play_arrow:",
        disabled=locked() or not is_teacher(),
    )
    with st.popover(_("Settings"), icon=":material/tune:", key="lr_settings", width="content"):
        numbers = st.container(key="lr_numbers", gap="small")
        with choices or st.container():
            duration, size = choose_duration(), choose_size()
        wish = choose_wish(duration, size)
    with st.popover(_("Runs"), icon=":material/history:", key="lr_runs", width="content"):
        list_earlier_runs()
    offer_management()
    show_refusal()

shown = shown_run(followed.run)
with below if presenting() else top:
    planned = outline(wish)
    prepared = predict(wish) if planned else None
    above, beside = answer_of(shown, planned, prepared)
    if above:
        with st.container(key="lr_plan", horizontal=True, vertical_alignment="center"):
            headline(above)
            st.caption(beside, width="content")
    if planned and (coming := next_run_text(shown, planned)):
        with st.container(key="lr_next"):
            st.caption(coming)
if prepared:
    with numbers:
        show_prediction(prepared)
with top:
    show_viewer(wish, followed.run)
    show_replay(followed)
    if start_pressed:
        if start(wish):
            follow()
        st.rerun()

with below, st.container(horizontal=True, vertical_alignment="center"):
    compare = ASK.toggle("prediction", _("Show what was predicted"), default=True)
    device_banner(*device_in_use())
look = Look(present=presenting(), unit=unit_system())  # both themes are sent
with picture:
    live_chart(
        key="lr_live",
        run=followed.run,
        told=shown.mark if shown else "",
        speed=followed.speed,
        figures=empty_figures(LiveLook(look=look, show_prediction=compare)),
        controls=controls_of(followed),
        on_command=send_command,
    )

if planned:
    ask_first_loss(planned)
if source := code_of(shown, wish):
    show_code("plan", source)
prose(__file__, "reading")
