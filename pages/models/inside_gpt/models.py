"""The models that can be opened: the one that ships, the runs of this server, a fresh one.

Why apart: it reads the runs directory and keeps what it has opened; `inputs` only asks.
"""

from functools import partial
from typing import Final

import streamlit as st

from core.language import _
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
from pages.shared import link

SMALL: Final = "small"
FRESH: Final = "fresh"
_MOST_RUNS: Final = 20


def choices(used: str) -> dict[str, str]:
    """Return the models by their word in the address, with their titles.

    Args:
        used: The word in use; a link may name a run that is older than those listed.
    """
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
    opened: Opened
    opened = _shipped(step) if name == SMALL else _of_run(str(runs_directory()), name, step)
    return opened


def opened_fresh(like: Opened) -> Opened:
    """Return a model of the same shape and vocabulary that has learned nothing."""
    fresh: Opened = _fresh(str(like.model.shape), like.tokenizer.to_json(), like)
    return fresh


# A model is read and never changed; errors are not kept.
_kept = partial(st.cache_resource, max_entries=16, show_spinner=False)


@_kept()
def _shipped(step: int) -> Opened:
    return open_shipped(step)


@_kept()
def _of_run(folder: str, name: str, step: int) -> Opened:  # noqa: ARG001  the folder is part of the key
    return open_run(open_run_directory(runs_directory(), name), step)


@_kept()
def _fresh(shape: str, tokenizer: dict[str, object], _like: Opened) -> Opened:  # noqa: ARG001  part of the key
    return open_fresh(_like)
