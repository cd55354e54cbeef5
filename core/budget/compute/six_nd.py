"""The exact count beside the rule of thumb: FLOPs of training over 6 N D."""

from typing import Final

from core.budget.catalogue.parameters import counts
from core.budget.compute.forward_flops import forward_flops, is_scores
from core.budget.formula import Formula
from core.budget.item import Item, item
from core.language import N_
from core.models.spec import ModelSpec

RATIO: Final = Formula("3 * forward / (6 * num_params * num_tokens)")
CROSSING: Final = Formula("2 * matrices_each_token / scores_each_pair - 1")
CONTEXTS: Final[tuple[int, ...]] = tuple(2**power for power in range(8, 21))

_RATIO: Final = N_("forward and backward counted product by product, over 6 FLOPs a parameter")
_CROSSING: Final = N_("half the context on average behind a causal mask")


def six_nd_ratio(spec: ModelSpec, seq_len: int, *, causal: bool) -> Item:
    """Return exact over rule for one sequence of `seq_len`; N are the active parameters.

    Raises:
        ValueError: If the length is out of range.
    """
    values = {
        "forward": forward_flops(spec, seq_len, seq_len, causal=causal).amount,
        "num_params": counts(spec).active,
        "num_tokens": seq_len,
    }
    return item(N_("exact / 6ND"), RATIO, values, unit="1", source=_RATIO)


def crossing(spec: ModelSpec) -> Item:
    """Return the context at which causal scores cost as much as all matrices; windows aside."""
    forward = forward_flops(spec, 1, 1)
    pairs = sum(part.amount for part in forward.children if is_scores(part))
    values = {"matrices_each_token": forward.amount - pairs, "scores_each_pair": pairs}
    return item(N_("crossing"), CROSSING, values, unit="tokens", source=_CROSSING)
