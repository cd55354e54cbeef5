"""How a run is called where people choose one: what it is, whose, and when it was made."""

from core.language import _
from core.train.run.shelf import RunSummary
from core.train.start.presets import preset_title
from pages.components.live_chart.words import STATES
from pages.server.classroom import in_class
from pages.server.control_right import is_teacher, may_control
from pages.shared.clock import browser_zone, local_time


def run_label(run: RunSummary) -> str:
    """Return one line on a run: title, whose, time it was made (the reader's), state and step."""
    state = _(STATES.get(run.state, run.state))
    made = local_time(run.created, browser_zone())
    steps = f"{run.step:,} / {run.num_steps:,}"
    return " · ".join(filter(None, (preset_title(run.title), whose(run), made, state, steps)))


def whose(run: RunSummary) -> str:
    """Return whose run it is; empty for one that was trained outside a class."""
    if run.info.get("sandbox"):
        own = not is_teacher() and may_control(run.name)
        return _("your own") if own else _("a student's")
    return _("the class's") if in_class() else ""
