"""Two to four small models train in turns: their curves, their bytes, their own seconds."""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from itertools import accumulate
from typing import Any, Final

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from core.budget.item import Item
from core.figures.budget.frames import lying_bars
from core.figures.budget.stacked_parts import legend_below, parts_table, stack, totals
from core.figures.picture import Drawing, Look, Picture
from core.figures.train.curves import Axes, curve_axes
from core.language import N_, _
from core.train.recipes.choices import TURN, Comparison
from core.train.recipes.results import Result, Results, recorded
from core.units import format_percent, format_seconds
from pages.shared.charts import show_chart
from pages.shared.settings import locked, look, presenting
from pages.shared.tabbed_page import Chart, Shown, Tab
from pages.train.compare_recipes.code import code_of
from pages.train.compare_recipes.inputs import ASK, Case
from pages.train.compare_recipes.running import Race, may_stop, races, start

BAR_PX: Final = 46
_LOOK_AGAIN: Final = 1.0  # seconds
_SAME: Final = 0.005  # a loss nearer than this is called the same
_STYLES: Final = (("axis_1", "solid"), ("axis_2", "dash"), ("axis_3", "dot"), ("axis_4", "dashdot"))
_CATEGORIES: Final = ("weights", "gradients", "optimizer", "activations")


def in_turns(case: Case, place: DeltaGenerator) -> Shown:
    """Show the newest results of these recipes; in `place` stands the button that trains them."""
    here = races()
    race = here.going.get(case.comparison)
    if race is not None:
        with place:
            _offer_stop(race)
        st.fragment(_watch, run_every=_LOOK_AGAIN)(case, race)
        return Shown(headline=_("In turns of {count} steps train: {names}").format(
            count=TURN, names=_(", ").join(case.comparison.names)))  # fmt: skip
    kept = here.kept.get(case.comparison)
    results = kept.results if kept else recorded().get(case.preset, ())
    with place:
        _offer_start(case, is_again=kept is not None)
    if not results:
        text, names = _("{names}: not trained on this machine yet"), case.comparison.names
        return Shown(headline=text.format(names=_(" against ").join(names)),
                     notes=[_plan_note(case.comparison)])  # fmt: skip
    is_part = any(result.num_steps < case.comparison.num_steps and not result.tensor
                  for result in results)  # fmt: skip
    notes = [] if kept else [_("Recorded on another machine; Train here shows this one.")]
    notes += [_("Stopped before the end.")] if is_part else []
    return Shown(
        headline=bought(case.comparison, results),
        charts=[Chart(picture=curves(case, results, look()), file_name="recipes")],
        beside=partial(_show_bytes, case.comparison, results), widths=(3, 2),
        notes=[*notes, *_rounded_away(case.comparison, results), _plan_note(case.comparison)],
        code=code_of(case.comparison),
    )  # fmt: skip


def _offer_start(case: Case, *, is_again: bool) -> None:
    label = _("Train again") if is_again else _("Train here")
    pushed = st.button(label, key=ASK.key("train"), type="primary", icon=":material/play_arrow:",
                       disabled=locked())  # fmt: skip
    if pushed:
        try:
            start(case.comparison)
        except ValueError as error:
            st.error(str(error), icon=":material/block:")
        else:
            st.rerun()
    if reason := races().pool.error(str(case.comparison)):
        st.caption(_("The last comparison failed: {reason}").format(reason=reason))


def _offer_stop(race: Race) -> None:
    if st.button(_("Stop"), key=ASK.key("stop"), icon=":material/stop:",
                 disabled=locked() or not may_stop(race)):  # fmt: skip
        race.is_stopped = True


def _watch(case: Case, race: Race) -> None:
    """Draw what the comparison has shown so far, every second; at its end the page anew."""
    if races().going.get(case.comparison) is not race:
        st.rerun()
    results = [result for result in race.results if result.num_steps]
    before = races().pool.place(str(case.comparison))
    if before:
        st.caption(_("{count} comparisons come first …").format(count=before))
    elif not results:
        st.caption(_("Starting: the bytes of each recipe are measured first, one model alone …"))
    else:
        show_chart(curves(case, race.results, look()), key=ASK.key("growing"), file_name="recipes")
        done = min(result.num_steps for result in results)
        st.caption(_("{done} of {steps} steps each").format(
            done=done, steps=case.comparison.num_steps))  # fmt: skip


