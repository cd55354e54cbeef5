"""What the published files of a model hold beside the text model that is counted here."""

from collections.abc import Mapping
from typing import Final

from core.language import N_

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
