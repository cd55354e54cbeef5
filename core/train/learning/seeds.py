"""Which random numbers a training draws, and that the same seeds give the same losses."""

import random
from dataclasses import dataclass
from typing import Final

import numpy as np
import torch
from torch import nn

NUM_ITEMS: Final = 64
BATCH_SIZE: Final = 8
# Who draws what in this training; each from a generator of its own.
USES: Final = ("random", "numpy", "torch")


@dataclass(frozen=True, kw_only=True, slots=True)
class Seeds:
    """One seed for each use: the order of the items, the noise of the data, the initial weights."""

    random: int
    numpy: int
    torch: int


def losses_of(seeds: Seeds, num_steps: int) -> tuple[float, ...]:
    """Return the losses of a small regression on the CPU: y = sin(3x) + noise.

    Draws from generators of its own, as a server with several readers has to: seeding the global
    ones would change everybody's numbers.
    """
    x = torch.linspace(-1, 1, NUM_ITEMS).unsqueeze(1)
    noise = np.random.default_rng(seeds.numpy).normal(0, 0.1, (NUM_ITEMS, 1))
    y = torch.sin(3 * x) + torch.from_numpy(noise).float()
    model = _made_with(torch.Generator().manual_seed(seeds.torch))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.3)
    order = random.Random(seeds.random)  # noqa: S311  no secret
    losses, waiting = [], list[int]()
    for _step in range(num_steps):
        if not waiting:
            waiting = order.sample(range(NUM_ITEMS), NUM_ITEMS)
        batch, waiting = waiting[:BATCH_SIZE], waiting[BATCH_SIZE:]
        loss = nn.functional.mse_loss(model(x[batch]), y[batch])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return tuple(losses)


def first_difference(one: tuple[float, ...], other: tuple[float, ...]) -> int | None:
    """Return the first step at which two curves differ in a bit; None if they never do."""
    return next((step for step, (a, b) in enumerate(zip(one, other, strict=True)) if a != b), None)


def _made_with(generator: torch.Generator) -> nn.Sequential:
    """Return a model whose weights come from this generator; the biases are zero."""
    # Made as usual a layer would draw from the global generator first.
    first, last = (nn.utils.skip_init(nn.Linear, *sizes) for sizes in ((1, 16), (16, 1)))
    with torch.no_grad():
        for layer in (first, last):
            layer.weight.normal_(0, layer.in_features**-0.5, generator=generator)
            layer.bias.zero_()
    return nn.Sequential(first, nn.Tanh(), last)
