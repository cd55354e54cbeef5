"""What the backward pass needs for a moment: gradients of activations, and of the tables."""

from collections.abc import Mapping
from typing import Final

from core.budget.formula import Formula, Number
from core.budget.item import Item, item
from core.language import N_

FLOWING: Final = Formula(
    "value_bytes * (num_flowing * num_inner_rows * inner_dim + norm_tokens * hidden_dim)"
)
SCORES_FLOWING: Final = Formula(
    f"max({FLOWING.text}, value_bytes * (num_heads * batch_size * seq_len ** 2"
    " + num_tokens * query_dim + norm_tokens * hidden_dim)"
    " + new_gradient_bytes * params_between - activations_between)"
)
HEAD: Final = Formula(
    "new_gradient_bytes * trained_table"
    " + value_bytes * (num_tokens * vocab_size + norm_tokens * hidden_dim)"
)
LAST: Final = Formula("value_bytes * norm_tokens * hidden_dim + new_gradient_bytes * extra_tables")
_FLOW: Final = N_("gradients of activations on their way through one layer: traced")


def flowing(
    sizes: Mapping[str, Number], *, params_between: Number = 0, activations_between: Number = 0
) -> Item:
    """Return the gradients of activations that are alive in the middle of a layer.

    Where all scores are written, so is their gradient. It comes after that of the feed-forward
    part, in place of what that part had kept.

    Args:
        sizes: All sizes that the formulas name.
        params_between: Parameters whose gradients come between those two moments.
        activations_between: Bytes of activations that are freed between them.
    """
    rule = SCORES_FLOWING if sizes["writes_scores"] else FLOWING
    values = {
        **sizes,
        "params_between": params_between,
        "activations_between": activations_between,
    }
    return item("temporary", rule, values, unit="bytes", source=_FLOW, kind="estimated", band=0.5)


def table_gradient(sizes: Mapping[str, Number]) -> Item:
    """Return what is beside the gradients that are there when the output table's comes."""
    return item("temporary", HEAD, sizes, unit="bytes", source=_FLOW)


def last_gradient(sizes: Mapping[str, Number]) -> Item:
    """Return what is beside all gradients when the embedding's comes; a tied table comes twice."""
    return item("temporary", LAST, sizes, unit="bytes", source=_FLOW)
