"""The loss of a run that bears a mistake over that of its healthy twin, and what was found."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Final

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from core.figures.picture import Drawing, Look, Picture
from core.language import N_, _
from core.train.mistakes.findings import Finding, end_of, find, outcome_of
from core.train.mistakes.pair import Pair, recorded_pairs, run_pair
from core.train.mistakes.rows import Rows
from core.train.mistakes.switches import OUTCOMES, Switch
from pages.shared.job import run_job
from pages.shared.page_links import show_link
from pages.shared.settings import locked, look
from pages.shared.tabbed_page import Chart, Shown, Tab
from pages.train.break_it.inputs import ASK, Case, asked_before

HEIGHT_PX: Final = 400
MOST_KEPT: Final = 100
SIDES: Final[Mapping[str, str]] = {"healthy": N_("healthy"), "broken": N_("with the mistake")}
# Cards of Spot the bug on mistakes that need no run to be seen.
CARDS: Final[Mapping[str, str]] = {
    "checkpoint-warns": N_("A checkpoint that warns"),
    "leaf-in-no-grad": N_("A leaf made in no_grad"),
    "detach-shares-memory": N_("Writing in place"),
    "whole-model-saved": N_("Saving the whole model"),
    "gradients-under-autocast": N_("Gradients under autocast"),
    "where-lets-nan-through": N_("where lets NaN through"),
}
_CODE: Final = """
from core.train.mistakes.findings import find
from core.train.mistakes.switches import SWITCHES, config_of
from core.train.mistakes.trial import run_trial
from core.train.text.dataset import build_dataset

config = config_of(SWITCHES["{key}"], "{side}", seed={seed})
rows = run_trial(config, build_dataset(config))
print(f"{{len(rows.losses)}} steps, loss {{rows.losses[0]:.2f}} to {{rows.losses[-1]:.2f}}")
for finding in find(rows):
    print(finding.headline)
    print(finding.evidence)
