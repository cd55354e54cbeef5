"""Python that gives the headline number of the memory page."""

from dataclasses import fields
from typing import Final

from core.budget.cluster import Cluster
from core.budget.recipe import TrainingRecipe
from pages.budget.training_memory.inputs import Chosen

_CODE: Final = """
from core.budget.budget import at_peak
from core.budget.catalogue.models import MODELS
from core.budget.cluster import Cluster
from core.budget.catalogue.devices import DEVICES, custom_device, local_device
from core.budget.catalogue.hf_config import read_config
from core.budget.recipe import LoRA, TrainingRecipe
from core.budget.training.memory import training_budget
from core.machine import probe_machine

recipe = TrainingRecipe({recipe})
cluster = Cluster(device={device}{layout})
budget = training_budget({model}, recipe, cluster)
for part in at_peak(budget.largest):
    print(f"{{part.name:24}}{{part.amount / 2**30:9.2f}} GiB   {{part.formula}}")
print(f"{{budget.item.amount / 2**30:.2f}} of {{budget.capacity / 2**30:.2f}} GiB")
"""


def memory_code(chosen: Chosen) -> str:
    """Return the snippet of the page's setting."""
    layout = _changed(chosen.case.cluster, Cluster(device=chosen.device.device))
    return _CODE.format(
        model=chosen.model.code,
        device=chosen.device.code,
        recipe=_changed(chosen.case.recipe, TrainingRecipe()),
        layout=f", {layout}" if layout else "",
    )


def _changed(value: TrainingRecipe | Cluster, plain: TrainingRecipe | Cluster) -> str:
    """Return the fields that are no defaults as keyword arguments."""
    pairs = [
        f"{field.name}={getattr(value, field.name)!r}"
        for field in fields(value)
        if field.name != "device" and getattr(value, field.name) != getattr(plain, field.name)
    ]
    return ", ".join(pairs)
