"""What a model costs: bytes, FLOPs and seconds, every number with its formula and its source."""

from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from core.budget.budget import Budget as Budget
    from core.budget.catalogue.devices import DEVICES as DEVICES
    from core.budget.catalogue.hf_config import model_from_config as model_from_config
    from core.budget.catalogue.models import MODELS as MODELS
    from core.budget.compute.step_flops import step_flops as step_flops
    from core.budget.fits.solve import largest_that_fits as largest_that_fits
    from core.budget.fits.solve import min_devices as min_devices
    from core.budget.item import Formula as Formula
    from core.budget.item import Item as Item
    from core.budget.serving.kv_cache import kv_cache_bytes_per_token as kv_cache_bytes_per_token
    from core.budget.serving.latency import decode_latency as decode_latency
    from core.budget.serving.memory import inference_budget as inference_budget
    from core.budget.simulation.step import simulate_step as simulate_step
    from core.budget.training.duration import training_seconds as training_seconds
    from core.budget.training.memory import training_budget as training_budget
    from core.budget.weights.parameters import count_parameters as count_parameters
    from core.models.spec import ModelSpec as ModelSpec

# Each is loaded when it is first asked for: the rooms hold tables, and one of them loads torch.
_HOMES: Final = {
    "Budget": "core.budget.budget",
    "DEVICES": "core.budget.catalogue.devices",
    "Formula": "core.budget.item",
    "Item": "core.budget.item",
    "MODELS": "core.budget.catalogue.models",
    "ModelSpec": "core.models.spec",
    "count_parameters": "core.budget.weights.parameters",
    "decode_latency": "core.budget.serving.latency",
    "inference_budget": "core.budget.serving.memory",
    "kv_cache_bytes_per_token": "core.budget.serving.kv_cache",
    "largest_that_fits": "core.budget.fits.solve",
    "min_devices": "core.budget.fits.solve",
    "model_from_config": "core.budget.catalogue.hf_config",
    "simulate_step": "core.budget.simulation.step",
    "step_flops": "core.budget.compute.step_flops",
    "training_budget": "core.budget.training.memory",
    "training_seconds": "core.budget.training.duration",
}


def __getattr__(name: str) -> Any:  # noqa: ANN401  whatever the room holds
    """Return a public name from the room that holds it.

    Raises:
        AttributeError: If there is none of that name.
    """
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)
