"""What an optimizer keeps beside the weights, counted in torch's own tensors."""

from dataclasses import dataclass
from typing import Any, Final

SIDE: Final = 256  # of the square matrix that is trained for one step, in float32
NUM_PARAMS: Final = SIDE * SIDE


@dataclass(frozen=True, kw_only=True, slots=True)
class HeldBytes:
    """Bytes after one step: tensors of the optimizer's state, by name; counters of steps apart."""

    name: str
    tensors: tuple[tuple[str, int], ...]

    @property
    def per_parameter(self) -> float:
        """Bytes of state for one weight."""
        return sum(size for _name, size in self.tensors) / NUM_PARAMS


def state_bytes() -> tuple[HeldBytes, ...]:
    """Take one step with each of torch's optimizers and return the bytes of its state."""
    import torch
    from torch import optim

    made: dict[str, Any] = {
        "SGD": lambda p: optim.SGD(p, lr=0.1),
        "Momentum": lambda p: optim.SGD(p, lr=0.1, momentum=0.9),
        "AdaGrad": lambda p: optim.Adagrad(p, lr=0.1),
        "RMSProp": lambda p: optim.RMSprop(p, lr=0.1),
        "Adam": lambda p: optim.Adam(p, lr=0.1),
        "AdamW": lambda p: optim.AdamW(p, lr=0.1),
        "Muon": lambda p: optim.Muon(p, lr=0.1),
    }
    rows = []
    for name, make in made.items():
        p = torch.nn.Parameter(torch.ones(SIDE, SIDE))
        optimizer = make([p])
        p.grad = torch.ones_like(p)
        optimizer.step()
        held = tuple(
            (key, each.nbytes)
            for key, each in optimizer.state[p].items()
            if isinstance(each, torch.Tensor) and each.numel() > 1
        )
        rows.append(HeldBytes(name=name, tensors=held))
    return tuple(rows)


def gradient_bytes(*, set_to_none: bool) -> int:
    """Return the bytes of gradient that a weight still holds after `zero_grad`."""
    import torch

    p = torch.nn.Parameter(torch.ones(SIDE, SIDE))
    optimizer = torch.optim.SGD([p], lr=0.1)
    p.sum().backward()
    optimizer.zero_grad(set_to_none=set_to_none)
    return 0 if p.grad is None else p.grad.nbytes
