"""The tensors behind one line of the activations: what they are, who keeps them, how large."""

from functools import lru_cache
from typing import NamedTuple

from core.budget.formula import Formula
from core.budget.parallel.share import Share
from core.budget.recipe import TrainingRecipe
from core.budget.training.activations import activation_sizes
from core.budget.training.checkpointing import kept_tensors, recomputed_tensors
from core.models.spec import ModelSpec


class KeptTensor(NamedTuple):
    """One tensor of one layer.

    Attributes:
        what: Its English message id.
        op: The operation that keeps it.
        formula: Its bytes, in names.
        num_bytes: Its bytes.
    """

    what: str
    op: str
    formula: str
    num_bytes: int


def kept_list(
    spec: ModelSpec, recipe: TrainingRecipe, share: Share, part: str, *, again: bool = False
) -> tuple[KeptTensor, ...]:
    """Return the tensors that one layer of a rank keeps in a part of the block, or makes again.

    Args:
        spec: The model.
        recipe: How it is trained.
        share: The rank's part.
        part: "norms", "attention", "feed-forward", "experts" or "block inputs".
        again: Those that checkpointing makes again instead.
    """
    rows = (recomputed_tensors if again else kept_tensors)(spec, recipe).get(part, ())
    sizes = activation_sizes(spec, recipe, share)
    return tuple(
        KeptTensor(row.what, row.op, row.size, int(_formula(row.size).of(sizes))) for row in rows
    )


@lru_cache(maxsize=512)
def _formula(text: str) -> Formula:
    return Formula(text)
