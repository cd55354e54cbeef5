"""One rule with switches, beside torch.optim in float64."""

from dataclasses import replace

import pytest
import torch
from torch import optim

from core.train.optimizers.rule import (
    NAMED,
    Rule,
    has_diverged,
    name_of,
    named_rule,
    orthogonalized,
    run_rule,
)

START = (1.5, -2.0, 0.3, 4.0, -0.7, 0.1)
CURVES = (1.0, 25.0, 0.1, 3.0, 0.5, 8.0)
NUM_STEPS = 60
LR = 0.02
ADAM = {"momentum": "ema", "second": "ema", "bias_correction": True}
BESIDE = {
    "sgd": (Rule(lr=LR), lambda p: optim.SGD(p, lr=LR)),
    "sgd l2": (
        Rule(lr=LR, decay="l2", weight_decay=1e-4),
        lambda p: optim.SGD(p, lr=LR, weight_decay=1e-4),
    ),
    "momentum": (Rule(lr=LR, momentum="sum"), lambda p: optim.SGD(p, lr=LR, momentum=0.9)),
    "momentum l2": (
        Rule(lr=LR, momentum="sum", beta1=0.8, decay="l2", weight_decay=0.1),
        lambda p: optim.SGD(p, lr=LR, momentum=0.8, weight_decay=0.1),
    ),
    "nesterov": (
        Rule(lr=LR, momentum="sum", nesterov=True, decay="l2", weight_decay=0.1),
        lambda p: optim.SGD(p, lr=LR, momentum=0.9, nesterov=True, weight_decay=0.1),
    ),
    "adagrad": (Rule(lr=LR, second="sum", eps=1e-10), lambda p: optim.Adagrad(p, lr=LR)),
    "adagrad l2": (
        Rule(lr=LR, second="sum", eps=1e-5, decay="l2", weight_decay=0.1),
        lambda p: optim.Adagrad(p, lr=LR, eps=1e-5, weight_decay=0.1),
    ),
    "rmsprop": (
        Rule(lr=LR, second="ema", beta2=0.99),
        lambda p: optim.RMSprop(p, lr=LR, alpha=0.99),
    ),
    "rmsprop l2": (
        Rule(lr=LR, second="ema", beta2=0.9, decay="l2", weight_decay=0.1),
        lambda p: optim.RMSprop(p, lr=LR, alpha=0.9, weight_decay=0.1),
    ),
    "adam": (Rule(lr=LR, **ADAM), lambda p: optim.Adam(p, lr=LR)),
    "adam l2": (
        Rule(lr=LR, **ADAM, decay="l2", weight_decay=0.1),
        lambda p: optim.Adam(p, lr=LR, weight_decay=0.1),
    ),
    "adamw": (
        Rule(lr=LR, **ADAM, beta2=0.95, decay="decoupled", weight_decay=0.1),
        lambda p: optim.AdamW(p, lr=LR, betas=(0.9, 0.95), weight_decay=0.1),
    ),
    "muon": (
        named_rule("Muon", LR, 0.95, weight_decay=0.1),
        lambda p: optim.Muon(p, lr=LR, momentum=0.95, weight_decay=0.1),
    ),
    "muon without nesterov": (
        Rule(lr=LR, momentum="ema", orthogonalize=True),
        lambda p: optim.Muon(p, lr=LR, momentum=0.9, nesterov=False, weight_decay=0.0),
    ),
}


def gradient(p):
    return [each * curve for each, curve in zip(p, CURVES, strict=True)]


@pytest.mark.parametrize("shape", [(2, 3), (3, 2)])
@pytest.mark.parametrize("name", BESIDE)
def test_sixty_steps_are_those_of_torch_to_1e_12(name, shape):
    rule, make = BESIDE[name]
    steps = run_rule(rule, gradient, START, NUM_STEPS, shape)
    p = torch.nn.Parameter(torch.tensor(START, dtype=torch.float64).view(shape))
    optimizer = make([p])
    for t, step in enumerate(steps):
        p.grad = (p.detach().flatten() * torch.tensor(CURVES, dtype=torch.float64)).view(shape)
        optimizer.step()
        there = p.detach().flatten().tolist()
        assert step.after == pytest.approx(there, rel=1e-12, abs=1e-12), f"step {t + 1}"
    assert len(steps) == NUM_STEPS


def test_the_moments_of_adam_are_those_in_torchs_state():
    steps = run_rule(BESIDE["adam"][0], gradient, START, NUM_STEPS)
    p = torch.nn.Parameter(torch.tensor(START, dtype=torch.float64))
    optimizer = optim.Adam([p], lr=LR)
    for step in steps:
        p.grad = p.detach() * torch.tensor(CURVES, dtype=torch.float64)
        optimizer.step()
        state = optimizer.state[p]
        assert step.m == pytest.approx(state["exp_avg"].tolist(), rel=1e-12)
        assert step.v == pytest.approx(state["exp_avg_sq"].tolist(), rel=1e-12)


def test_one_step_of_adamw_ends_at_0_8990_and_of_adam_with_l2_elsewhere():
    rule = named_rule("AdamW", 0.1, weight_decay=0.01)
    ((after,),) = [run_rule(rule, lambda _p: (0.5,), (1.0,), 1)[0].after]
    p = torch.nn.Parameter(torch.tensor([1.0], dtype=torch.float64))
    p.grad = torch.full_like(p, 0.5)
    optim.AdamW([p], lr=0.1, weight_decay=0.01).step()
    assert after == pytest.approx(p.item(), rel=1e-14)
    assert f"{after:.4f}" == "0.8990"
    ((coupled,),) = [run_rule(replace(rule, decay="l2"), lambda _p: (0.5,), (1.0,), 1)[0].after]
    assert f"{coupled:.4f}" == "0.9000"


@pytest.mark.parametrize("name", NAMED)
def test_a_rule_knows_its_name_whatever_its_numbers(name):
    assert name_of(named_rule(name, 0.3, 0.5, 0.7, 0.2)) == name


def test_a_switch_of_what_is_not_there_changes_no_name_and_a_new_mix_has_none():
    assert name_of(Rule(lr=1, bias_correction=True, nesterov=True)) == "SGD"
    assert name_of(Rule(lr=1, momentum="sum", second="sum")) == ""


def test_a_rate_above_two_over_the_curvature_diverges_and_one_below_does_not():
    for rate, diverges in ((2.01 / 25, True), (1.99 / 25, False)):
        steps = run_rule(Rule(lr=rate), gradient, START, 2000)
        assert has_diverged(steps) is diverges, rate
        assert (len(steps) < 2000) is diverges, rate


def test_no_number_ends_a_run():
    steps = run_rule(Rule(lr=1), lambda _p: (float("nan"),), (1.0,), 10)
    assert len(steps) == 1
    assert has_diverged(steps)


def test_singular_values_come_near_1():
    values = (3.0, 0.5, -1.0, 0.2, 2.0, 0.7)
    made = torch.tensor(orthogonalized(values, (2, 3))).view(2, 3)
    assert all(0.6 < each < 1.3 for each in torch.linalg.svdvals(made).tolist())
