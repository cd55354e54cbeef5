"""Where the sixteen numbers of NF4 come from: shares of the normal distribution, as quantiles."""

import math
from dataclasses import dataclass
from statistics import NormalDist
from typing import Final

import numpy as np

from core.dtypes.codebook_format import NF4_OFFSET, nf4_shares, nf4_values
from core.dtypes.rounding import Floats

NUM_BELOW: Final = 7  # codes below zero; eight stand above it
NUM_ABOVE: Final = 8


@dataclass(frozen=True, kw_only=True, slots=True)
class QuantileStep:
    """One code of NF4 and the three steps to its number.

    Attributes:
        code: Its place, 0 to 15.
        share: The share of a normal distribution that lies below the quantile.
        quantile: Where that is, in standard deviations.
        value: The quantile divided by the largest one: the number that the code stands for.
    """

    code: int
    share: float
    quantile: float
    value: float


def nf4_steps() -> tuple[QuantileStep, ...]:
    """Return the derivation of every code, in code order.

    Source: Dettmers et al. 2023, QLoRA, section 3 and appendix E.
    """
    below = [1 - share for share in nf4_shares(NUM_BELOW)]
    above = list(reversed(nf4_shares(NUM_ABOVE)))
    normal = NormalDist()
    return tuple(
        QuantileStep(code=code, share=share, quantile=normal.inv_cdf(share), value=value)
        for code, (share, value) in enumerate(zip([*below, 0.5, *above], nf4_values(), strict=True))
    )


def normal_density(values: Floats) -> Floats:
    """Return the density of the normal distribution whose largest NF4 quantile lies at 1.

    Args:
        values: Places in NF4's own unit: the largest magnitude of a block is 1.
    """
    largest = NormalDist().inv_cdf(NF4_OFFSET)
    density = np.exp(-((values * largest) ** 2) / 2) * largest / math.sqrt(2 * math.pi)
    return np.asarray(density)
