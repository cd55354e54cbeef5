"""The recorded run that the page shows as long as this server has none, and how it says so."""

from dataclasses import replace

from core.language import _
from core.train.config import TrainConfig
from core.train.run.directory import runs_directory
from core.train.run.reader import check_run
from core.train.run.recorded import recorded_run
from core.train.run.shelf import newest_run
from core.train.start.plan import Outline
from core.train.start.presets import preset_title
from pages.components.live_chart.feed import recorded_speed
from pages.components.live_chart.live_chart import Told
from pages.server.control_right import is_teacher
from pages.shared.questions import answer_waits
from pages.shared.settings import is_hidden, locked
from pages.train.live_run.settings import ASK
from pages.train.live_run.shown_run import ShownRun


def recorded_for(preset: str, planned: Outline | None) -> Told | None:
    """Return the recorded run to show for a preset; None as soon as there is a run to follow."""
    if newest_run(runs_directory()):
        return None
    info = check_run(recorded_run(preset))
    config, recorded = TrainConfig.from_json(info["config"]), info["recorded"]
    title = preset_title(config.name)
    text = _(
        "This is a recording, shown {speed} times as fast as it was: {title} on an {machine}, "
        "{cores} cores, {date}."
    )
    told = text.format(speed=f"{recorded_speed(preset):g}", title=title, **recorded)
    wished = preset_title(planned.config.name) if planned else title
    thinned = _("One step in {every} is kept.").format(every=recorded["every"])
    sentences = [
        told,
        thinned if recorded["every"] > 1 else "",
        _("{wished} comes without a recording.").format(wished=wished) if wished != title else "",
        _("Press Train to start your own.")
        if is_teacher() and not locked() and not is_hidden(ASK.page, "start")
        else _("The first run that starts on this server takes its place."),
    ]
    space = "" if told.endswith("。") else " "  # Chinese has none between two sentences
    sentence = space.join(filter(None, sentences))
    return Told(title=title, recording=preset, recorded=sentence)


def told_of(shown: ShownRun | None, recorded: Told | None, headline: str) -> Told:
    """Return what the page tells the browser of the shown run, or else of the recorded one."""
    waits = answer_waits()
    if shown is None and recorded is not None:
        return replace(recorded, headline=headline, waits=waits)
    return Told(
        mark=shown.mark if shown else "",
        title=shown.title if shown else "",
        headline=headline,
        parameters=shown.parameters if shown else "",
        waits=waits,
    )
