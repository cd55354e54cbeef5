"""How does a GPT work, from its bits up, and can this machine train one now?"""

from functools import partial

import streamlit as st

from core.language import N_, _
from core.machine import describe_machine
from core.train.start.plan import outline_run, plan_run
from core.units import format_exact
from pages.shared.answer import headline, show_code
from pages.shared.header import page_header
from pages.shared.inputs import Inputs
from pages.shared.lessons import load_lessons
from pages.shared.questions import ask_on_demand
from pages.shared.settings import presenting
from pages.shared.start.course_map import show_lessons
from pages.start.home.machine_cards import (
    choose_plan,
    environment_line,
    machine_label,
    machine_layers,
    show_environment,
    show_layers,
    show_plan,
)
from pages.start.home.question import CODE, ask_largest_part
from pages.start.home.search import headline_of, search_box, show_hits
from pages.start.home.train_now import WISH, show_last_run, show_number, show_train_now

ASK = Inputs("home")
MAP_HEIGHT = 178  # of the titles of the course
CARDS = {
    "closed": N_("Course"),
    "environment": N_("Machine"),
    "stack": N_("Stack"),
    "install": N_("Install"),
}


def show_start() -> None:
    """Show the button that trains a GPT and the newest run; beside them a number to flip."""
    button, number = st.columns(2, gap="large")
    with button:
        try:
            show_train_now(plan_run(WISH))
        except ValueError as error:
            st.error(str(error))
        show_last_run()
    with number:
        show_number()


def say(text: str) -> None:
    """Show the headline, above everything that takes time."""
    with top:
        headline(text)


def show_card(card: str) -> None:
    """Show one side of the environment card with its headline."""
    if card == "environment":
        say(environment_line(describe_machine()))
        show_environment()
    elif card == "stack":
        layers = machine_layers()
        count = len(layers)
        say(_("From a line of Python to the silicon: {count} layers").format(count=count))
        show_layers(layers)
    elif plan := choose_plan(ASK):
        say(f"`{plan.torch_line}`")
        show_plan(plan)


def show_course() -> None:
    """Show the run that could start now, and the course."""
    count = format_exact(round(outline.parameters.amount))
    say(_("A GPT of {count} parameters can train on this machine now.").format(count=count))
    with start:
        show_start()
    # On a projector the open group waits below the titles of all of them.
    with st.container(height=MAP_HEIGHT if presenting() else "content", border=False):
        show_lessons(load_lessons(), key="home_map", detailed=False)


page_header(__doc__, _("Bits to GPT"))
outline = outline_run(WISH)
top = st.container()
start = st.container()
asked, machine = st.columns(2, gap="large")
with asked:
    hits = search_box(ASK)
with machine:
    chosen = ASK.segmented(
        "card",
        machine_label(),
        list(CARDS),
        default="closed",
        labels=lambda card: _(CARDS[card]),
    )
if hits:
    say(headline_of(hits[0]))
    show_hits(hits)
elif chosen == "closed":
    show_course()
else:
    show_card(chosen)
question, code = st.columns(2, gap="large")
with question:
    ask_on_demand(ASK, partial(ask_largest_part, outline.parameters))
with code:
    show_code("parameters", CODE.format(**outline.parameters.child("embeddings").values))
