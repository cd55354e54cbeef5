"""Tensors to quantize: the shapes that weights and activations have, made from a seed."""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Final

import numpy as np
import numpy.typing as npt

from core.language import _

SPREAD: Final = 0.02  # the standard deviation of GPT-2's weights before training
OUTLIER_SHARE: Final = 0.001
OUTLIER_FACTOR: Final = 50
MAX_VALUES: Final = 1 << 24

Shape = tuple[int, ...]
Single = npt.NDArray[np.float32]


def _normal(rng: np.random.Generator, shape: Shape) -> npt.NDArray[np.float64]:
    return rng.normal(0, SPREAD, shape)


def _heavy_tailed(rng: np.random.Generator, shape: Shape) -> npt.NDArray[np.float64]:
    return SPREAD * rng.standard_t(4, shape)


def _with_outliers(rng: np.random.Generator, shape: Shape) -> npt.NDArray[np.float64]:
    values = _normal(rng, shape)
    return np.where(rng.random(shape) < OUTLIER_SHARE, values * OUTLIER_FACTOR, values)


def _laplace(rng: np.random.Generator, shape: Shape) -> npt.NDArray[np.float64]:
    return rng.laplace(0, SPREAD / np.sqrt(2), shape)


def _all_zero(_rng: np.random.Generator, shape: Shape) -> npt.NDArray[np.float64]:
    return np.zeros(shape)


_MAKERS: Final[Mapping[str, Callable[[np.random.Generator, Shape], npt.NDArray[np.float64]]]] = (
    MappingProxyType(
        {
            "normal": _normal,
            "heavy_tailed": _heavy_tailed,
            "with_outliers": _with_outliers,
            "laplace": _laplace,
            "all_zero": _all_zero,
        }
    )
)
SAMPLES: Final = tuple(_MAKERS)


def sample_tensor(name: str, shape: Shape = (128, 128), seed: int = 0) -> Single:
    """Return the same tensor for the same name, shape and seed.

    normal: N(0, 0.02), as weights start. heavy_tailed: 0.02 times Student's t with 4 degrees of
    freedom, as gradients spread. with_outliers: normal, but one value in a thousand is 50 times as
    large, as in the activations of large models. laplace: the same standard deviation with a
    sharper peak. all_zero: what a scale has to survive.

    Raises:
        ValueError: If the name is unknown, or the shape holds too many values.
    """
    if name not in _MAKERS:
        raise ValueError(
            _("Sample tensor {name} is not known: use {names}.").format(
                name=name, names=", ".join(SAMPLES)
            )
        )
    if (num_values := int(np.prod(shape, dtype=np.int64))) > MAX_VALUES:
        raise ValueError(
            _("A tensor of {count} values is too large: use at most {most}.").format(
                count=f"{num_values:,}", most=f"{MAX_VALUES:,}"
            )
        )
    return _MAKERS[name](np.random.default_rng(seed), shape).astype(np.float32)
