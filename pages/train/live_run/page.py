"""What happens while a GPT learns?

One small GPT trains in a separate process; every browser that looks at it sees the same curves.
"""

from functools import partial
from pathlib import Path

import streamlit as st

from core.language import _
from core.train.run.shelf import RunSummary
from core.train.start.plan import Outline, device_in_use
from pages.components.live_chart.live_chart import live_chart
from pages.server.control_right import is_teacher
from pages.shared.answer import headline
from pages.shared.header import page_header
from pages.shared.poster import poster
from pages.shared.prose import prose
from pages.shared.questions import answer_waits, ask_on_demand
from pages.shared.settings import is_hidden, locked, presenting
from pages.train.live_run.compare import show_comparison
from pages.train.live_run.drawn import choose_drawn
from pages.train.live_run.guesses import ask_last_loss
from pages.train.live_run.manage import offer_runs
from pages.train.live_run.memory_snapshot import offer_snapshot
from pages.train.live_run.prediction import (
    ask_first_loss,
    outline,
    predict,
    show_prediction,
)
from pages.train.live_run.ranks import offer_ranks
from pages.train.live_run.recorded import recorded_for, told_of
from pages.train.live_run.runs import (
    controls_of,
    follow,
    followed_run,
    send_command,
    show_replay,
    show_viewer,
)
from pages.train.live_run.settings import ASK, choose_duration, choose_size, choose_wish
from pages.train.live_run.shown_run import (
    answer_of,
    code_and_graph,
    device_banner,
    next_run_text,
    shown_run,
)
from pages.train.live_run.start import show_refusal, start


def ask_losses(planned: Outline, run: RunSummary | None) -> None:
    """Ask for the loss before the first step and, of a run, for that at its end."""
    ask_first_loss(planned)
    if run is not None and run.num_steps:
        ask_last_loss(run, planned.ln_vocab)


page_header(__doc__)
st.html(Path(__file__).with_name("page.css"))
followed = followed_run()
head = st.container(key="page_answer", gap=None)
with st.container(key="page_split"):
    if presenting():  # the picture has the whole width
        rail, picture = st.container(), st.container()
    else:
        rail, picture = st.columns([1, 4], gap="medium")
question, code = st.columns(2)
with rail.container(key="page_rail", gap="small", horizontal=presenting()):
    start_pressed = not is_hidden(ASK.page, "start") and st.button(
        _("Train"),
        key="lr_start",
        type="primary",
        icon=":material/play_arrow:",
        width="content" if presenting() else "stretch",
        disabled=locked() or not is_teacher(),
    )
    with st.container(key="lr_more", horizontal=True, width="content", gap="small"):
        with st.popover(_("Settings"), icon=":material/tune:", key="lr_settings", width="content"):
            numbers = st.container(key="lr_numbers", horizontal=True)
            further = st.container()
        offer_runs()
    shown = shown_run(followed.run)
    # On a projector all choices wait behind one button.
    with further if presenting() else st.container(gap="small"):
        duration, size = choose_duration(), choose_size()
    with further:
        wish = choose_wish(duration, size)
    drawn = choose_drawn(shown, further, st.container(gap="small"))
    show_refusal()
    planned = outline(wish)
    prepared = predict(wish) if planned else None
    show_viewer(wish, followed.run)
    show_replay(followed)
    recorded = None if followed.run else recorded_for(duration, planned)
    if planned and not presenting() and (coming := next_run_text(shown, planned, prepared)):
        with st.container(key="lr_next"):
            st.caption(coming)
    if start_pressed:
        if start(wish):
            follow()
        st.rerun()
if prepared:
    with numbers:
        show_prediction(prepared)
if planned:
    with question:
        ask_on_demand(ASK, partial(ask_losses, planned, shown.run if shown else None))
above, beside = answer_of(shown, planned)
if above:
    with head, st.container(key="tab_answer", horizontal=True, vertical_alignment="center"):
        headline(above, waits=answer_waits())
        if beside and not presenting():
            st.caption(beside, width="content")
with picture:
    live_chart(
        key="lr_live",
        run=followed.run,
        told=told_of(shown, recorded, above),
        speed=followed.speed,
        drawn=drawn,
        controls=controls_of(followed),
        on_command=send_command,
    )
    files = st.container(key="part_files", horizontal=True, horizontal_alignment="right")
    if shown:
        show_comparison(shown.run.name, drawn.beside)
    device_banner(*device_in_use())
with code:
    code_and_graph(shown, planned)
if shown and not presenting():
    offer_ranks(shown)
    offer_snapshot(shown)
prose(__file__, "reading")
if not is_hidden(ASK.page, "poster") and not presenting():
    with files:  # last, for it bears every setting; what it says is known in the browser
        poster("lr_live", file_name="live-run", headline=above, numbers=(), small=True)
