"""Our figure for each published one: what `quantity` names in published.toml."""

from collections.abc import Callable, Mapping
from typing import Any, Final

from core.budget.adapters import adapter_widths
from core.budget.catalogue import MODELS
from core.budget.formula import Formula
from core.budget.item import Item, item
from core.budget.parameters import counts
from core.budget.published import PublishedFigure
from core.language import N_
from core.models.spec import ModelSpec

Inputs = Mapping[str, Any]
STORED: Final = Formula("(num_params + extra_params) * bytes_each")
ADAPTERS: Final = Formula("rank * total_width")


def rederive(figure: PublishedFigure) -> Item | None:
    """Return our figure for a published one; None where there is none.

    Raises:
        ValueError: If the quantity is not known.
    """
    if not figure.quantity:
        return None
    if figure.quantity not in REDERIVED:
        raise ValueError(f"{figure.slug}: nothing computes {figure.quantity!r}")
    return REDERIVED[figure.quantity](figure.inputs)


def stored_weights(inputs: Inputs) -> Item:
    """Return the bytes of a model's weights, all in one dtype."""
    spec = ModelSpec(**inputs["spec"])
    values = {
        "num_params": counts(spec).total,
        "extra_params": inputs["extra_params"],
        "bytes_each": inputs["bytes_each"],
    }
    source = N_("one stored number per parameter")
    return item(N_("weights"), STORED, values, unit="bytes", source=source)


def adapters(inputs: Inputs) -> Item:
    """Return LoRA's trainable parameters."""
    widths = adapter_widths(MODELS[inputs["model"]])
    values = {
        "rank": inputs["rank"],
        "total_width": sum(widths[target] for target in inputs["targets"]),
    }
    source = N_("Hu et al. 2021, LoRA: two thin matrices beside each adapted one")
    return item(N_("adapters"), ADAPTERS, values, unit="parameters", source=source)


REDERIVED: Final[Mapping[str, Callable[[Inputs], Item]]] = {
    "stored_weights": stored_weights,
    "adapters": adapters,
}
