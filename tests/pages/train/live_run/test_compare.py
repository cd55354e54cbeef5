"""Runs in one picture: each is called by what it does differently, and a table says the rest."""

from datetime import UTC

import pytest

from core.language import install_provider
from core.train.run.evaluations import Curve, _settings_in_use
from pages.train.live_run import compare
from pages.train.live_run.compare import comparison_table, names_beside


@pytest.fixture(autouse=True)
def in_utc(monkeypatch):
    monkeypatch.setattr(compare, "browser_zone", lambda: UTC)


def curve(number, **more):
    config = {"learning_rate": 0.005, "min_learning_rate": 0.0005, **more.pop("config", {})}
    known = {"title": "one-minute", "steps": (10, 20, 30), "losses": (4.0, 3.0, 3.25), **more}
    run = f"20260102t03040{number}z-a-{number:04x}"
    return Curve(run=run, settings=_settings_in_use(config), **known)


def test_a_run_is_called_by_what_it_does_differently_from_the_shown_one():
    shown = curve(1)
    for config, name in (
        ({"learning_rate": 0.05, "min_learning_rate": 0.005}, "Learning rate 0.005 → 0.05"),
        ({"num_steps": 20_000}, "Steps 1,000 → 20,000"),
        ({"optimizer": "muon", "batch_size": 8}, "Micro-batch size 16 → 8, Optimizer adamw → muon"),
        (
            {"batch_size": 8, "seed": 2, "optimizer": "sgd"},
            "Micro-batch size 16 → 8, Optimizer adamw → sgd …",
        ),
        ({"checkpointing": True}, "Activation checkpointing off → on"),
    ):
        assert names_beside(shown, [curve(2, config=config)]) == [name], config
    install_provider(lambda: "zh")
    assert names_beside(shown, [curve(2, config={"learning_rate": 0.05})]) == [
        "学习率 0.005 → 0.05"
    ]


def test_runs_that_differ_in_nothing_or_in_the_same_are_told_apart_by_their_time():
    faster = {"config": {"learning_rate": 0.05}}
    assert names_beside(curve(1), [curve(2), curve(3, title="mine")]) == [
        "one-minute 2026-01-02 03:04:02",
        "mine",
    ]
    assert names_beside(curve(1), [curve(2, **faster), curve(3, **faster)]) == [
        "Learning rate 0.005 → 0.05 2026-01-02 03:04:02",
        "Learning rate 0.005 → 0.05 2026-01-02 03:04:03",
    ]


def test_a_run_of_an_earlier_version_does_not_differ_in_what_it_could_not_be_told():
    old, new = curve(1), curve(2, config={"optimizer": "adamw", "schedule": "cosine"})
    assert comparison_table([old, new], ["one", "two"])[""] == [
        "Learning rate by hand",
        "Lowest validation loss",
    ]


def test_the_table_tells_settings_changes_by_hand_and_lowest_losses():
    other = curve(2, config={"learning_rate": 0.05}, losses=(), steps=())
    changed = curve(1, rate_changes=((300, 0.5), (1400, 2.0)))
    assert comparison_table([changed, other], ["this run", "faster"]) == {
        "": ["Learning rate", "Learning rate by hand", "Lowest validation loss"],
        "this run": ["0.005", "× 0.5 at step 300, × 2 at step 1,400", "3.000"],
        "faster": ["0.05", "–", "–"],
    }
