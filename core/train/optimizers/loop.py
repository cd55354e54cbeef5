"""The five statements of a training step, run in any order."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import permutations
from types import MappingProxyType
from typing import Any, Final

STATEMENTS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "forward": "prediction = model(x)",
        "loss": "loss = (prediction - y).square().mean()",
        "zero_grad": "optimizer.zero_grad()",
        "backward": "loss.backward()",
        "step": "optimizer.step()",
    }
)
USUAL: Final = tuple(STATEMENTS)
_KNOWN: Final = (
    USUAL,
    ("zero_grad", "forward", "loss", "backward", "step"),
    ("forward", "loss", "backward", "step", "zero_grad"),
    ("forward", "loss", "backward", "zero_grad", "step"),
    ("forward", "loss", "backward", "step"),
    ("forward", "loss", "zero_grad", "step", "backward"),
    ("forward", "loss", "step", "zero_grad", "backward"),
)
_LEFT_OUT: Final = tuple(tuple(each for each in USUAL if each != gone) for gone in USUAL)
# Those that are met in the wild first, then all others, and those where one is missing.
ORDERS: Final = tuple(dict.fromkeys((*_KNOWN, *permutations(USUAL), *_LEFT_OUT)))
NUM_WEIGHTS: Final = 16
_NUM_ROWS: Final = 64
_SEED: Final = 0
FAR_AWAY: Final = 1e30


@dataclass(frozen=True, kw_only=True, slots=True)
class Learned:
    """What a loop has learned.

    Attributes:
        losses: As the loop itself computed them, one an iteration; the last may be no number.
        weights: Every iteration's weights after it, the bias last; the first are the start's.
        error: torch's or Python's own words, if an iteration failed.
    """

    losses: tuple[float, ...]
    weights: tuple[tuple[float, ...], ...]
    error: str = ""

    @property
    def has_moved(self) -> bool:
        """Whether any weight was ever changed."""
        return any(each != self.weights[0] for each in self.weights)


def run_loop(order: Sequence[str], num_steps: int, lr: float, problem: str = "line") -> Learned:
    """Run the statements in this order, again and again, and return what was learned.

    Of the problems "line" is y = 2x + 1 at x = 1, 2, 3, 4, and "sixteen" is y = x @ w, w = 0..15.
    """
    import torch

    model, x, y = _made(problem)
    optimizer = torch.optim.SGD(model.parameters(), lr=lr)
    names: dict[str, Any] = {"model": model, "optimizer": optimizer, "x": x, "y": y}
    body = compile("\n".join(STATEMENTS[name] for name in order), "loop", "exec")
    losses: list[float] = []
    weights, error = [_weights(model)], ""
    for _ in range(num_steps):
        try:
            exec(body, names)  # noqa: S102  statements of the table above, none of a reader
        except (NameError, RuntimeError) as raised:
            error = f"{type(raised).__name__}: {raised}".split(" Saved ")[0]
            break
        losses.append(float(names["loss"].detach()))
        weights.append(_weights(model))
        if not abs(losses[-1]) <= FAR_AWAY:
            break
    return Learned(losses=tuple(losses), weights=tuple(weights), error=error)


def _made(problem: str) -> tuple[Any, Any, Any]:
    import torch

    if problem == "line":
        x = torch.tensor([[1.0], [2.0], [3.0], [4.0]])
        y = 2 * x + 1
    else:
        x = torch.randn(_NUM_ROWS, NUM_WEIGHTS, generator=torch.Generator().manual_seed(_SEED))
        y = (x @ torch.arange(float(NUM_WEIGHTS))).unsqueeze(1)
    model = torch.nn.Linear(x.shape[1], 1, bias=problem == "line")
    for each in model.parameters():
        torch.nn.init.zeros_(each)
    return model, x, y


def _weights(model: Any) -> tuple[float, ...]:  # noqa: ANN401
    parts = [each.detach().flatten().tolist() for each in model.parameters()]
    return tuple(number for part in parts for number in part)
