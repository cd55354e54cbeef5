"""What is trained, how and on what: the plan as the memory page shows it, and its code."""

from dataclasses import dataclass, fields
from typing import Final

import streamlit as st

from core.budget.cluster import Cluster
from core.budget.recipe import TrainingRecipe
from core.budget.training.scenario import Scenario
from core.language import _
from pages.shared.inputs import Inputs
from pages.shared.plan.plan import SPREAD, TRAINING, Chosen, choose_plan, note_length
from pages.shared.tabbed_page import Shown

ASK: Final = Inputs("memory", of_picture=("item", "measured"))
_CODE: Final = """
from core.budget.budget import at_peak
from core.budget.catalogue.models import MODELS
from core.budget.cluster import Cluster, DeviceSpec
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


@dataclass(frozen=True, slots=True)
class Case:
    """The plan, as a training."""

    chosen: Chosen

    @property
    def scenario(self) -> Scenario:
        plan = self.chosen.plan
        return Scenario(spec=plan.spec, recipe=plan.accumulated, cluster=plan.cluster)


def choose_case() -> Case:
    settings = {
        _("Training"): (*TRAINING[:-1], "every", "kind", "profile", "step"),
        "LoRA": ("lora", "rank", "targets"),
        _("Devices"): ("devices", *SPREAD, "sequence", "expert"),
    }
    chosen = choose_plan(("length", "batch", "model", "device"), settings)
    if ASK.used("tab") != "allocator":
        note_length(chosen, "train")
    return Case(chosen)


def refusal(problem: ValueError) -> Shown:
    st.error(str(problem))
    return Shown(headline=_("This setting cannot be trained."))


def write_code(case: Case) -> str:
    scenario = case.scenario
    layout = _changed(scenario.cluster, Cluster(device=scenario.cluster.device))
    return _CODE.format(
        model=case.chosen.model.code,
        device=case.chosen.device.code,
        recipe=_changed(scenario.recipe, TrainingRecipe()),
        layout=f", {layout}" if layout else "",
    )


def _changed(value: TrainingRecipe | Cluster, plain: TrainingRecipe | Cluster) -> str:
    pairs = [
        f"{field.name}={getattr(value, field.name)!r}"
        for field in fields(value)
        if field.name != "device" and getattr(value, field.name) != getattr(plain, field.name)
    ]
    return ", ".join(pairs)
