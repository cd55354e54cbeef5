"""Context parallelism: ranks share each sequence, and keys and values go round them on a ring.

Each rank holds 1/c of the tokens of every activation; weights are on all of them. For attention the
keys and values of all tokens must come by: c - 1 hops in the forward pass, again in the backward
pass, and their gradients go the same way back (Megatron-LM, user guide, context parallelism). A
causal mask leaves the first tokens little to do, so each rank takes one chunk from the front and
one from the back of 2c (zigzag; Grattafiori et al. 2024, Llama 3, section 3.3.2).
"""

from dataclasses import replace
from typing import Final

from core.budget.catalogue.precisions import PRECISIONS
from core.budget.catalogue.profiles import PROFILES
from core.budget.check import check_range
from core.budget.cluster import Cluster
from core.budget.item import Formula, Item, Number, counted, estimated
from core.budget.recipe import TrainingRecipe
from core.budget.share import Share
from core.budget.weights.parameters import local_sizes
from core.language import N_, _
from core.models.spec import ModelSpec

RING_ATTENTION: Final = N_(
    "Megatron-LM, context parallelism: keys and values of all tokens come by twice, their "
    "gradients once"
)
_BLOCK: Final = N_("derived: the block that has just come, of one layer, beside the rank's own")
_LATENT: Final = N_(
    "taken as whole keys and values of every head; sending the latents would be far less"
)
SENT: Final = Formula(
    "num_microbatches * num_layers * num_passes * (num_ranks - 1)"
    " * num_tokens * pair_dim * bytes_per_value"
)
BLOCK: Final = Formula("num_tokens * pair_dim * bytes_per_value")


def local_recipe(recipe: TrainingRecipe, cluster: Cluster) -> TrainingRecipe:
    """Return the recipe with as many tokens of each sequence as one rank has.

    Raises:
        ValueError: If the sequence cannot be cut into two chunks a rank, or scores are written.
    """
    if cluster.context == 1:
        return recipe
    if recipe.seq_len % (2 * cluster.context):
        raise ValueError(
            _(
                "A sequence of {tokens} tokens cannot be shared by {ranks} context-parallel ranks, "
                "which take two chunks each; take a multiple of {product} tokens."
            ).format(tokens=recipe.seq_len, ranks=cluster.context, product=2 * cluster.context)
        )
    if PROFILES[recipe.profile].attention == "full":
        raise ValueError(
            _(
                "Context parallelism goes through the keys block by block and writes no scores; "
                "the kernels {profile} write all of them. Take others."
            ).format(profile=recipe.profile)
        )
    return replace(recipe, seq_len=recipe.seq_len // cluster.context)


def ring_traffic(spec: ModelSpec, recipe: TrainingRecipe, cluster: Cluster, share: Share) -> Item:
    """Return the bytes of keys, values and their gradients that a rank sends in a step.

    The recipe has the rank's own tokens: see `local_recipe`.
    """
    again = 1 if recipe.checkpointing in {"full", "every_k"} else 0
    values: dict[str, Number] = _block_sizes(spec, recipe, share) | {
        "num_microbatches": recipe.accumulation,
        "num_layers": share.num_layers,
        "num_passes": 3 + again,
        "num_ranks": cluster.context,
    }
    name = N_("keys, values and their gradients")
    if spec.latent is not None:
        return estimated(name, SENT, values, _LATENT, (0.95, 0.0))
    return counted(name, SENT, values, RING_ATTENTION)


def received_block(spec: ModelSpec, recipe: TrainingRecipe, share: Share) -> Item:
    """Return another rank's keys and values, here while attention goes through them."""
    return estimated(
        "received keys and values", BLOCK, _block_sizes(spec, recipe, share), _BLOCK, (0.0, 1.0)
    )


def _block_sizes(spec: ModelSpec, recipe: TrainingRecipe, share: Share) -> dict[str, Number]:
    sizes = local_sizes(spec, share)
    pair = 2 * sizes["num_kv_heads"] * spec.head_dim
    if spec.latent is not None:
        latent = spec.latent
        pair = sizes["num_heads"] * (latent.nope_dim + latent.rope_dim + latent.value_dim)
    return {
        "num_tokens": recipe.num_tokens,
        "pair_dim": pair,
        "bytes_per_value": PRECISIONS[recipe.precision].value,
    }


def zigzag(num_ranks: int) -> tuple[tuple[int, int], ...]:
    """Return the two chunks of each rank, of 2 `num_ranks` chunks of a sequence.

    >>> zigzag(2)
    ((0, 3), (1, 2))

    Source: Megatron-LM, core/utils.py, and Llama 3, section 3.3.2.
    """
    check_range("num_ranks", num_ranks, 1, 1_000_000)
    return tuple((rank, 2 * num_ranks - 1 - rank) for rank in range(num_ranks))


def causal_work(num_ranks: int, *, in_zigzag: bool) -> tuple[float, ...]:
    """Return the share of a causal attention that each rank computes; the shares add up to 1.

    Chunk k of 2 `num_ranks` looks at k whole chunks before it and at half of its own.

    >>> causal_work(2, in_zigzag=False), causal_work(2, in_zigzag=True)
    ((0.25, 0.75), (0.5, 0.5))
    """
    pairs = zigzag(num_ranks)
    if not in_zigzag:
        pairs = tuple((2 * rank, 2 * rank + 1) for rank in range(num_ranks))
    whole = 2 * num_ranks**2  # the halves of all diagonals, and what lies below them
    return tuple(sum(chunk + 0.5 for chunk in pair) / whole for pair in pairs)
