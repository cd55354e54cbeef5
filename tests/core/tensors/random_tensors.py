"""Random layouts and calls, seeded, for the comparisons with torch."""

import math
from random import Random

import torch

LENGTHS = (0, 1, 1, 2, 2, 3, 4, 6)


def random_factors(rng: Random, numel: int) -> list[int]:
    """A shape with that many elements, some lengths of 1 in between."""
    shape, left = [], numel
    while left > 1 and len(shape) < 4:
        shape.append(rng.choice([each for each in range(1, left + 1) if left % each == 0]))
        left //= shape[-1]
    shape += [left] * (left > 1)
    if rng.random() < 0.3:
        shape.insert(rng.randint(0, len(shape)), 1)
    rng.shuffle(shape)
    return shape


def random_target(rng: Random, numel: int) -> tuple[int, ...]:
    """What `view` may be asked for: mostly shapes that hold the elements, some with -1."""
    if numel == 0 or rng.random() < 0.2:
        return tuple(rng.choice([-2, -1, 0, 1, 2, 3]) for _ in range(rng.randint(0, 3)))
    shape = random_factors(rng, numel)
    if shape and rng.random() < 0.2:
        shape[rng.randrange(len(shape))] = -1
    return tuple(shape)


def random_strided(rng: Random) -> torch.Tensor:
    """A tensor without data: any strides, or those of a permuted and sliced one."""
    shape = tuple(rng.choice(LENGTHS) for _ in range(rng.randint(0, 4)))
    if rng.random() < 0.4:
        stride = tuple(rng.choice([0, 1, 2, 3, 4, 5, 6, 12]) for _ in shape)
        return torch.empty_strided(shape, stride, device="meta")
    x = torch.empty(shape, device="meta")
    if rng.random() < 0.7:
        x = x.permute(rng.sample(range(x.ndim), x.ndim))
    if x.ndim and x.shape[0] and rng.random() < 0.3:
        x = x[::2]
    return x


def random_arguments(rng: Random, name: str, x: torch.Tensor) -> tuple:
    """Arguments of a call that has a layout rule; about one in four is wrong."""
    return ARGUMENTS[name](rng, x)


def _dim(rng, x):
    return rng.randint(-x.ndim - 1, x.ndim)


def _dims(rng, x):
    dims = rng.sample(range(x.ndim), x.ndim)
    return tuple(dim - x.ndim if rng.random() < 0.3 else dim for dim in dims)


def _longer(rng, x):
    front = [rng.choice([0, 1, 2, 3]) for _ in range(rng.choice([0, 0, 1, 2]))]
    return (*front, *(3 if each == 1 and rng.random() < 0.5 else each for each in x.shape))


def _whole(rng, x):
    shape = random_factors(rng, x.numel()) if x.numel() else [0, *random_factors(rng, 6)]
    if math.prod(shape) and rng.random() < 0.2 and shape:
        shape[rng.randrange(len(shape))] = -1
    return tuple(shape)


ARGUMENTS = {
    "reshape": lambda rng, x: (_whole(rng, x),),
    "permute": lambda rng, x: (_dims(rng, x),),
    "unsqueeze": lambda rng, x: (_dim(rng, x),),
    "expand": lambda rng, x: (_longer(rng, x),),
}
