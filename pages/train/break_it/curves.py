"""The loss of a run with a mistake over that of its healthy twin, and what was found."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Final

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from core.budget.table import read_table
from core.bugs.deck import BY_KEY
from core.figures.picture import Look, Picture
from core.figures.train.curves import Axes, curves_picture
from core.language import N_, _
from core.train.mistakes.findings import Finding, end_of, find, outcome_of
from core.train.mistakes.pair import Pair, recorded_pairs, run_pair
from core.train.mistakes.switches import OUTCOMES, SideName
from pages.shared.job import run_job
from pages.shared.page_links import show_link
from pages.shared.settings import locked, look
from pages.shared.tabbed_page import Chart, Shown, Tab
from pages.train.break_it.inputs import ASK, Case, first_time

MOST_KEPT: Final = 100
# Side: what it is called, and its colour
SIDES: Final[Mapping[SideName, tuple[str, str]]] = {
    "healthy": (N_("healthy"), "reference"),
    "broken": (N_("with the mistake"), "guard"),
}
_TABLE: Final = read_table(__file__)
CARDS: Final[Sequence[str]] = _TABLE["cards"]


@dataclass(slots=True)
class Kept:
    """What every session of this server sees: the pairs run so far, and how far others are."""

    pairs: dict[tuple[str, int], Pair] = field(default_factory=dict)
    going: dict[tuple[str, int], tuple[SideName, float]] = field(default_factory=dict)


@st.cache_resource(show_spinner=False)
def kept() -> Kept:
    return Kept()


def curves_tab(case: Case) -> Shown:
    """Draw the healthy run; once the reader has predicted, the broken one and what was found."""
    own = kept().pairs.get((case.switch.key, case.seed))
    if case.is_open and own is None and not locked():
        _offer_run(case, at_once=case.committed and first_time(case))
    recorded = recorded_pairs()
    pair = own or (recorded.pairs[case.switch.key] if case.seed == recorded.seed else None)
    side = "broken" if case.is_open else "healthy"
    code = str(_TABLE["program"]).format(key=case.switch.key, side=side, seed=case.seed)
    shown = partial(Shown, below=partial(_show_below, case), code=code)
    if pair is None:
        unknown = _("Not run yet with seed {seed}: predict, and it runs")
        text = _("Not run yet with seed {seed}") if case.is_open else unknown
        return shown(headline=text.format(seed=case.seed))
    found = next((each for each in find(pair["broken"]) if each.name == case.switch.key), None)
    picture = loss_picture(pair, found if case.is_open else None, look(), is_open=case.is_open)
    return shown(
        headline=_headline(case, pair, found), notes=_notes(case, pair, is_own=own is not None),
        line=found.evidence if found and case.is_open else "",
        charts=[Chart(picture=picture, file_name="break-it")],
    )  # fmt: skip


def _offer_run(case: Case, *, at_once: bool) -> None:
    """Run the pair at once for a prediction just made; later at the push of a button."""
    icon = ":material/play_arrow:"
    pushed = at_once or st.button(_("Run it here"), key=ASK.key("run"), icon=icon)
    if pushed and run_job(
        f"break {case.switch.key} {case.seed}", partial(_run, case.switch.key, case.seed),
        doing=_("Training both, in a separate process …"), failed=_("It was not run"),
        tell=partial(_tell, case),
    ):  # fmt: skip
        st.rerun()


def _run(key: str, seed: int) -> None:
    def tell(side: SideName, done: float) -> None:
        kept().going[key, seed] = side, done

    try:
        pair, pairs = run_pair(key, seed, tell), kept().pairs
    finally:
        kept().going.pop((key, seed), None)
    while len(pairs) >= MOST_KEPT:
        del pairs[next(iter(pairs))]
    pairs[key, seed] = pair


def _tell(case: Case, place: DeltaGenerator) -> None:
    side, done = kept().going.get((case.switch.key, case.seed), ("healthy", 0.0))
    place.progress(done, _(SIDES[side][0]))


def _headline(case: Case, pair: Pair, found: Finding | None) -> str:
    if case.is_open:
        return found.headline if found else _("Nothing was found in this run; try another seed")
    losses = pair["healthy"].losses
    text = _("Healthy, the loss goes from {first} to {end}; and with the mistake?")
    return text.format(first=f"{losses[0]:.2f}", end=f"{end_of(losses):.2f}")


def _notes(case: Case, pair: Pair, *, is_own: bool) -> list[str]:
    notes = [_(case.switch.why)] if case.is_open else []
    outcome = outcome_of(pair["healthy"], pair["broken"])
    if case.is_open and outcome != case.switch.outcome:
        text = _("With this seed the curve does otherwise than usual: {outcome}.")
        notes.append(text.format(outcome=_(OUTCOMES[outcome])))
    if not is_own:
        recorded = recorded_pairs()
        text = _("Recorded on {date} on a machine with {cores} CPU cores, seed {seed}.")
        notes.append(text.format(date=recorded.date, cores=recorded.num_cores, seed=recorded.seed))
    return notes


def _show_below(case: Case) -> None:
    """Show the line that mends it, once it may be shown, and the cards that need no run."""
    if case.is_open:
        codes = {_("Wrong"): case.switch.wrong, _("Right"): case.switch.right}
        for place, (label, code) in zip(st.columns(2), codes.items(), strict=True):
            place.caption(label)
            place.code(code.strip(), language="python", wrap_lines=True)
    st.caption(_("Mistakes that need no run to be seen, in Spot the bug:"))
    with st.container(horizontal=True, key=ASK.key("cards")):
        for key in CARDS:
            show_link("start/spot_the_bug", _(BY_KEY[key].title), {"bug_card": key})


def loss_picture(pair: Pair, found: Finding | None, look: Look, *, is_open: bool) -> Picture:
    """Return the curves with their validation losses, and say at which step it was found."""
    rows = {_(SIDES[side][0]): pair[side] for side in SIDES if is_open or side == "healthy"}
    highest = max(loss for run in rows.values() for loss in run.losses if math.isfinite(loss))
    found_at = _("found at step {step}")
    marked = (found.step, found_at.format(step=found.step)) if found else None
    picture = curves_picture(
        {name: run.losses for name, run in rows.items()},
        Axes(x=_("step"), y=_("loss (nats per token)"), log=highest > 10, first=1), look,
        points={name: [(step, loss) for step, *both in run.validations for loss in both]
                for name, run in rows.items()},
        colors=[color for _name, color in SIDES.values()], marked=marked,
    )  # fmt: skip
    if not found:
        return picture
    text = _("{said} Found at step {step}: {headline}.")
    said = text.format(said=picture.alt, step=found.step, headline=found.headline)
    return replace(picture, alt=said)


TAB: Final = Tab(label=N_("Curves"), show=curves_tab)
