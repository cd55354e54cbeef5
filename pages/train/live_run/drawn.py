"""How the run is drawn: what its axis counts, how smooth its line is, which runs are beside it."""

from typing import TYPE_CHECKING, Final

import streamlit as st

from core.language import N_, _
from core.train.run.directory import runs_directory
from core.train.run.shelf import run_names, summarize
from pages.components.live_chart.live_chart import AXES, Drawn
from pages.shared.settings import presenting
from pages.train.live_run.compare import MAX_BESIDE, curves_of, names_beside
from pages.train.live_run.settings import ASK
from pages.train.live_run.shown_run import ShownRun, run_label

if TYPE_CHECKING:
    from streamlit.delta_generator import DeltaGenerator

_AXES: Final = dict(zip(AXES, (N_("step"), N_("time"), N_("tokens"), N_("FLOPs")), strict=True))
NUM_OFFERED: Final = 12
_SMOOTHINGS: Final = (0.0, 0.25, 0.5, 1.0, 2.0, 4.0, 8.0)


def choose_drawn(
    shown: ShownRun | None, inside: "DeltaGenerator", beneath: "DeltaGenerator"
) -> Drawn:
    """Show the inputs that change the picture alone, `inside` the settings and `beneath` them."""
    with inside if presenting() else beneath:
        axis = ASK.segmented("axis", _("Horizontal axis"), _AXES, default=AXES[0])
    with inside:
        smoothing = ASK.select_slider(
            "smoothing",
            _("Smoothing"),
            _SMOOTHINGS,
            default=1.0,
            labels=lambda factor: f"× {factor:g}" if factor else _("off"),
            help=_(
                "The thick line is an average: a step counts half after a twentieth of the steps "
                "so far, at most a hundredth of all. This is a factor on that half-life."
            ),
        )
        log_loss = ASK.toggle("log", _("Logarithmic loss"), default=False)
        prediction = ASK.toggle("prediction", _("Show what was predicted"), default=True)
        beside = _beside(shown)
    return Drawn(
        axis=axis, log_loss=log_loss, smoothing=smoothing, show_prediction=prediction, beside=beside
    )


def _beside(shown: ShownRun | None) -> tuple[tuple[str, str], ...]:
    """Show which other runs there are; return those chosen, and how each is called."""
    folder = runs_directory()
    key = ASK.key("beside")  # a button may have written it in this very run of the script
    asked = str(st.session_state.get(key) or st.query_params.get(key, "")).split(",")
    here = [name for name in run_names(folder) if not shown or name != shown.run.name]
    offered = [name for number, name in enumerate(here) if number < NUM_OFFERED or name in asked]
    runs = {name: summarize(folder / name) for name in offered}
    chosen = ASK.several(
        "beside",
        _("Runs in the same picture"),
        [name for name, run in runs.items() if not run.error],
        default=(),
        most=MAX_BESIDE,
        labels=lambda name: run_label(runs[name]),
    )
    if not shown or not chosen:
        return ()
    curves = {each.run: each for each in curves_of([shown.run.name, *chosen])}
    if (first := curves.pop(shown.run.name, None)) is None:
        return ()
    others = list(curves.values())
    names = names_beside(first, others)
    return tuple((each.run, name) for each, name in zip(others, names, strict=True))
