"""One card: the claim and its code; a prediction, then what running both pieces of code gives."""

import textwrap
from typing import Any, Final

import streamlit as st

from core.bugs.card import Card, Outcome, play, program_of
from core.bugs.deck import choices_of
from core.bugs.running import Answer
from core.figures.picture import Drawing, Look, Picture
from core.language import N_, _
from pages.server.background import jobs
from pages.shared.charts import show_chart
from pages.shared.navigation import page_row
from pages.shared.page_links import show_link
from pages.shared.questions import Choice, predict_then_reveal
from pages.shared.settings import look, presenting
from pages.shared.tabbed_page import Shown, Tab
from pages.start.spot_the_bug.inputs import ASK, Case, predicted, prediction_key

HEIGHT_PX: Final = 110
PRESENT_HEIGHT_PX: Final = 140
_ROOM: Final = 1.8  # of the longest bar: what is written behind it needs the rest
_LONGEST: Final = 240  # letters of a message of torch's


@st.cache_resource(show_spinner=False)
def kept() -> dict[str, Outcome]:
    return {}


def one_card(case: Case) -> Shown:
    """Show the card on top; its answer waits until the reader has predicted it."""
    card = case.card
    outcome = _outcome(card)
    with st.container(key=ASK.key("sheet")):
        left, right = st.columns(2, gap="large")
        with left, st.container(key=ASK.key("claim")):
            st.markdown(_said(card.claim, outcome))
            st.code(card.code, language="python", wrap_lines=True)
        with right:
            is_answered = _ask(card, outcome)
            if is_answered:
                _show_what_settles_it(card)
    return Shown(
        headline=_headline(card, outcome), code=program_of(card, outcome if is_answered else None)
    )


def _outcome(card: Card) -> Outcome:
    """Return what a card's code gives; run once a server, in its pool."""
    if card.key not in kept():
        with st.spinner(_("Running the code of this card …")):
            kept()[card.key] = jobs().finish(f"card {card.key}", lambda: play(card))
    return kept()[card.key]


def _headline(card: Card, outcome: Outcome) -> str:
    words = _("{title}: claimed {claimed}, computed **{computed}**")
    if card.holds:
        words = _("{title}: computed **{computed}**, as claimed")
    return words.format(
        title=_(card.title), claimed=shown_value(outcome.wrong), computed=shown_value(outcome.right)
    )


def shown_value(answer: Answer) -> str:
    """Return a number as it is, and anything else as code."""
    return answer.text if answer.amount is not None else f"`{answer.text}`"


def judged(answer: Answer, *, is_true: bool) -> str:
    """Return a value as one who calls the claim true, or false, puts it."""
    words = _("True: {value}") if is_true else _("False: {value}")
    return words.format(value=shown_value(answer))


def _said(text: str, outcome: Outcome) -> str:
    return _(text).format(wrong=shown_value(outcome.wrong), right=shown_value(outcome.right))


def _ask(card: Card, outcome: Outcome) -> bool:
    """Ask for the prediction; return whether there is one, and then show both values."""
    picture = st.container()
    answered = ASK.key("open" if predicted(card) is None else "answered")
    with st.container(key=answered):
        is_answered = predict_then_reveal(
            prediction_key(card),
            _("**True or false?** {question}").format(question=_(card.question)),
            _choices(card, outcome),
            _said(card.why, outcome),
            reveal=_("Run it"),
        )
    if is_answered:
        with picture:
            _show_values(card, outcome)
    return is_answered


def _choices(card: Card, outcome: Outcome) -> list[Choice]:
    believed = _("That is the claim. Running it says otherwise.")
    if card.holds:
        believed = _("The claim is true: running it gives what it says.")
    choices = {
        "wrong": Choice(judged(outcome.wrong, is_true=not card.holds), believed),
        "right": Choice(judged(outcome.right, is_true=card.holds)),
        "other": Choice(judged(outcome.other, is_true=False), _(card.why_other)),
    }
    return [choices[name] for name in choices_of(card)]


def _show_values(card: Card, outcome: Outcome) -> None:
    """Show claimed and computed value: as bars, or large beside each other."""
    drawn = verdict_picture(outcome.wrong, outcome.right, look(), holds=card.holds)
    if drawn is not None:
        show_chart(drawn, key=ASK.key("verdict"), file_name="claimed-and-computed")
        return
    with st.container(key=ASK.key("values"), horizontal=True):
        values = (outcome.wrong, outcome.right)
        for label, answer in zip(labels(holds=card.holds), values, strict=True):
            st.markdown(f"{label}  \n{shown_value(answer)}")


def _show_what_settles_it(card: Card) -> None:
    """Show torch's own words, the other code, and the page that explains it."""
    outcome = kept()[card.key]
    message = outcome.right.message or outcome.wrong.message
    page = _(page_row(card.page).title)
    show_link(card.page, _("Explained on {page} →").format(page=page), card.query)
    if not presenting():
        if message:
            words = textwrap.shorten(message, _LONGEST, placeholder=" …")
            st.code(words, language=None, wrap_lines=True)
        label = _("Corrected version") if card.shows == "wrong" else _("What would be true")
        if card.holds:
            label = _("What many expect")
        with st.expander(label, key=ASK.key("fix"), icon=":material/build:"):
            st.code(card.fix, language="python", wrap_lines=True)


def labels(*, holds: bool) -> tuple[str, str]:
    """Return what the two values of a card are called; of a true claim, the first is no claim."""
    return (_("often expected") if holds else _("claimed")), _("computed")


def verdict_picture(
    claimed: Answer, computed: Answer, look: Look, *, holds: bool = False
) -> Picture | None:
    """Return a bar for each of two numbers, or None if they are not two lengths to compare.

    Of a claim that holds, `claimed` is what many expect instead.
    """
    if claimed.amount is None or computed.amount is None:
        return None
    lengths = [abs(claimed.amount), abs(computed.amount)]
    if not max(lengths):
        return None
    names, texts = list(labels(holds=holds)), [claimed.text, computed.text]
    alt = _("Two bars: claimed {claimed}, computed {computed}.")
    if holds:
        alt = _("Two bars: often expected {claimed}, claimed and computed {computed}.")
    drawing, layout = Drawing(), look.layout()
    drawing.bar(
        orientation="h", y=names, x=lengths, text=[f" <b>{each}</b>" for each in texts],
        textposition="outside", cliponaxis=False, hovertemplate="%{y}: %{text}<extra></extra>",
        marker={"color": [look.color("muted"), look.color("accent")],
                "pattern": {"shape": ["/", ""]}},
    )  # fmt: skip
    still: dict[str, Any] = {"fixedrange": True, "zeroline": False, "showgrid": False}
    figure = drawing.figure(
        layout
        | {
            "xaxis": layout["xaxis"]
            | still
            | {"showticklabels": False, "range": [0, max(lengths) * _ROOM]},
            "yaxis": layout["yaxis"] | still | {"autorange": "reversed"},
            "height": PRESENT_HEIGHT_PX if look.present else HEIGHT_PX,
            "margin": {"l": 0, "r": 0, "t": 0, "b": 0},
            "showlegend": False,
        }
    )
    return Picture(
        figure=figure,
        alt=alt.format(claimed=claimed.text, computed=computed.text),
        table={_("value"): names, _("number"): [claimed.amount, computed.amount]},
    )


TAB: Final = Tab(label=N_("Card"), show=one_card)
