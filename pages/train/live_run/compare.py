"""Runs in one picture: what each is called beside the shown one, and in what they differ."""

from collections.abc import Sequence
from typing import Any, Final

import streamlit as st

from core.language import N_, _
from core.train.run.directory import open_run_directory, runs_directory, written_time
from core.train.run.disk import sentence_of
from core.train.run.evaluations import Curve, are_comparable, differing_settings, validation_curve
from core.train.run.state import FINAL_STATES, read_state
from core.train.start.presets import preset_title
from pages.components.live_chart.charts import BESIDE
from pages.shared.charts import table_markdown
from pages.shared.clock import browser_zone
from pages.train.live_run.settings import COURSE, LEARNING, SHAPES

MAX_BESIDE: Final = len(BESIDE)
NOT_COMPARABLE: Final = N_(
    "These runs learn from different texts or different tokens: a nat per token is not the same "
    "for them, and the lower loss is not the better model."
)
# What follows from another setting or from the machine, and says little by itself.
_FOLLOWS: Final = ("min_learning_rate", "num_steps", "max_seconds", "warmup_steps")
MAYBE_COMPARABLE: Final = N_(
    "A loop of its own does not tell which text and which tokens it learns from: only where they "
    "are the same is the lower loss the better model."
)
_MOST_NAMED: Final = 2
_LABELS: Final = {
    "corpus": N_("Training text"),
    "tokenizer": N_("Tokenizer"),
    "precision": N_("Precision"),
    "seed": N_("Seed"),
    "optimizer": N_("Optimizer"),
    "schedule": N_("Schedule"),
    "family": N_("Model family"),
    "dropout": N_("Dropout"),
    "checkpointing": N_("Activation checkpointing"),
    "min_learning_rate": N_("Lowest learning rate"),
    "max_seconds": N_("Time limit in seconds"),
    "lora_rank": N_("LoRA rank"),
}
_LOOK_AGAIN: Final = 3.0  # seconds


def curves_of(names: Sequence[str]) -> list[Curve]:
    """Return what is known of the runs; one that cannot be read is left out with a sentence."""
    curves = []
    for name in names:
        try:
            curves.append(validation_curve(open_run_directory(runs_directory(), name)))
        except (ValueError, OSError) as error:
            st.caption(sentence_of(error))
    return curves


def names_beside(shown: Curve, others: Sequence[Curve]) -> list[str]:
    """Return what each of the others is called: by what it does differently from the shown run.

    Runs that differ in nothing, or in the same, are told apart by the time they were made.
    """
    names = [_difference(shown, each) or preset_title(each.title) for each in others]
    times = [written_time(each.run, browser_zone()) for each in others]
    for marks in (times, [each.run[-4:] for each in others]):
        names = [
            name
            if names.count(name) == 1 and name != preset_title(shown.title)
            else f"{name} {mark}"
            for name, mark in zip(names, marks, strict=True)
        ]
    return names


def _difference(shown: Curve, other: Curve) -> str:
    """Return such as "Learning rate 0.005 → 0.05"; of many settings the first two."""
    rows = differing_settings([shown, other])
    names = [name for name in rows if name not in _FOLLOWS] or list(rows)
    told = [(_label(name), *map(_value, rows[name])) for name in names[:_MOST_NAMED]]
    more = " …" if len(names) > _MOST_NAMED else ""
    return _(", ").join(f"{label} {one} → {two}" for label, one, two in told) + more


def _label(name: str) -> str:
    labels = _LABELS | {row.field: row.label for row in (*SHAPES, *LEARNING, *COURSE)}
    return _(labels[name]) if name in labels else name


def _value(value: object) -> str:
    if isinstance(value, bool):
        return _("on") if value else _("off")
    if isinstance(value, int):
        return f"{value:,}"
    return f"{value:g}" if isinstance(value, float) else str(value)


def show_comparison(shown: str, beside: Sequence[tuple[str, str]]) -> None:
    """Show in what the runs differ, what was done by hand, and their lowest losses."""
    if beside:
        again = None if _have_ended([shown, *(run for run, _name in beside)]) else _LOOK_AGAIN
        st.fragment(_comparison, run_every=again)(shown, tuple(beside))


def _have_ended(runs: Sequence[str]) -> bool:
    folder = runs_directory()
    return all(read_state(folder / name, 0.0).state in FINAL_STATES for name in runs)


def _comparison(shown: str, beside: Sequence[tuple[str, str]]) -> None:
    curves = curves_of([shown, *(run for run, _name in beside)])
    titles = dict(beside) | {shown: _("this run")}
    st.markdown(table_markdown(comparison_table(curves, [titles[each.run] for each in curves])))
    if not are_comparable(curves):
        unknown = () in {each.text for each in curves}
        st.caption(_(MAYBE_COMPARABLE if unknown else NOT_COMPARABLE))


def comparison_table(curves: Sequence[Curve], titles: Sequence[str]) -> dict[str, list[Any]]:
    """Return a column for each run: settings that differ, changes by hand, lowest loss."""
    rows = differing_settings(curves)
    done = [
        _(", ").join(
            _("× {factor} at step {step}").format(factor=f"{factor:g}", step=f"{step:,}")
            for step, factor in each.rate_changes
        )
        or "–"
        for each in curves
    ]
    best = [f"{each.best[1]:.3f}" if each.best else "–" for each in curves]
    table = {"": [*map(_label, rows), _("Learning rate by hand"), _("Lowest validation loss")]}
    for number, title in enumerate(titles):
        values = [_value(each[number]) for each in rows.values()]
        table[title] = [*values, done[number], best[number]]
    return table
