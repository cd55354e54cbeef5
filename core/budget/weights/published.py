"""What the published files of a model hold beside the text model that is counted here."""

from collections.abc import Mapping
from typing import Final

from core.budget.item import Formula, Item, item
from core.budget.weights.parameters import counts
from core.language import N_
from core.models.spec import ModelSpec

REASONS: Final[Mapping[str, str]] = {
    "vision": N_("the vision encoder and its projector"),
    "prediction": N_(
        "the layer for multi-token prediction, with its own copies of embedding and head"
    ),
    "router_bias": N_("the router's correction biases, which are buffers and get no gradient"),
    "tied_head": N_("the tied head, stored a second time"),
    "unexplained": N_("numbers that no document explains"),
}
"""Key of `Beyond.reason` -> what these parameters are, as a message id."""

BEYOND: Final = Formula("published - num_params")
_FILES: Final = N_("total of the published files less the parameters counted here")


def beyond_published(spec: ModelSpec) -> Item | None:
    """Return how many more parameters the published files have; None where none or unknown."""
    if not spec.beyond:
        return None
    values = {"published": spec.published, "num_params": counts(spec).total}
    return item(
        N_("beyond the text model"), BEYOND, values, unit="parameters", kind="exact", source=_FILES
    )
