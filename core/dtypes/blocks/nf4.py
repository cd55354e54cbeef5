"""Where the sixteen numbers of NF4 come from, and how a tensor uses them.

They are quantiles of the normal distribution; the even steps of int4 stand beside them.
"""

import math
from dataclasses import dataclass, replace
from statistics import NormalDist
from typing import Final

import numpy as np
import numpy.typing as npt

from core.dtypes.blocks.block_formats import BLOCK_FORMATS
from core.dtypes.number_formats.codebook_format import NF4_OFFSET, nf4_shares, nf4_values
from core.dtypes.rounding import Floats

NUM_BELOW: Final = 7  # codes below zero; eight stand above it
NUM_ABOVE: Final = 8
NF4_BLOCK: Final = 64
NUM_BINS: Final = 64


@dataclass(frozen=True, kw_only=True, slots=True)
class QuantileStep:
    """One code of NF4 and the three steps to its number."""

    code: int
    share: float  # the share of a normal distribution that lies below the quantile
    quantile: float  # where that is, in standard deviations
    value: float  # the quantile divided by the largest one: the number that the code stands for


@dataclass(frozen=True, kw_only=True, eq=False, slots=True)
class CodeUse:
    """What a tensor does with the codes of NF4 and of int4 in blocks of the same length."""

    edges: Floats  # edges of the bins of the histogram, from -1 to 1
    # density of the values, each block divided by its largest magnitude, in each bin
    density: Floats
    nf4: Floats
    int4: Floats
    nf4_bits: float  # entropy of the codes, in bits
    int4_bits: float


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
    """Return the density of the normal distribution whose largest NF4 quantile lies at 1."""
    largest = NormalDist().inv_cdf(NF4_OFFSET)
    density = np.exp(-((values * largest) ** 2) / 2) * largest / math.sqrt(2 * math.pi)
    return np.asarray(density)


def make_code_use(x: Floats) -> CodeUse:
    """Return how a tensor of any shape uses both sets of codes."""
    even = replace(BLOCK_FORMATS["int4_group128"], block_size=NF4_BLOCK)
    steps = even.element.decode(even.quantize(x).codes).astype(np.int64) + 7
    edges, density = block_histogram(x)
    nf4 = code_shares(BLOCK_FORMATS["nf4"].quantize(x).codes, 16)
    int4 = code_shares(steps, 15)
    return CodeUse(
        edges=edges,
        density=density,
        nf4=nf4,
        int4=int4,
        nf4_bits=entropy_bits(nf4),
        int4_bits=entropy_bits(int4),
    )


def block_histogram(values: Floats) -> tuple[Floats, Floats]:
    """Return the edges of bins over [-1, 1] and the density in them of values divided per block.

    Each block of 64 is divided by its largest magnitude, as NF4 does before it looks for a code;
    a last block that is shorter is left out, and so are blocks of zeros or with what is no number.
    """
    flat = values.reshape(-1)
    blocks = flat[: flat.size // NF4_BLOCK * NF4_BLOCK].reshape(-1, NF4_BLOCK)
    largest = np.abs(blocks).max(axis=1, initial=0.0)
    usable = np.isfinite(largest) & (largest > 0)
    shares = blocks[usable] / largest[usable, None]
    counts, edges = np.histogram(shares, NUM_BINS, (-1.0, 1.0))
    return edges, counts / max(shares.size, 1) * (NUM_BINS / 2)


def code_shares(codes: npt.NDArray[np.integer], num_codes: int) -> Floats:
    """Return how large a share of the values each code has; zeros when there are no values."""
    counts = np.bincount(codes.reshape(-1), minlength=num_codes)
    return np.asarray(counts / max(codes.size, 1))


def entropy_bits(shares: Floats) -> float:
    """Return how much one code tells on average, in bits; all codes equally often would be best."""
    used = shares[shares > 0]
    return float(-(used * np.log2(used)).sum()) + 0.0  # a single code gives -0.0
