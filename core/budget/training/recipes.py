"""Bytes for each parameter: the named recipes side by side, and how large a model they allow.

States only: activations come on top, and no recipe of this table makes them smaller by itself.
"""

from typing import Final

from core.budget.catalogue.parameters import share_counts
from core.budget.formula import Formula, Number
from core.budget.item import Item, item, total
from core.budget.parallel.share import whole
from core.budget.recipe import TrainingRecipe
from core.budget.training.optimizers import OPTIMIZERS
from core.budget.training.precisions import PRECISIONS
from core.budget.training.states import gradients, optimizer, state_sizes, weights
from core.language import N_
from core.models.spec import ModelSpec

PARTS: Final = {
    "weights": Formula("weight_bytes"),
    "master weights": Formula("master_bytes"),
    "gradients": Formula("gradient_bytes"),
    "gradient sums": Formula("sum_bytes"),
}
MOMENTS: Final = Formula("num_states * state_bytes")
LARGEST: Final = Formula("num_bytes // bytes_per_parameter")
PART_NAMES: Final = (
    N_("weights"),
    N_("master weights"),
    N_("gradients"),
    N_("gradient sums"),
    N_("optimizer"),
)
_STORED: Final = N_("what a recipe stores from step to step, and its gradients")
_STATES_ONLY: Final = N_("all memory for weights, gradients and optimizer; nothing for activations")
PROBED: Final = 1024**2  # parameters of the square matrix on which an optimizer is weighed


def bytes_per_parameter(precision: str, optimizer: str = "adamw") -> Item:
    """Return the bytes that one parameter takes in all, part by part.

    Args:
        precision: A row of PRECISIONS.
        optimizer: A row of OPTIMIZERS, weighed on a matrix of 1024 x 1024.
    """
    row, rule = PRECISIONS[precision], OPTIMIZERS[optimizer]
    values: dict[str, Number] = {
        "weight_bytes": row.weights,
        "master_bytes": row.master,
        "gradient_bytes": row.gradients,
        "sum_bytes": row.accumulated,
        "state_bytes": row.state,
    }
    parts = [
        item(name, formula, values, unit="bytes", source=row.source)
        for name, formula in PARTS.items()
        if formula.of(values)
    ]
    sizes = {"num_updated": PROBED, "num_in_matrices": PROBED, "rows_and_columns": 2 * 1024}
    values["num_states"] = rule.state.of({**sizes, "state_bytes": 1}) / PROBED
    if optimizer == "adam8bit":
        values["state_bytes"] = 1
    parts.append(item("optimizer", MOMENTS, values, unit="bytes", source=rule.source))
    return total("bytes per parameter", parts, source=row.source)


def states_in_all(spec: ModelSpec, recipe: TrainingRecipe) -> Item:
    """Return the bytes of a model before its first activation: all that its recipe stores.

    Muon and Adafactor treat tables and vectors otherwise than matrices, so this may be more than
    the parameters times `bytes_per_parameter`.
    """
    share = whole(spec)
    held = share_counts(spec, share)
    sizes = state_sizes(spec, recipe, share, held)
    parts = [weights(recipe, share, held, sizes), gradients(recipe, sizes)]
    return total("states", [*parts, optimizer(recipe, sizes)], source=_STORED)


def largest_by_states(num_bytes: float, each: Item) -> Item:
    """Return how many parameters the bytes hold; 8 devices of 80 GB hold 40 billion at 16 bytes.

    Args:
        num_bytes: Of all devices together.
        each: The bytes for each parameter.
    """
    values = {"num_bytes": round(num_bytes), "bytes_per_parameter": each.amount}
    return item("largest model", LARGEST, values, unit="parameters", source=_STATES_ONLY)
