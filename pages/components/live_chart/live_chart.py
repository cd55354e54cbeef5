"""The live run in the browser: charts fed by a stream, and the controls that all readers share."""

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from functools import lru_cache
from typing import Any, Final, Literal

import streamlit as st

from core.figures.picture import Look
from core.figures.theme import COLORS, MODES
from core.language import current_language
from core.train.run.disk import sentence_of
from pages.components.live_chart.assets import plotly_url
from pages.components.live_chart.charts import empty_charts
from pages.components.live_chart.feed import names_in_js
from pages.components.live_chart.words import live_words
from pages.components.part import browser_part
from pages.shared.settings import presenting, unit_system

Controls = Literal["enabled", "disabled", "hidden"]
OnCommand = Callable[[str, str, float | None], int]

# The positions of the two dials; None is full speed.
MULTIPLIERS: Final = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10)
GOVERNORS: Final = (0.5, 1, 2, 5, 10, 20, 50, 100, None)
AXES: Final = ("step", "seconds", "tokens", "flops")
MAX_NONCE: Final = 100  # characters; a UUID has 36

_SCRIPTS: Final = (
    *("written.js", "surprise.js", "progress.js", "axis.js", "history.js", "facts.js"),
    *("pace.js", "bars.js", "beside.js", "charts.js", "controls.js", "panels.js", "poster.js"),
)
_mount = browser_part(
    __file__,
    *_SCRIPTS,
    head=names_in_js(),
    isolate_styles=False,  # Plotly writes its own styles into the document's head
)


@dataclass(frozen=True, kw_only=True, slots=True)
class Told:
    """What the page tells of a run, before and beside what the stream brings.

    `mark` says which run it is, with " ended" behind it if it has. When the stream brings another,
    such as one that somebody has just started, or its end, the browser asks for a rerun.
    """

    mark: str = ""
    title: str = ""
    headline: str = ""  # above the chart as long as there is no step
    parameters: str = ""
    waits: bool = False
    recording: str = ""  # the preset whose recorded run is shown as long as there is no run
    recorded: str = ""


@dataclass(frozen=True, kw_only=True, slots=True)
class Drawn:
    """How the run is drawn.

    Attributes:
        axis: What the horizontal axis counts, of `AXES`.
        log_loss: Whether the loss has a logarithmic axis.
        smoothing: Factor on the half-life of the smoothed line; 0 for none.
        show_prediction: Whether what was predicted stands beside it.
        beside: Other runs of the same picture, and how they are called.
    """

    axis: str = "step"
    log_loss: bool = False
    smoothing: float = 1.0
    show_prediction: bool = True
    beside: tuple[tuple[str, str], ...] = ()


@lru_cache(maxsize=8)
def _empty_charts(_language: str, *, present: bool, show_prediction: bool) -> dict[str, Any]:
    """Return the charts in light and in dark; building them took half the time of a rerun."""
    return {
        mode: empty_charts(Look(mode=mode, present=present), show_prediction=show_prediction)
        for mode in MODES
    }


def live_chart(  # noqa: PLR0913  one argument for each thing that the browser is told
    *,
    key: str,
    run: str,
    told: Told,
    speed: float,
    drawn: Drawn,
    controls: Controls,
    on_command: OnCommand,
) -> None:
    """Mount the live run, "" for the newest; it follows the stream on its own from then on.

    The browser keeps charts, zoom and connection under `key`. At a speed above 0 it replays a run
    that has ended. `on_command` is called with (run, op, value) and returns the number of the
    command that it sent, 0 if instead it started a new process for a run that had ended early; its
    ValueError or OSError is shown as a sentence.
    """
    receipt_key, language, present = f"{key}_receipt", current_language(), presenting()

    def receive() -> None:
        st.session_state[receipt_key] = _receipt(st.session_state[key].command, on_command)

    _mount(
        key=key,
        data={
            "key": key,
            "run": run,
            "told": asdict(told),
            "speed": speed,
            # For each theme: the browser changes its own without asking the script.
            "figures": _empty_charts(
                language, present=present, show_prediction=drawn.show_prediction
            ),
            "axis": drawn.axis,
            "log_loss": drawn.log_loss,
            "smoothing": drawn.smoothing,
            "beside": [{"run": run, "name": name} for run, name in drawn.beside],
            "dark_background": COLORS["dark"]["background"],
            "controls": controls,
            "words": live_words(),
            "unit": unit_system(),
            "language": language,
            "present": present,
            "multipliers": MULTIPLIERS,
            "governors": GOVERNORS,
            "receipt": st.session_state.get(receipt_key),
            "plotly_url": plotly_url(),
        },
        on_command_change=receive,
        on_shown_change=lambda: None,  # a rerun is all that is asked for
    )


def _receipt(command: Any, on_command: OnCommand) -> dict[str, Any] | None:  # noqa: ANN401
    """Send a command of the browser; return its nonce with its number, or with the refusal.

    What our script cannot have sent, such as one without a nonce, is not obeyed: None.
    """
    told = command if isinstance(command, Mapping) else {}
    texts = [each for name in ("nonce", "run", "op") if isinstance(each := told.get(name), str)]
    if len(texts) < 3 or not 1 <= len(texts[0]) <= MAX_NONCE:
        return None
    nonce, run, op = texts
    receipt = {"nonce": nonce, "number": None, "error": ""}
    try:
        number = on_command(run, op, told.get("value"))
    except (ValueError, OSError) as error:
        return receipt | {"error": sentence_of(error)}
    return receipt | {"number": number}
