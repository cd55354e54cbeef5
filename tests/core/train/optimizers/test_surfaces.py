"""Surfaces, whose gradients autograd knows too, and who comes down first."""

import random

import pytest
import torch

from core.train.optimizers.rule import NAMED, named_rule
from core.train.optimizers.surfaces import SURFACES, nearest, race

each_surface = pytest.mark.parametrize("surface", SURFACES.values(), ids=SURFACES)


@each_surface
def test_the_gradient_is_that_of_autograd_and_the_formula_is_the_loss(surface):
    chance = random.Random(0)  # noqa: S311
    for _ in range(50):
        x, y = (chance.uniform(-3, 3) for _ in range(2))
        p = torch.tensor([x, y], dtype=torch.float64, requires_grad=True)
        loss = surface.loss(p[0], p[1])
        loss.backward()
        assert surface.gradient(x, y) == pytest.approx(p.grad.tolist(), rel=1e-12, abs=1e-12)
        said = eval(surface.formula, {"x": x, "y": y})  # noqa: S307  a constant of the table
        assert said == pytest.approx(surface.loss(x, y), rel=1e-12, abs=1e-12)


@each_surface
def test_the_minima_are_flat_and_lie_with_the_start_in_the_window(surface):
    left, right, bottom, top = surface.window
    for x, y in (*surface.minima, surface.start):
        assert left < x < right
        assert bottom < y < top
    for x, y in surface.minima:
        assert surface.gradient(x, y) == pytest.approx((0, 0), abs=1e-12)
        assert surface.loss(x, y) < surface.loss(*surface.start)


def test_sgd_diverges_on_the_bowl_above_two_over_25_and_adam_does_not():
    bowl = SURFACES["bowl"]
    for rate, diverged in ((0.079, False), (0.081, True)):
        paths = race(bowl, {name: named_rule(name, rate) for name in ("SGD", "Adam")}, 2000)
        assert paths["SGD"].diverged is diverged, rate
        assert not paths["Adam"].diverged


@each_surface
@pytest.mark.parametrize("rate", [1e-4, 10.0])
def test_a_race_ends_at_every_rate(surface, rate):
    paths = race(surface, {name: named_rule(name, rate) for name in NAMED}, 300)
    assert list(paths) == list(NAMED)
    here = {name: each.distance for name, each in paths.items() if not each.diverged}
    assert here[nearest(paths)] == min(here.values())


def test_muon_runs_on_the_diagonal_of_a_matrix_as_torchs_does():
    (path,) = race(SURFACES["bowl"], {"Muon": named_rule("Muon", 0.1, 0.95)}, 50).values()
    p = torch.nn.Parameter(torch.diag(torch.tensor(SURFACES["bowl"].start, dtype=torch.float64)))
    optimizer = torch.optim.Muon([p], lr=0.1, momentum=0.95, weight_decay=0.0)
    for _ in range(50):
        optimizer.zero_grad()
        SURFACES["bowl"].loss(p[0, 0], p[1, 1]).backward()
        optimizer.step()
    assert path.points[-1] == pytest.approx(p.diag().tolist(), rel=1e-12)
