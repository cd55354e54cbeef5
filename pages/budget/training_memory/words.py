"""What the choices of the memory page are called."""

from collections.abc import Mapping
from typing import Final

from core.budget.catalogue.optimizers import OPTIMIZERS
from core.budget.catalogue.precisions import PRECISIONS
from core.budget.catalogue.profiles import PROFILES
from core.language import N_, _

CHECKPOINTING_WORDS: Final[Mapping[str, str]] = {
    "none": N_("nothing"),
    "selective": N_("all but products (selective)"),
    "full": N_("every layer (full)"),
    "every_k": N_("runs of layers (every k)"),
}
STEP_WORDS: Final[Mapping[str, str]] = {
    "for_loop": N_("one by one"),
    "foreach": N_("foreach"),
    "fused": N_("fused"),
}
SHARDING_WORDS: Final[Mapping[str, str]] = {
    "0": N_("nothing (DDP)"),
    "1": N_("optimizer (ZeRO-1)"),
    "2": N_("and gradients (ZeRO-2)"),
    "3": N_("and weights (ZeRO-3, FSDP2)"),
}
TARGET_WORDS: Final[Mapping[str, str]] = {
    "qv": N_("queries and values"),
    "attention": N_("attention"),
    "all": N_("every matrix"),
}


def precision_label(key: str) -> str:
    """Return what a recipe of number formats is called, with its bytes for a parameter."""
    row = PRECISIONS[key]
    return _("{count} B · {name}").format(name=_(row.label), count=row.with_adam)


def optimizer_label(key: str) -> str:
    """Return what an optimizer is called."""
    return _(OPTIMIZERS[key].label)


def profile_label(key: str) -> str:
    """Return what an implementation is called."""
    return _(PROFILES[key].label)


def checkpointing_label(key: str) -> str:
    """Return what is computed again in the backward pass."""
    return _(CHECKPOINTING_WORDS[key])


def step_label(key: str) -> str:
    """Return how an optimizer walks through the parameters."""
    return _(STEP_WORDS[key])


def sharding_label(key: str) -> str:
    """Return what the replicas share out."""
    return _(SHARDING_WORDS[key])


def targets_label(key: str) -> str:
    """Return which matrices get adapters."""
    return _(TARGET_WORDS[key])
