"""How does a GPT work, from its bits up, and can this machine train one now?"""

from functools import partial
from pathlib import Path

import streamlit as st

from core.language import _
from core.train.start.plan import outline_run, plan_run
from core.units import format_exact
from pages.shared.answer import headline
from pages.shared.header import page_header
from pages.shared.inputs import Inputs
from pages.shared.lessons import load_lessons
from pages.shared.questions import ask_on_demand
from pages.shared.snippet import show_code
from pages.start.home.question import CODE, ask_largest_part
from pages.start.home.results import headline_of, search_box, show_door, show_found
from pages.start.home.steps import STEPS, num_first_lessons, show_steps
from pages.start.home.train_now import WISH, show_last_run, show_train_now

ASK = Inputs("home")


def show_start() -> None:
    try:
        show_train_now(plan_run(WISH))
    except ValueError as error:
        st.error(str(error))


def invitation() -> str:
    """Return for whom the course is, where it leads, and of how many lessons it is."""
    return _(
        "For everyone who knows a little Python: {steps} steps from one bit to a GPT of {count} "
        "parameters; {first} one-minute lessons to begin with, {lessons} in all."
    ).format(
        count=format_exact(round(outline.parameters.amount)),
        steps=len(STEPS),
        first=num_first_lessons(),
        lessons=len(load_lessons()),
    )


st.html(Path(__file__).with_name("page.css"))
page_header(__doc__, _("Bits to GPT"))
outline = outline_run(WISH)
top = st.container()
start, asked = st.columns(2, gap="large")
with asked:
    query, found = search_box(ASK)
    show_door(query)
with top:
    headline(headline_of(found) if found else invitation())
with start:
    show_start()
with asked:
    show_last_run()
if found:
    show_found(query, found)
if not found or not (found.is_error or found.hits):
    show_steps()
question, code = st.columns(2, gap="large")
with question:
    ask_on_demand(ASK, partial(ask_largest_part, outline.parameters))
with code:
    show_code("parameters", CODE.format(**outline.parameters.child("embeddings").values))
