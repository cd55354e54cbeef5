"""The models that can be opened: the one that ships, the runs of this server, a fresh one."""

import json
from collections.abc import Callable, Hashable
from typing import Final

from core.language import _
from core.models.held_bytes import held_bytes
from core.train.learning.opened import (
    Opened,
    open_fresh,
    open_run,
    open_shipped,
    run_steps,
    shipped_steps,
)
from core.train.learning.tensors import newest_checkpoint, runs_with_weights
from core.train.run.directory import is_run_name, open_run_directory, runs_directory
from core.train.run.shelf import summarize
from core.train.start.presets import preset_title
from pages.models.inside_gpt.kept import kept
from pages.shared import link

SMALL: Final = "small"
FRESH: Final = "fresh"
_MOST_RUNS: Final = 20


def choices(used: str) -> dict[str, str]:
    """Return models by their word in the address; the used one may be older than the list."""
    asked = (link.raw_value("inside_run") or "", used)
    names = [*runs_with_weights(runs_directory())[:_MOST_RUNS], *filter(is_run_name, asked)]
    runs = {name: _run_title(name) for name in dict.fromkeys(names)}
    return {SMALL: _("Small GPT"), **runs, FRESH: _("Fresh model")}


def _run_title(name: str) -> str:
    run = summarize(runs_directory() / name)
    return preset_title(run.title) or name


def steps_of(name: str) -> tuple[int, ...]:
    """Return the training steps at which a model can be opened.

    Raises:
        ValueError: If the run is gone, damaged, or has no checkpoint yet.
    """
    if name == SMALL:
        return shipped_steps()
    try:
        directory = open_run_directory(runs_directory(), name)
    except FileNotFoundError as error:
        raise ValueError(str(error)) from error
    if not (steps := run_steps(directory)):
        newest_checkpoint(directory)  # says that there is none
    return steps


def opened_at(name: str, step: int) -> Opened:
    """Return a model at a step; sessions share it."""
    if name == SMALL:
        return _kept((SMALL, step), lambda: open_shipped(step))
    folder = runs_directory()
    return _kept((folder, name, step), lambda: open_run(open_run_directory(folder, name), step))


def opened_fresh(like: Opened) -> Opened:
    """Return a model of the same shape and vocabulary that has learned nothing."""
    key = (FRESH, str(like.model.shape), json.dumps(like.tokenizer.to_json()))
    return _kept(key, lambda: open_fresh(like))


# A model is read and never changed.
def _kept(key: Hashable, make: Callable[[], Opened]) -> Opened:
    return kept().get(key, make, lambda opened: held_bytes(opened.model.state_dict().values()))