"""


@dataclass(slots=True)
class Kept:
    """What every session of this server sees: the pairs run so far, and how far the last one is."""

    pairs: dict[tuple[str, int], Pair] = field(default_factory=dict)
    side: str = "healthy"
    done: float = 0.0


@st.cache_resource(show_spinner=False)
def kept() -> Kept:
    return Kept()


def curves_tab(case: Case) -> Shown:
    """Draw the healthy run; once the reader has predicted, the broken one and what was found."""
    own = kept().pairs.get((case.switch.key, case.seed))
    if case.committed and own is None and not locked():
        _offer_run(case, at_once=not asked_before(case.switch))
    recorded = recorded_pairs()
    pair = own or (recorded.pairs[case.switch.key] if case.seed == recorded.seed else None)
    if pair is None:
        return _not_run(case)
    found = _finding(case.switch, pair["broken"])
    side = "broken" if case.is_open else "healthy"
    notes = [*([_from_elsewhere()] if own is None else [])]
    return Shown(
        headline=_headline(case, pair, found),
        charts=[Chart(picture=loss_picture(pair, found, look(), is_open=case.is_open),
                      file_name="break-it")],
        notes=[*_notes(case.switch, pair, found), *notes] if case.is_open else notes,
        below=partial(_show_below, case),
        code=_CODE.format(key=case.switch.key, side=side, seed=case.seed),
    )  # fmt: skip


def _not_run(case: Case) -> Shown:
    return Shown(
        headline=_("Not run yet with seed {seed}: predict, and it runs").format(seed=case.seed),
        below=partial(_show_below, case),
        code=_CODE.format(key=case.switch.key, side="healthy", seed=case.seed),
    )


def _offer_run(case: Case, *, at_once: bool) -> None:
    """Run the pair at once for a prediction just made; later at the push of a button."""
    pushed = at_once or st.button(
        _("Run it here"), key=ASK.key("run"), icon=":material/play_arrow:"
    )
    if pushed and run_job(
        f"break {case.switch.key} {case.seed}",
        partial(_run, case.switch.key, case.seed),
        doing=_("Training both, in a process of their own …"),
        failed=_("It was not run"),
        tell=_tell,
    ):
        st.rerun()


def _run(key: str, seed: int) -> None:
    def tell(side: str, done: float) -> None:
        kept().side, kept().done = side, done

    pair = run_pair(key, seed, tell)
    pairs = kept().pairs
    while len(pairs) >= MOST_KEPT:
        del pairs[next(iter(pairs))]
    pairs[key, seed] = pair


def _tell(place: DeltaGenerator) -> None:
    place.progress(kept().done, _(SIDES[kept().side]))


def _finding(switch: Switch, rows: Rows) -> Finding | None:
    found = find(rows)
    return next((each for each in found if each.name == switch.key), next(iter(found), None))


def _headline(case: Case, pair: Pair, found: Finding | None) -> str:
    if not case.is_open:
        losses = pair["healthy"].losses
        return _("Healthy, the loss goes from {first} to {end}; and with the mistake?").format(
            first=f"{losses[0]:.2f}", end=f"{end_of(losses):.2f}"
        )
    return found.headline if found else _("Nothing was found in this run; try another seed")


def _from_elsewhere() -> str:
    recorded = recorded_pairs()
    return _("Recorded on {date} on a machine with {cores} CPU cores, seed {seed}.").format(
        date=recorded.date, cores=recorded.num_cores, seed=recorded.seed
    )


def _notes(switch: Switch, pair: Pair, found: Finding | None) -> list[str]:
    notes = [found.evidence] if found else []
    notes.append(_(switch.why))
    outcome = outcome_of(pair["healthy"], pair["broken"])
    if outcome != switch.outcome:
        notes.append(_("With this seed it went otherwise than usual. {outcome}").format(
            outcome=_(OUTCOMES[outcome])))  # fmt: skip
    return notes


def _show_below(case: Case) -> None:
    """Show the line that mends it, once it may be shown, and the cards that need no run."""
    if case.is_open:
        wrong, right = st.columns(2)
        for place, label, code in (
            (wrong, _("Wrong"), case.switch.wrong),
            (right, _("Right"), case.switch.right),
        ):
            with place:
                st.caption(label)
                st.code(code.strip(), language="python", wrap_lines=True)
    st.caption(_("Mistakes that need no run to be seen, in Spot the bug:"))
    with st.container(horizontal=True, key=ASK.key("cards")):
        for key, label in CARDS.items():
            show_link("start/spot_the_bug", _(label), {"bug_card": key})


def loss_picture(pair: Pair, found: Finding | None, look: Look, *, is_open: bool) -> Picture:
    """Return both curves with their validation losses, and the step where it was found."""
    drawing, layout = Drawing(), look.layout()
    sides = ("healthy", "broken") if is_open else ("healthy",)
    for side in sides:
        _draw_side(drawing, side, pair, look)
    if is_open and found:
        _mark(drawing, found, pair["broken"], look)
    tops = [loss for side in sides for loss in pair[side].losses if math.isfinite(loss)]
    scale = {"type": "log"} if max(tops) > 20 * min(tops) or max(tops) > 10 else {}
    fields = {
        "height": HEIGHT_PX,
        "margin": {"l": 8, "r": 8, "t": layout["font"]["size"] * 3, "b": 8},
        "xaxis": layout["xaxis"] | {"title": {"text": _("step")}, "zeroline": False},
        "yaxis": layout["yaxis"] | scale | {"title": {"text": _("loss (nats per token)")}},
    }
    return Picture(
        figure=drawing.figure(layout | fields),
        alt=_sentence(pair, found, is_open=is_open),
        table=_table(pair, is_open=is_open),
    )


def _draw_side(drawing: Drawing, side: str, pair: Pair, look: Look) -> None:
    rows = pair["broken" if side == "broken" else "healthy"]
    color = look.color("guard" if side == "broken" else "reference")
    name, width = _(SIDES[side]), 3 if look.present else 2
    drawing.scatter(
        x=list(range(1, len(rows.losses) + 1)), y=list(rows.losses), mode="lines", name=name,
        line={"color": color, "width": width, "dash": "solid" if side == "broken" else "dot"},
        hovertemplate=_("step") + " %{x}: %{y:.3f}<extra>" + name + "</extra>",
    )  # fmt: skip
    told = _("{side}: validation").format(side=name)
    drawing.scatter(
        x=[step for step, _one, _other in rows.validations for _twice in range(2)],
        y=[loss for _step, *both in rows.validations for loss in both],
        mode="markers", name=told,
        marker={"color": color, "size": 9, "symbol": "diamond" if side == "broken" else "circle"},
        hovertemplate=_("step") + " %{x}: %{y:.4f}<extra>" + told + "</extra>",
    )  # fmt: skip


def _mark(drawing: Drawing, found: Finding, rows: Rows, look: Look) -> None:
    color = look.color("text")
    drawing.shape(type="line", x0=found.step, x1=found.step, y0=0, y1=1, yref="paper",
                  line={"color": color, "width": 1, "dash": "dash"})  # fmt: skip
    drawing.note(
        x=found.step, y=1, yref="paper", yanchor="bottom", font={"color": color},
        xanchor="left" if found.step < len(rows.losses) / 2 else "right",
        text=_("found at step {step}").format(step=found.step),
    )  # fmt: skip


def _sentence(pair: Pair, found: Finding | None, *, is_open: bool) -> str:
    one = _("{side}: {steps} steps, loss {first} to {end}")
    parts = [
        one.format(
            side=_(SIDES[side]), steps=len(rows.losses), first=f"{rows.losses[0]:.2f}",
            end=f"{end_of(rows.losses):.2f}" if math.isfinite(rows.losses[-1]) else _("no number"),
        )
        for side, rows in pair.items() if is_open or side == "healthy"
    ]  # fmt: skip
    said = _("Training loss by step. {parts}.").format(parts=_("; ").join(parts))
    if is_open and found:
        said += _(" ") + _("Found at step {step}: {headline}.").format(
            step=found.step, headline=found.headline
        )
    return said


def _table(pair: Pair, *, is_open: bool) -> dict[str, list[object]]:
    steps = len(pair["healthy"].losses)
    table: dict[str, list[object]] = {_("step"): list(range(1, steps + 1))}
    for side, rows in pair.items():
        if is_open or side == "healthy":
            losses = [loss if math.isfinite(loss) else None for loss in rows.losses]
            table[_(SIDES[side])] = [*losses, *[None] * (steps - len(losses))]
    return table


TAB: Final = Tab(label=N_("Curves"), show=curves_tab)
