"""How does a GPT work, from its bits up, and can this machine train one now?"""

import streamlit as st

from core.language import _
from core.machine import describe_machine
from core.train.plan import outline_run, plan_run
from core.units import format_exact
from pages.shared import pickers
from pages.shared.course_map import show_lessons
from pages.shared.environment_card import environment_line, show_environment
from pages.shared.header import headline, page_header
from pages.shared.install_card import picked_plan, show_plan
from pages.shared.last_run import show_last_run
from pages.shared.lessons import load_lessons
from pages.shared.questions import Choice, predict_then_reveal
from pages.shared.search_box import headline_of, search_box, show_hits
from pages.shared.snippets import show_code
from pages.shared.stack_card import machine_layers, show_layers
from pages.shared.train_now import WISH, show_train_now

CODE = """
from core.train.plan import Wish, outline_run

print(f"{outline_run(Wish()).parameters.amount:,}")
"""


def card_label(card: str) -> str:
    """Return the word on the switch of a card."""
    return {
        "closed": _("Course"),
        "environment": _("Environment"),
        "stack": _("Stack"),
        "install": _("Install"),
    }[card]


def show_start() -> None:
    """Show the button that trains a GPT, and beside it the newest run."""
    button, newest = st.columns([3, 2], gap="large")
    with button:
        try:
            show_train_now(plan_run(WISH))
        except ValueError as error:
            st.error(str(error))
    with newest:
        show_last_run()


def show_card(card: str) -> str:
    """Show the course or one side of the environment card; return its headline."""
    if card == "environment":
        show_environment()
        return environment_line(describe_machine())
    if card == "stack":
        layers = machine_layers()
        show_layers(layers)
        return _("From a line of Python to the silicon: {count} layers").format(count=len(layers))
    if card == "install":
        plan = picked_plan("home")
        if plan:
            show_plan(plan)
        return f"`{plan.torch_line}`" if plan else ""
    show_lessons(load_lessons(), key="home_map", detailed=False, across=True)
    return ""


def ask() -> None:
    """Ask for the loss of a GPT that has learnt nothing."""
    count, loss = outline.vocab_size, f"{outline.ln_vocab:.2f}"
    question = _(
        "This GPT has read nothing yet, and there are {count} characters to choose from. "
        "What is its loss, in nats per character?"
    )
    choices = [
        Choice("0.00", _("A loss of 0 means to be certain, and right, every time.")),
        Choice(loss),
        Choice(f"{count}.00", _("That is the number of characters; the loss is its logarithm.")),
    ]
    reason = _("To guess evenly among {count} is to be surprised by ln {count} = {loss} nats.")
    predict_then_reveal(
        "home_first_loss",
        question.format(count=count),
        choices,
        reason.format(count=count, loss=loss),
    )


page_header(__doc__, _("Bits to GPT"))
outline = outline_run(WISH)
top = st.container()
start = st.container()
asked, machine = st.columns([3, 2], gap="large")
with asked:
    hits = search_box("home")
with machine:
    chosen = pickers.segmented(
        "home",
        "card",
        environment_line(describe_machine()),
        ["closed", "environment", "stack", "install"],
        default="closed",
        labels=card_label,
    )
if chosen == "closed" and not hits:
    with start:
        show_start()
show_hits(hits)
card_headline = show_card(chosen)
question, code = st.columns([3, 2], gap="large")
with question, st.expander(_("Predict: what does it know before the first step?")):
    ask()
with code:
    show_code("parameters", CODE)
with top:
    default = _("A GPT of {count} parameters can train on this machine now.").format(
        count=format_exact(round(outline.parameters.amount))
    )
    headline(headline_of(hits[0]) if hits else card_headline or default)