def _plan_note(comparison: Comparison) -> str:
    configs = [comparison.config(option) for option in comparison.options]
    config, rates = configs[0], dict.fromkeys(f"{each.learning_rate:g}" for each in configs)
    return _(
        "Each trains {steps} steps on the CPU: {layers} layers of width {width}, the same seed and "
        "text in the same order, in turns of {turn} steps. Learning rate: {rates}. The bold line "
        "is the validation loss, over the same {places} sequences for all."
    ).format(
        steps=comparison.num_steps, layers=config.num_layers, width=config.hidden_dim, turn=TURN,
        rates=" / ".join(rates), places=config.eval_batches * config.batch_size,
    )  # fmt: skip


def bought(comparison: Comparison, results: Results) -> str:
    """Return what was bought with what, in one sentence."""
    names, results = comparison.names, _even(results)
    if len(results) > 2 or any(result.tensor for result in results):
        said = [_reached(name, result) for name, result in zip(names, results, strict=True)]
        return _("Validation loss: {parts}").format(parts=_("; ").join(said))
    first, last = results
    loss, peak = last.last - first.last, last.peak - first.peak
    loss_words = _("loss {amount} higher") if loss > 0 else _("loss {amount} lower")
    peak_words = _("{amount} more at the peak") if peak > 0 else _("{amount} less at the peak")
    ratio = f"{last.total_seconds / first.total_seconds:.2f}"
    parts = [
        _("the same loss") if abs(loss) < _SAME else loss_words.format(amount=f"{abs(loss):.3f}"),
        peak_words.format(amount=look().format_bytes(abs(peak))) if peak else _("the same peak"),
        _("{ratio} × the time").format(ratio=ratio),
    ]
    text = _("“{name}” in place of “{other}”: {differences}")
    return text.format(name=names[1], other=names[0], differences=_(", ").join(parts))


def _even(results: Results) -> Results:
    """Return the results up to the last turn that every recipe had: a stop comes between two."""
    if any(result.tensor for result in results):
        return results
    turns = min(len(result.validation) for result in results)
    steps = min(result.num_steps for result in results)
    return [
        replace(result, validation=result.validation[:turns], losses=result.losses[:steps],
                seconds=result.seconds[:turns], lost=result.lost[:turns])
        for result in results
    ]  # fmt: skip


def _reached(name: str, result: Result) -> str:
    if not result.tensor:
        return f"{name} {result.last:.3f}"
    text = _("“{name}” ends at step {step}, {tensor} is not finite")
    return text.format(name=name, step=result.num_steps + 1, tensor=result.tensor)


def _rounded_away(comparison: Comparison, results: Results) -> list[str]:
    """Say of each format how many updates its weights round away."""
    if comparison.axis != "precision":
        return []
    parts = [
        _("“{name}” {share}").format(name=name, share=format_percent(result.lost[-1]))
        for name, result in zip(comparison.names, results, strict=True)
        if result.lost and result.lost[-1] is not None
    ]
    text = _("Update in ulps, at the last step: of the updates that the optimizer asks for, these "
             "are below half an ulp of their weight, and rounding takes them back: "
             "{parts}.")  # fmt: skip
    return [text.format(parts=_(", ").join(parts))] if parts else []


def curves(case: Case, results: Results, look: Look) -> Picture:
    """Return the training loss of each step, pale, and the validation loss of each turn."""
    drawing, names = Drawing(), case.comparison.names
    for name, result, (color, dash) in zip(names, results, _STYLES, strict=False):
        xs, turns = _places(result, case.over)
        drawing.scatter(
            x=xs, y=result.losses, mode="lines", opacity=0.35, showlegend=False, hoverinfo="skip",
            line={"color": look.color(color), "width": 1},
        )  # fmt: skip
        drawing.scatter(
            x=turns[: len(result.validation)], y=result.validation, mode="lines+markers", name=name,
            line={"color": look.color(color), "width": 3, "dash": dash}, marker={"size": 6},
            hovertemplate="%{x:,.3g}: %{y:.3f}<extra>" + name + "</extra>",
        )  # fmt: skip
        if result.tensor and xs:
            drawing.note(x=xs[-1], y=result.losses[-1], text=_("not finite"), showarrow=True,
                         font={"color": look.color(color)})  # fmt: skip
    axis = _("step") if case.over == "step" else _("seconds of the recipe's own turns")
    fields = curve_axes(look, Axes(x=axis, y=_("loss in nats per token")))
    return Picture(figure=drawing.figure(look.layout() | fields), alt=_curves_alt(names, results),
                   table=_table(names, results))  # fmt: skip


