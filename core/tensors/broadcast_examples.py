"""Shapes that meet in real programs: what goes together, what does not, and what should not."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from core.language import N_


@dataclass(frozen=True, kw_only=True, slots=True)
class Example:
    """Shapes to begin with.

    Attributes:
        key: In no link; links hold the shapes.
        title: What they are.
        shapes: Of two to four tensors.
        dim: The dimension that tells most, counted from the right.
    """

    key: str
    title: str
    shapes: tuple[tuple[int, ...], ...]
    dim: int = -1


# GPT-2 small (Radford et al. 2019): 12 heads of 64, width 768; here 128 tokens.
EXAMPLES: Final = (
    Example(key="table", title=N_("A column and a row: a table"), shapes=((3, 1), (1, 4))),
    Example(key="bias", title=N_("A bias for every row"), shapes=((4, 6), (6,)), dim=-2),
    Example(key="refused", title=N_("A mean without keepdim: refused"), shapes=((8, 3), (8,))),
    Example(
        key="loss", title=N_("Loss of (32, 1) and (32,): 1,024 errors"), shapes=((32, 1), (32,))
    ),
    Example(
        key="distances",
        title=N_("Distances of all pairs of points"),
        shapes=((5, 1, 3), (1, 6, 3)),
        dim=-2,
    ),
    Example(
        key="pixels",
        title=N_("Normalizing images, channel by channel"),
        shapes=((32, 3, 224, 224), (3, 1, 1)),
        dim=-3,
    ),
    Example(
        key="norm",
        title=N_("LayerNorm: mean, gain and bias"),
        shapes=((2, 128, 768), (2, 128, 1), (768,), (768,)),
    ),
    Example(
        key="rope",
        title=N_("RoPE: one table of angles for every head"),
        shapes=((2, 128, 12, 64), (1, 128, 1, 64)),
        dim=-2,
    ),
    Example(
        key="padding",
        title=N_("A padding mask for scores of every head"),
        shapes=((4, 12, 128, 128), (4, 1, 1, 128)),
        dim=-3,
    ),
    Example(
        key="masks",
        title=N_("Scores, padding mask and causal mask"),
        shapes=((4, 12, 128, 128), (4, 1, 1, 128), (128, 128)),
        dim=-3,
    ),
)
BY_KEY: Final[Mapping[str, Example]] = {each.key: each for each in EXAMPLES}
