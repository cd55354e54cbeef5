"""Losses of two parameters, with their gradients in closed form, and races down them."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from types import MappingProxyType
from typing import Final

from core.language import N_
from core.train.optimizers.rule import Numbers, Rule, has_diverged, run_rule

Point = tuple[float, float]
_HALF_ROOT: Final = math.sqrt(0.5)


@dataclass(frozen=True, kw_only=True, slots=True)
class Surface:
    """A loss of x and y, whose formula is Python; the race begins at `start`.

    `loss` takes arrays and tensors too; `window` is x from, x to, y from, y to.
    """

    title: str
    formula: str
    loss: Callable[..., float]
    gradient: Callable[[float, float], Point]
    start: Point
    minima: tuple[Point, ...]
    window: tuple[float, float, float, float]


def _beale(x: float, y: float) -> float:
    a, b, c = _beale_terms(x, y)
    return a * a + b * b + c * c


def _beale_terms(x: float, y: float) -> tuple[float, float, float]:
    return 1.5 - x + x * y, 2.25 - x + x * y * y, 2.625 - x + x * y * y * y


def _beale_gradient(x: float, y: float) -> Point:
    a, b, c = _beale_terms(x, y)
    along_x = 2 * a * (y - 1) + 2 * b * (y * y - 1) + 2 * c * (y * y * y - 1)
    return along_x, 2 * a * x + 4 * b * x * y + 6 * c * x * y * y


def _turned(x: float, y: float) -> float:
    u, w = (x + y) * _HALF_ROOT, (y - x) * _HALF_ROOT
    return (u * u + 25 * w * w) / 2


def _turned_gradient(x: float, y: float) -> Point:
    u, w = (x + y) * _HALF_ROOT, (y - x) * _HALF_ROOT
    return (u - 25 * w) * _HALF_ROOT, (u + 25 * w) * _HALF_ROOT


SURFACES: Final[Mapping[str, Surface]] = MappingProxyType(
    {
        "bowl": Surface(
            title=N_("Ill-conditioned bowl"),
            formula="(x*x + 25*y*y) / 2",
            loss=lambda x, y: (x * x + 25 * y * y) / 2,
            gradient=lambda x, y: (x, 25 * y),
            start=(-4.0, 1.5),
            minima=((0.0, 0.0),),
            window=(-5.0, 2.0, -2.2, 2.2),
        ),
        "turned": Surface(
            title=N_("The same bowl, turned by 45°"),
            formula="((x + y)**2 + 25*(y - x)**2) / 4",
            loss=_turned,
            gradient=_turned_gradient,
            start=(-3.5, -1.0),
            minima=((0.0, 0.0),),
            window=(-4.5, 2.0, -3.2, 2.0),
        ),
        "rosenbrock": Surface(
            title=N_("Rosenbrock's valley"),
            formula="(1 - x)**2 + 100*(y - x*x)**2",
            loss=lambda x, y: (1 - x) * (1 - x) + 100 * (y - x * x) * (y - x * x),
            gradient=lambda x, y: (-2 * (1 - x) - 400 * x * (y - x * x), 200 * (y - x * x)),
            start=(-1.5, 1.0),
            minima=((1.0, 1.0),),
            window=(-2.0, 2.0, -0.8, 2.6),
        ),
        "beale": Surface(
            title=N_("Beale's function"),
            formula="(1.5 - x + x*y)**2 + (2.25 - x + x*y**2)**2 + (2.625 - x + x*y**3)**2",
            loss=_beale,
            gradient=_beale_gradient,
            start=(0.5, 1.6),
            minima=((3.0, 0.5),),
            window=(-1.0, 4.5, -1.5, 2.2),
        ),
        "saddle": Surface(
            title=N_("Saddle point between two minima"),
            formula="x*x/2 + y**4/4 - y*y/2",
            loss=lambda x, y: x * x / 2 + y * y * y * y / 4 - y * y / 2,
            gradient=lambda x, y: (x, y * y * y - y),
            start=(-2.0, 0.01),
            minima=((0.0, 1.0), (0.0, -1.0)),
            window=(-2.6, 1.2, -1.7, 1.7),
        ),
    }
)


@dataclass(frozen=True, kw_only=True, slots=True)
class Path:
    """How one optimizer went down a surface: its points, the start first, and where it ended.

    Who has diverged is far away at the last point, or at no number.
    """

    points: tuple[Point, ...]
    loss: float
    distance: float
    diverged: bool


def race(surface: Surface, rules: Mapping[str, Rule], num_steps: int) -> dict[str, Path]:
    """Run every rule from the surface's start.

    x and y are two parameters. For Muon, which takes matrices, they are the diagonal of one: the
    momentum's singular values are then |x| and |y| of it, and both become about 1.
    """
    return {name: _descend(surface, rule, num_steps) for name, rule in rules.items()}


def _descend(surface: Surface, rule: Rule, num_steps: int) -> Path:
    if rule.orthogonalize:
        start: tuple[float, ...] = (surface.start[0], 0.0, 0.0, surface.start[1])
        steps = run_rule(rule, partial(_on_diagonal, surface), start, num_steps, (2, 2))
    else:
        steps = run_rule(rule, lambda p: surface.gradient(*p), surface.start, num_steps)
    points = (surface.start, *((step.after[0], step.after[-1]) for step in steps))
    x, y = points[-1]
    return Path(
        points=points,
        loss=surface.loss(x, y),
        distance=min(math.hypot(x - a, y - b) for a, b in surface.minima),
        diverged=has_diverged(steps),
    )


def _on_diagonal(surface: Surface, p: Numbers) -> Numbers:
    along_x, along_y = surface.gradient(p[0], p[3])
    return along_x, 0.0, 0.0, along_y


def nearest(paths: Mapping[str, Path]) -> str:
    """Return who ended nearest to a minimum, or "" if all have diverged."""
    here = {name: path.distance for name, path in paths.items() if not path.diverged}
    return min(here, key=here.__getitem__) if here else ""
