"""The validation loss of a run, also of one that was resumed or went wrong."""

import math

import pytest

from core.train.run.evaluations import are_comparable, differing_settings, validation_curve
from core.train.run.store import RunStore


@pytest.mark.parametrize(
    ("attempts", "kept"),
    [
        ([[(10, 4.0), (20, 3.5), (30, 3.75)]], {10: 4.0, 20: 3.5, 30: 3.75}),
        ([[(10, 4.0), (20, 3.5), (30, 3.4)], [(20, 3.6), (30, 3.1)]], {10: 4.0, 20: 3.6, 30: 3.1}),
        ([[(10, 4.0), (20, 3.5), (30, 3.4)], [(20, 3.6)]], {10: 4.0, 20: 3.6}),
        ([[(10, 4.0), (20, math.nan), (30, math.inf)]], {10: 4.0}),
    ],
    ids=[
        "as they were measured",
        "a step that a resume repeated counts once, with its newest loss",
        "what a resume does again is left out before it gets there",
        "a loss that is no number is left out",
    ],
)
def test_the_curve_holds_each_step_once(run_directory, attempts, kept):
    for attempt, rows in enumerate(attempts, start=1):
        with RunStore(run_directory, attempt) as store:
            for step, loss in rows:
                store.append_event("eval", step, validation_loss=loss)
    curve = validation_curve(run_directory)
    assert dict(zip(curve.steps, curve.losses, strict=True)) == kept
    assert curve.best == min(kept.items(), key=lambda step: step[1])
    assert curve.title == "One minute"


def curve_of(make_run, name, text="one", **config):
    settings = {"name": name, "tokenizer": "character", "seed": 1, "eval_interval": 5, **config}
    return validation_curve(make_run(name, config=settings, text={"sha256": text}))


def test_what_differs_is_what_the_runs_learn_with(make_run):
    one = curve_of(make_run, "one", learning_rate=1e-3, eval_interval=7)
    other = curve_of(make_run, "other", learning_rate=1e-2)
    assert differing_settings([one, other]) == {"learning_rate": [1e-3, 1e-2]}
    assert differing_settings([one, one]) == {}


@pytest.mark.parametrize(
    ("change", "same"),
    [
        ({}, True),
        ({"text": "two"}, False),
        ({"tokenizer": "byte"}, False),
        ({"bpe_vocab_size": 512}, True),  # means nothing without BPE
    ],
)
def test_losses_are_compared_in_the_same_tokens_of_the_same_text(make_run, change, same):
    curves = [curve_of(make_run, "one"), curve_of(make_run, "other", **change)]
    assert are_comparable(curves) is same


def test_losses_of_bpe_are_compared_at_the_same_size_of_the_vocabulary(make_run):
    sizes = {"one": 512, "two": 512, "three": 1024}
    one, two, three = (
        curve_of(make_run, name, tokenizer="bpe", bpe_vocab_size=size)
        for name, size in sizes.items()
    )
    assert are_comparable([one, two])
    assert not are_comparable([one, three])
    assert differing_settings([one, three]) == {"bpe_vocab_size": [512, 1024]}


def test_a_folder_that_is_no_run_is_refused(tmp_path):
    with pytest.raises(ValueError, match="cannot be read"):
        validation_curve(tmp_path)


def test_what_was_done_to_the_learning_rate_by_hand_is_known_by_its_step(run_directory):
    with RunStore(run_directory) as store:
        for step, op, value, accepted in (
            (3, "pause", None, True),
            (4, "set_learning_rate_multiplier", 0.5, True),
            (6, "set_learning_rate_multiplier", 9.0, False),
            (8, "set_learning_rate_multiplier", None, True),
        ):
            store.append_event("ack", step, command=1, op=op, value=value, accepted=accepted)
    assert validation_curve(run_directory).rate_changes == ((4, 0.5), (8, 1.0))
