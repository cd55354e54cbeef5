"""What a class guesses of a run's last loss, while less than half is done, and what came of it."""

import statistics
from collections.abc import Mapping
from math import isfinite, nan
from typing import Final

import streamlit as st

from core.figures.budget.frames import framed
from core.figures.picture import Drawing, Look, Picture
from core.language import _, ngettext
from core.train.run.reader import RunReader
from core.train.run.records import newest
from core.train.run.shelf import RunSummary
from core.train.run.state import FINAL_STATES, read_state
from pages.server.browser import browser
from pages.shared.charts import show_chart
from pages.shared.settings import look

MAX_RUNS: Final = 32
MAX_GUESSES: Final = 500  # of a run: a large class
LAST_STEPS: Final = 20  # whose mean is the loss at the end
HEIGHT_PX: Final = 180
_KEY: Final = "lr_guess"


@st.cache_resource
def _guesses_of_runs() -> dict[str, dict[str, float]]:
    """Return run -> browser -> its guess: kept while this server runs."""
    return {}


def guesses(run: str) -> Mapping[str, float]:
    """Return browser -> its guess of that run."""
    return _guesses_of_runs().get(run, {})


def guess(run: str, who: str, loss: float) -> None:
    """Take a browser's guess, its latest; beyond MAX_GUESSES none of another browser."""
    runs = _guesses_of_runs()
    own = runs.setdefault(run, {})
    while len(runs) > MAX_RUNS:
        del runs[next(iter(runs))]
    if who in own or len(own) < MAX_GUESSES:
        own[who] = loss


def last_loss(run: RunSummary) -> float | None:
    """Return the mean training loss of the last steps; None if there is none that is finite."""
    losses = newest(RunReader(run.directory).read_new().records)["loss"][-LAST_STEPS:]
    mean = float(losses.mean()) if len(losses) else nan
    return mean if isfinite(mean) else None


def ask_last_loss(run: RunSummary, first_loss: float) -> None:
    """Ask for the loss at the end while less than half is done; then show what all guessed."""
    found, who = guesses(run.name), browser()
    if run.state not in FINAL_STATES:
        if _is_young(run, run.step):
            _ask(run, first_loss, who)
        if found:
            told = ngettext("{count} guess so far.", "{count} guesses so far.", len(found))
            st.caption(told.format(count=f"{len(found):,}"))
        return
    if found and (loss := last_loss(run)) is not None:
        st.markdown(sentence(list(found.values()), found.get(who), loss))
        picture = guesses_picture(list(found.values()), found.get(who), loss, look())
        show_chart(picture, key="lr_guesses", file_name="guesses")


def _ask(run: RunSummary, first_loss: float, who: str) -> None:
    st.markdown(
        _("Which training loss will this run have in its last {count} steps?").format(
            count=LAST_STEPS
        )
    )
    with st.container(horizontal=True, vertical_alignment="bottom"):
        st.number_input(
            _("Loss, nats per token"), 0.0, 100.0, round(first_loss / 2, 2), 0.05, key=_KEY,
        )  # fmt: skip
        is_mine = who in guesses(run.name)
        st.button(
            _("Guess again") if is_mine else _("Guess"), key="lr_guess_it",
            on_click=_take, args=(run, who),
        )  # fmt: skip


def _take(run: RunSummary, who: str) -> None:
    """Take a guess unless the run has gone on to its second half since the page was drawn."""
    if _is_young(run, read_state(run.directory).step):
        guess(run.name, who, float(st.session_state[_KEY]))


def _is_young(run: RunSummary, step: int) -> bool:
    return 2 * step < run.num_steps


def sentence(found: list[float], mine: float | None, loss: float) -> str:
    """Return the loss, between what it was guessed, and how far off the reader was."""
    text = _("The loss at the end is **{loss:.2f}**; {count} guessed {low:.2f} to {high:.2f}")
    said = text.format(loss=loss, count=f"{len(found):,}", low=min(found), high=max(found))
    said += _(", half of them below {median:.2f}").format(median=statistics.median(found))
    if mine is not None:
        said += _("; yours, {mine:.2f}, is off by {off:.2f}").format(
            mine=mine, off=abs(mine - loss)
        )
    return said + _(".")


def guesses_picture(found: list[float], mine: float | None, loss: float, look: Look) -> Picture:
    """Return a mark for each guess on one axis, the reader's own larger, and a line at the loss."""
    drawing = Drawing()
    drawing.scatter(
        x=found, y=[_("guesses")] * len(found), mode="markers", showlegend=False,
        marker={"size": 14, "opacity": 0.6, "color": look.color("estimated"), "symbol": "diamond"},
        hovertemplate="%{x:.2f}<extra></extra>",
    )  # fmt: skip
    if mine is not None:
        drawing.scatter(
            x=[mine], y=[_("guesses")], mode="markers", showlegend=False,
            marker={"size": 22, "color": look.color("estimated"), "symbol": "diamond-open",
                    "line": {"width": 3}}, hovertemplate=_("yours") + ": %{x:.2f}<extra></extra>",
        )  # fmt: skip
    drawing.shape(
        type="line", x0=loss, x1=loss, y0=0, y1=1, yref="paper",
        line={"color": look.color("measured"), "width": 3},
    )  # fmt: skip
    drawing.note(x=loss, y=1, yref="paper", yanchor="bottom", text=f"{loss:.2f}")
    figure = framed(
        drawing, look, x={"title": {"text": _("Loss, nats per token")}}, y={"showgrid": False},
        height=HEIGHT_PX, margin={"l": 8, "r": 8, "t": 32, "b": 8},
    )  # fmt: skip
    table = {_("guess"): [f"{each:.2f}" for each in sorted(found)]}
    return Picture(figure=figure, alt=sentence(found, mine, loss).replace("**", ""), table=table)