def _places(result: Result, over: str) -> tuple[list[float], list[float]]:
    """Return where each step lies, and where each turn ends."""
    counts = [min(TURN, result.num_steps - begin) for begin in range(0, result.num_steps, TURN)]
    if over == "step":
        return [*range(1, result.num_steps + 1)], list(accumulate(counts))
    ends = list(accumulate(result.seconds))
    steps = [
        end - seconds * (count - step) / count
        for end, seconds, count in zip(ends, result.seconds, counts, strict=False)
        for step in range(1, count + 1)
    ]
    return steps, ends


def _curves_alt(names: Sequence[str], results: Results) -> str:
    parts = [
        _("{name}: {loss} after {steps} steps and {seconds}").format(
            name=name, steps=result.num_steps, seconds=format_seconds(result.total_seconds),
            loss=f"{result.validation[-1]:.3f}" if result.validation else "?")
        for name, result in zip(names, results, strict=True)
    ]  # fmt: skip
    text = _("Validation loss of recipes that train in turns: {parts}.")
    return text.format(parts=_("; ").join(parts))


def _table(names: Sequence[str], results: Results) -> dict[str, list[Any]]:
    rows = [
        (name, TURN * (turn + 1), value, result.seconds[turn], result.lost[turn])
        for name, result in zip(names, results, strict=True)
        for turn, value in enumerate(result.validation)
    ]
    heads = (_("recipe"), _("step"), _("validation loss"), _("seconds of the turn"),
             _("updates below half an ulp"))  # fmt: skip
    return {head: [row[place] for row in rows] for place, head in enumerate(heads)}


def _show_bytes(comparison: Comparison, results: Results) -> None:
    picture = bytes_picture(comparison.names, results, look())
    show_chart(picture, key=ASK.key("bytes"), file_name="recipe-bytes")
    if not presenting():
        st.caption(_("Bytes of the second step, measured with no other model alive; seconds are of "
                     "a recipe's own turns."))  # fmt: skip


def bytes_picture(names: Sequence[str], results: Results, look: Look) -> Picture:
    """Return one bar a recipe: what its step holds by category, its peak and its seconds."""
    drawing, size = Drawing(), look.layout()["font"]["size"]
    held = [_measured(result) for result in results]
    bars = [(f"<b>{place}</b>", parts) for place, parts in enumerate(held, 1)]
    stack(drawing, bars, look, flat=True)
    peaks = [look.format_bytes(result.peak) for result in results]
    for (row, _parts), name, peak, result in zip(bars, names, peaks, results, strict=True):
        seconds = format_seconds(result.total_seconds)
        told = _("peak {size} · {seconds}").format(size=peak, seconds=seconds)
        drawing.note(x=0, y=row, xanchor="left", yshift=27, text=f"{name}: <b>{told}</b>")
    figure = lying_bars(
        drawing, look, room=max(totals(bars)), bargap=0.6, legend=legend_below(look),
        height=round(len(names) * (BAR_PX + size) + size * 6), top=round(size * 1.5),
    )  # fmt: skip
    amount = _("{name}: {amount}")
    alt = _("The most bytes that a step of each recipe holds: {parts}.")
    said = [amount.format(name=name, amount=peak) for name, peak in zip(names, peaks, strict=True)]
    rows = parts_table(list(zip(names, held, strict=True)), look, _("recipe"))
    return Picture(figure=figure, alt=alt.format(parts=_("; ").join(said)),
                   table={**rows, _("peak"): peaks})  # fmt: skip


def _measured(result: Result) -> list[Item]:
    sizes = ((name, result.held(name)) for name in _CATEGORIES)
    return [Item(name=name, amount=size, low=size, high=size, unit="bytes", source="",
                 kind="measured") for name, size in sizes]  # fmt: skip


TAB: Final = Tab(label=N_("In turns"), show=in_turns, choose=st.container)
