"""Random programs about gradients whose every step has a finite value, far from kinks."""

import random

import torch
from torch.nn import functional as F  # noqa: N812

SHAPES = ((), (2,), (2, 2), (2, 3))
STEPS = (
    "{x} + {y}",
    "{x} - {y}",
    "{x} * {y}",
    "{x} / ({y} * {y} + 1)",
    "{x} @ {y}",
    "{x} @ {x}.t()",
    "{x} ** 2",
    "-{x}",
    "3 * {x}",
    "torch.sin({x})",
    "torch.exp({x})",
    "torch.tanh({x})",
    "torch.sigmoid({x})",
    "torch.sum({x})",
    "{x}.mean()",
    "{x}.sum(dim=0)",
    "F.relu({x})",
    "F.softmax({x}, dim=-1)",
    "{x}.view(-1)",
    "{x}.reshape(-1)",
    "{x}.transpose(0, 1)",
    "{x}[0]",
    "{x}[1:]",
    "{x}.unsqueeze(0)",
    "{x}.clone()",
    "{x}.detach()",
    "torch.where({x} > 0, {x}, {y})",
    "torch.maximum({x}, {y})",
)
CUTS = ("detach",)
KINKS = ("relu", "where", "maximum")
LARGEST = 20.0
MARGIN = 1e-3  # from a kink: differences move a leaf by 1e-5


def made_program(dice: random.Random) -> tuple[str, dict[str, torch.Tensor]]:
    """Return a program of 3 to 8 lines and the float64 leaves that it begins with."""
    generator = torch.Generator().manual_seed(dice.randrange(2**31))
    leaves = {
        name: torch.randn(shape, generator=generator, dtype=torch.float64)
        for name, shape in zip("wxb", dice.choices(SHAPES, k=dice.randint(1, 3)), strict=False)
    }
    values, lines = dict(leaves), []
    length = dice.randint(2, 6)
    while len(lines) < length:
        step, name = dice.choice(STEPS), f"t{len(lines)}"
        x, y = (dice.choice(list(values)[-4:]) for _turn in range(2))
        value = _value(step, values[x], values[y])
        if value is not None:
            values[name] = value
            lines.append(f"{name} = {step.format(x=x, y=y)}")
    rest = " + ".join(f"{name}.sum()" for name in leaves)  # a gradient reaches every leaf
    lines += [f"loss = ({name}).sum() * 0.5 + {rest}", "loss.backward()"]
    return "\n".join(lines), {name: x.requires_grad_() for name, x in leaves.items()}


def _value(step: str, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor | None:
    """Return what a step makes; None if torch refuses it, or it is large or near a kink."""
    try:
        value = eval(step.format(x="x", y="y"), {"torch": torch, "F": F, "x": x, "y": y})  # noqa: S307
    except (RuntimeError, IndexError, TypeError):
        return None
    if not value.numel() or not value.isfinite().all() or value.abs().max() > LARGEST:
        return None
    if any(word in step for word in KINKS):
        away = (x - y).abs() if "maximum" in step else x.abs()
        if x.shape != y.shape or away.min() < MARGIN:
            return None
    return value


def is_differentiable(source: str) -> bool:
    """Whether nearby values tell the gradient: nothing is cut off from it."""
    return not any(word in source for word in CUTS)
