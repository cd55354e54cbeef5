"""The validation loss of a run, also of one that was resumed or went wrong."""

import math

import pytest

from core.train.evaluations import are_comparable, differing_settings, validation_curve
from core.train.shelf import rename
from core.train.store import RunStore


def evaluate(store, rows):
    for step, loss in rows:
        store.append_event("eval", step, validation_loss=loss)


def test_steps_and_losses_come_as_they_were_measured(run_directory):
    with RunStore(run_directory) as store:
        evaluate(store, [(10, 4.0), (20, 3.5), (30, 3.75)])
    curve = validation_curve(run_directory)
    assert (curve.steps, curve.losses) == ((10, 20, 30), (4.0, 3.5, 3.75))
    assert curve.best == (20, 3.5)
    assert curve.title == "One minute"


def test_a_step_that_a_resume_repeated_counts_once_with_its_newest_loss(run_directory):
    with RunStore(run_directory) as store:
        evaluate(store, [(10, 4.0), (20, 3.5), (30, 3.4)])
    with RunStore(run_directory, attempt=2) as store:
        evaluate(store, [(20, 3.6), (30, 3.1)])
    assert validation_curve(run_directory).losses == (4.0, 3.6, 3.1)


def test_what_a_resume_does_again_is_left_out_before_it_gets_there(run_directory):
    with RunStore(run_directory) as store:
        evaluate(store, [(10, 4.0), (20, 3.5), (30, 3.4)])
    with RunStore(run_directory, attempt=2) as store:
        evaluate(store, [(20, 3.6)])
    assert validation_curve(run_directory).steps == (10, 20)


def test_a_loss_that_is_no_number_is_left_out(run_directory):
    with RunStore(run_directory) as store:
        evaluate(store, [(10, 4.0), (20, math.nan), (30, math.inf)])
    assert validation_curve(run_directory).steps == (10,)


def test_a_run_without_an_evaluation_has_no_best(run_directory):
    rename(run_directory, "Half the rate")
    curve = validation_curve(run_directory)
    assert (curve.steps, curve.best, curve.title) == ((), None, "Half the rate")


def curve_of(make_run, name, text="one", **config):
    settings = {"name": name, "tokenizer": "character", "seed": 1, "eval_interval": 5, **config}
    return validation_curve(make_run(name, config=settings, text={"sha256": text}))


def test_what_differs_is_what_the_runs_learn_with(make_run):
    one = curve_of(make_run, "one", learning_rate=1e-3, eval_interval=7)
    other = curve_of(make_run, "other", learning_rate=1e-2)
    assert differing_settings([one, other]) == {"learning_rate": [1e-3, 1e-2]}
    assert differing_settings([one, one]) == {}


@pytest.mark.parametrize(
    ("change", "same"), [({}, True), ({"text": "two"}, False), ({"tokenizer": "byte"}, False)]
)
def test_losses_are_compared_in_the_same_tokens_of_the_same_text(make_run, change, same):
    curves = [curve_of(make_run, "one"), curve_of(make_run, "other", **change)]
    assert are_comparable(curves) is same


def test_a_folder_that_is_no_run_is_refused(tmp_path):
    with pytest.raises(ValueError, match="cannot be read"):
        validation_curve(tmp_path)
