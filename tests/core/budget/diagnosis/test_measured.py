"""A peak that a run's own program measured, read and held against the plan."""

import json
from dataclasses import replace

import pytest
import torch

from core.budget.catalogue.devices import DEVICES
from core.budget.catalogue.models import MODELS
from core.budget.cluster import Cluster
from core.budget.diagnosis.measured import (
    CODE,
    STATES,
    MeasuredPeak,
    predicted,
    read_measured,
)
from core.budget.diagnosis.moments import step_totals
from core.budget.diagnosis.sentences import measured_sentence
from core.budget.planning.plan import Plan
from core.budget.recipe import TrainingRecipe


def test_the_code_counts_what_a_run_holds_and_what_it_prints_is_read(capsys, monkeypatch):
    monkeypatch.setattr(torch.cuda, "max_memory_allocated", lambda: 5_000_000)
    monkeypatch.setattr(torch.cuda, "max_memory_reserved", lambda: 6_000_000)
    model = torch.nn.Sequential(torch.nn.Linear(64, 32), torch.nn.Linear(32, 8, bias=False))
    optimizer = torch.optim.AdamW(model.parameters())
    model(torch.ones(2, 64)).sum().backward()
    optimizer.step()
    names = {}
    exec(CODE, names)  # noqa: S102  our own snippet, as a reader runs it
    names["measured_peak"](model, optimizer)

    printed = capsys.readouterr().out
    told = read_measured(f"[rank0]: step 3\n{printed}\nstep 4 {{")

    numbers = 64 * 32 + 32 + 32 * 8
    steps = 3 * 4  # a counter in fp32 for each tensor
    assert told == MeasuredPeak(
        weights=4 * numbers, gradients=4 * numbers, optimizer=8 * numbers + steps,
        peak=5_000_000, reserved=6_000_000,
    )  # fmt: skip
    assert sum(part.amount for part in told.parts) == told.peak


def test_gradients_that_are_none_count_nothing(capsys, monkeypatch):
    monkeypatch.setattr(torch.cuda, "max_memory_allocated", lambda: 1000)
    model = torch.nn.Linear(4, 4)
    names = {}
    exec(CODE, names)  # noqa: S102
    names["measured_peak"](model, torch.optim.AdamW(model.parameters()))
    told = json.loads(capsys.readouterr().out)["measured_peak"]
    assert told["gradients"] == told["optimizer"] == 0


@pytest.mark.parametrize("model", ["llama-3.1-8b", "qwen3-30b-a3b"])
def test_the_prediction_has_the_same_parts_and_all_bytes_of_the_peak_in_tensors(model):
    plan = Plan(spec=MODELS[model], cluster=Cluster(device=DEVICES["h100-sxm"]))
    found = predicted(plan)
    assert found.amount == max(moment.amount for moment in step_totals(plan))
    assert [part.name for part in found.children] == [*STATES, "activations"]
    assert sum(part.amount for part in found.children) == found.amount
    plain = replace(plan, recipe=TrainingRecipe(optimizer="sgd", precision="fp32"))
    assert predicted(plain).child("optimizer").amount == 0
    assert found.child("weights").amount == plan.need.child("weights").amount


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('"measured_peak"', "has the numbers"),
        ('{"measured_peak": {"weights": 1}}', "has the numbers"),
        ('{"measured_peak": []}', "has the numbers"),
        ('{"measured_peak": ' + "[" * 100_000, "has the numbers"),
        ('{"measured_peak": {"weights": ' + "9" * 5000, "has the numbers"),
        (
            '{"measured_peak": {"weights": 1, "gradients": 0, "optimizer": 0, "peak": 1,'
            f' "reserved": {"[" * 900}{"]" * 900}}}}}',
            r"reserved is \[\[",
        ),
        (
            '{"measured_peak": {"weights": -1, "gradients": 0, "optimizer": 0, "peak": 1,'
            ' "reserved": 0}}',
            "weights is -1",
        ),
        (
            '{"measured_peak": {"weights": 1, "gradients": 0, "optimizer": 1e9, "peak": 1,'
            ' "reserved": 0}}',
            "optimizer is 1000000000.0",
        ),
        (
            '{"measured_peak": {"weights": 1, "gradients": 0, "optimizer": 0, "peak": 0,'
            ' "reserved": 0}}',
            "without a GPU",
        ),
    ],
)
def test_what_is_no_measured_peak_is_refused_in_words(text, words):
    with pytest.raises(ValueError, match=words):
        read_measured(text)


@pytest.mark.parametrize(
    ("peak", "told"), [(0.5, "100 % more"), (2, "50 % less"), (1 / 178, "178 times as much"),
                       (10, "10 times the"), (1e6, "1,000,000 times the")],
)  # fmt: skip
def test_two_peaks_that_have_nothing_in_common_are_told_in_times(peak, told):
    expected = predicted(
        Plan(spec=MODELS["llama-3.1-8b"], cluster=Cluster(device=DEVICES["h100-sxm"]))
    )
    nothing = dict.fromkeys(STATES, 0)
    measured = MeasuredPeak(**nothing, peak=expected.amount * peak, reserved=0)
    assert told in measured_sentence(measured, expected)
