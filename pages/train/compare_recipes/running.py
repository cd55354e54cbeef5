"""The comparisons of this server: one trains at a time, the others wait in line."""

import threading
from contextlib import closing
from dataclasses import dataclass, field
from functools import partial
from typing import Final

import streamlit as st

from core.language import _
from core.train.control.device import refuse_if_busy
from core.train.recipes.choices import HOLDER, Comparison
from core.train.recipes.results import Results, run_race
from pages.server.background import Jobs
from pages.server.browser import browser
from pages.server.control_right import counted_as, is_teacher
from pages.server.rate import take_turn

_KEPT: Final = 32


@dataclass(slots=True)
class Race:
    """A comparison that was asked for here."""

    asked_by: str
    results: Results = ()
    is_stopped: bool = False


@dataclass(slots=True)
class Races:
    """What every session of this server sees."""

    pool: Jobs = field(default_factory=lambda: Jobs(num_workers=1, counted_as=counted_as))
    kept: dict[Comparison, Race] = field(default_factory=dict)
    going: dict[Comparison, Race] = field(default_factory=dict)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def start(self, asked: Comparison, who: str) -> None:
        """Let the comparison train in its turn, unless it is under way already.

        Raises:
            ValueError: If that reader has another one under way, or too many wait.
        """
        with self.lock:
            if asked in self.going:
                return
            if any(race.asked_by == who for race in self.going.values()):
                text = _("Another comparison of yours is under way: stop it, or wait for its end.")
                raise ValueError(text)
            race = Race(asked_by=who)
            self.pool.start(str(asked), partial(self._train, asked, race))
            self.going[asked] = race

    def _train(self, asked: Comparison, race: Race) -> None:
        try:
            with closing(run_race(asked)) as grown:
                while not race.is_stopped and (results := next(grown, None)):
                    race.results = results
        finally:
            with self.lock:
                self.going.pop(asked, None)
                if race.results and all(result.seconds for result in race.results):
                    self.kept.pop(asked, None)
                    self.kept[asked] = race
                for oldest in list(self.kept)[:-_KEPT]:
                    del self.kept[oldest]


@st.cache_resource(show_spinner=False)
def races() -> Races:
    return Races()


def start(asked: Comparison) -> None:
    """Start a comparison for the reader who pressed the button.

    Raises:
        ValueError: If a run holds the CPU, or it was pressed too often; a sentence.
    """
    take_turn("measure")
    refuse_if_busy("cpu", by=HOLDER)
    races().start(asked, browser())


def may_stop(race: Race) -> bool:
    return race.asked_by == browser() or is_teacher()
