"""What stands above a run that is shown: its own settings, which may not be those of the next."""

from dataclasses import dataclass
from typing import Any, Final

from core.budget.by_hand.gpt import count_parameters
from core.language import _
from core.train.config import TrainConfig
from core.train.run.directory import open_run_directory, runs_directory
from core.train.run.shelf import RunSummary, newest_run, summarize
from core.train.run.state import FINAL_STATES
from core.train.start.plan import Outline, Prepared, Wish
from core.train.start.presets import preset_title
from pages.train.live_run.names import whose
from pages.train.live_run.prediction import SNIPPET as PLAN_SNIPPET
from pages.train.live_run.prediction import details, headline_text, plan_text, prediction_text

SNIPPET: Final = """
from core.budget.by_hand.gpt import count_parameters
from core.train.config import TrainConfig

config = TrainConfig.from_json({config!r})
parameters = count_parameters(config.shape(vocab_size={vocab_size}))
print(f"{{parameters.amount:,}}")
print(parameters.substituted)
"""


@dataclass(frozen=True, kw_only=True, slots=True)
class ShownRun:
    """A run as its own run.json describes it.

    Attributes:
        run: Its line in the list.
        config: Its settings.
    """

    run: RunSummary
    config: TrainConfig

    @property
    def vocab_size(self) -> int | None:
        """Different tokens of its text; None if nobody noted them."""
        return self._section("text").get("vocab_size")

    @property
    def mark(self) -> str:
        """What the browser compares with what it sees: which run, and whether it has ended."""
        return f"{self.run.name} ended" if self.run.state in FINAL_STATES else self.run.name

    @property
    def headline(self) -> str:
        """Parameters, tokens a step and learning rate of this run."""
        size = self.vocab_size
        parameters = count_parameters(self.config.shape(size)).amount if size else None
        return headline_text(self.config, parameters)

    @property
    def details(self) -> str:
        """Title, owner, and what was predicted of this run before it started."""
        prediction = self._section("prediction")
        memory = sum((prediction.get("memory") or {}).values())
        seconds = prediction.get("seconds")
        told = details(self.config, self.vocab_size, memory or None, seconds)
        return " · ".join(filter(None, (preset_title(self.run.title), whose(self.run), told)))

    @property
    def code(self) -> str:
        """Python that counts its parameters; empty if its vocabulary is not known."""
        if not self.vocab_size:
            return ""
        plain = TrainConfig().to_json()
        own = {key: each for key, each in self.config.to_json().items() if each != plain[key]}
        return SNIPPET.format(config=own, vocab_size=self.vocab_size)

    def _section(self, name: str) -> dict[str, Any]:
        section = self.run.info.get(name)
        return section if isinstance(section, dict) else {}


def shown_run(name: str) -> ShownRun | None:
    """Return the run of that name, or the newest for ""; None if there is none to be read."""
    folder = runs_directory()
    try:
        run = summarize(open_run_directory(folder, name or newest_run(folder) or ""))
        return ShownRun(run=run, config=TrainConfig.from_json(run.info["config"]))
    except (ValueError, KeyError, OSError):
        return None  # the browser part says so where the run would be


def answer_of(
    shown: ShownRun | None, planned: Outline | None, prepared: Prepared | None
) -> tuple[str, str]:
    """Return headline and details of the shown run; without one, of the run that Start begins."""
    if shown:
        return shown.headline, shown.details
    if planned:
        return plan_text(planned), prediction_text(planned, prepared)
    return "", ""


def code_of(shown: ShownRun | None, wish: Wish) -> str:
    """Return Python that reproduces the headline; empty where no code can have the text."""
    if shown:
        return shown.code
    if wish.upload is not None:
        return ""
    changes = dict(wish.changes)
    return PLAN_SNIPPET.format(duration=wish.duration, size=wish.size, changes=changes)


def next_run_text(shown: ShownRun | None, planned: Outline) -> str:
    """Return a line on the next run where it differs from the shown one; else empty."""
    name, text = planned.config.name, plan_text(planned)
    if shown is None or (shown.headline == text and shown.config.name == name):
        return ""
    return _("Next run: {title} · {headline}").format(title=preset_title(name), headline=text)
