"""Random programs about gradients whose every step has a finite value, far from kinks."""

import random
from collections import Counter
from collections.abc import Iterable

import torch
from torch.nn import functional as F  # noqa: N812

from core.autograd.errors import explain_error
from core.autograd.graph import Failure

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


VALUES = ("{x}.exp()", "{x}.sigmoid()", "{x}.tanh()", "{x}.relu()", "{x}.sqrt()", "{x}.rsqrt()",
          "{x}.log()", "{x} * {y}", "{x} / {y}", "{x} + {y}", "2 * {x}", "{x} ** 2", "F.silu({x})",
          "{x}.softmax(0)", "torch.maximum({x}, {y})", "{x}.detach()", "{x}[0:2].sum() * {y}",
          "{x}.view(-1)", "{x}[:]", "{x}.cumsum(0)", "{x}.square().mean() + {y}")  # fmt: skip
WRITES = ("{x}[0] = 6", "{x}.add_(1)", "{x}.mul_(2)", "{x} += 1", "{x} *= {y}", "{x}.mul_({y})",
          "{x}.zero_()", "{x}.fill_(3)", "{x}.copy_({y})", "{x} -= {y}", "{x}[1:] = {y}[1:]",
          "{x}.sub_({y})", "{x} /= 2", "{x}[0:2].mul_(3)",
          "with torch.no_grad(): {x} *= 0.5")  # fmt: skip


def refused_program(dice: random.Random) -> str:
    """Return a program of t and d, three numbers each, that torch refuses: a saved tensor changed.

    Each of its writes stands on a line of its own, and alone its forward pass runs.
    """
    while True:
        names, lines = ["t", "d"], []
        for at in range(dice.randint(3, 9)):
            step, name = dice.choice(VALUES if at < 2 or dice.random() < 0.6 else WRITES), f"a{at}"
            words = {"x": dice.choice(names[-4:]), "y": dice.choice(names)}
            lines.append(f"{name} = {step.format(**words)}" if step in VALUES
                         else step.format(**words))  # fmt: skip
            names += [name] * (step in VALUES)
        summed = " + ".join(f"{name}.sum()" for name in names[-3:])
        lines += [f"loss = {summed}", "loss.backward()"]
        if dice.random() < 0.2:
            lines[-1] = "loss.backward(retain_graph=True)"
            lines += [f"{names[-1]} *= 2", "(loss * loss).backward()"]
        source = "\n".join(lines)
        forward = "\n".join(line for line in lines if "backward" not in line)
        if not message_of(forward) and "modified by an inplace operation" in message_of(source):
            return source


def refused_leaves() -> dict[str, torch.Tensor]:
    """Return what a refused program is handed."""
    t = torch.tensor([0.5, 1.0, 2.0], requires_grad=True)
    return {"t": t, "d": torch.tensor([1.5, 0.5, 1.0])}


def message_of(source: str, **leaves: torch.Tensor) -> str:
    """Return what torch itself says against a program; "" if it runs."""
    try:
        exec(source, {"torch": torch, "F": F, **(leaves or refused_leaves())})  # noqa: S102  made
    except (RuntimeError, IndexError, TypeError) as error:
        return str(error)
    return ""


def check_refused(programs: Iterable[str]) -> Counter[str]:
    """Compare what is told of refused programs with torch itself; count what was seen."""
    seen: Counter[str] = Counter()
    for source in programs:
        failure = Failure(kind="RuntimeError", message=message_of(source))
        told = explain_error(failure, source, refused_leaves())
        blamed = [each.span.line for each in told.writes]
        assert blamed == sorted(blamed), source
        assert message_of(_without(source, blamed)) == "", source
        for line in blamed:
            rest = _without(source, [each for each in blamed if each != line])
            assert "modified by an inplace operation" in message_of(rest), (source, line)
        if told.rewrite:
            assert message_of(told.rewrite) == "", (source, told.rewrite)
        seen.update(["programs", f"blamed {len(blamed)}", *["rewritten"] * bool(told.rewrite)])
    return seen


def _without(source: str, lines: list[int]) -> str:
    """Return a program without the statements on some lines."""
    numbered = enumerate(source.split("\n"), start=1)
    return "\n".join("0" if at in lines else line for at, line in numbered)
