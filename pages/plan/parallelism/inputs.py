"""What the page splits and how: the plan, with its sizes in sight."""

from dataclasses import dataclass, replace
from functools import partial
from typing import Final

import streamlit as st

from core.budget.cluster import Cluster
from core.budget.recipe import TrainingRecipe
from core.language import _
from core.models.spec import ModelSpec
from pages.shared.inputs import Inputs
from pages.shared.plan.plan import Chosen, choose_plan
from pages.shared.tabbed_page import Shown

ASK: Final = Inputs("parallel")
CODE: Final = """
from core.budget.catalogue.models import MODELS
from core.budget.cluster import Cluster
from core.budget.parallel.communication import communication, exposed_seconds
from core.budget.catalogue.devices import DEVICES, custom_device, local_device
from core.budget.catalogue.hf_config import read_config
from core.budget.recipe import TrainingRecipe
from core.budget.training.memory import training_budget
from core.machine import probe_machine
from core.units import format_bytes, format_seconds

spec = {model}
recipe = TrainingRecipe(
    batch_size={recipe.batch_size},
    seq_len={recipe.seq_len},
    accumulation={recipe.accumulation},
    precision="{recipe.precision}",
    checkpointing="{recipe.checkpointing}",
    step_kind="{recipe.step_kind}",
    reduce_dtype="{recipe.reduce_dtype}",
)
cluster = Cluster(
    device={device},
    num_devices={cluster.num_devices},
    tensor={cluster.tensor},
    sequence_parallel={cluster.sequence_parallel},
    pipeline={cluster.pipeline},
    virtual_stages={cluster.virtual_stages},
    context={cluster.context},
    zero_stage={cluster.zero_stage},
    expert={cluster.expert},
    devices_per_node={cluster.devices_per_node},
    network={cluster.network},
    overlap={cluster.overlap},
)
budget = training_budget(spec, recipe, cluster)
for stage in budget.stages:
    print(stage.name, format_bytes(stage.amount))
print("sent", format_bytes(communication(spec, recipe, cluster).amount))
print("communication", format_seconds(exposed_seconds(spec, recipe, cluster).amount))
"""


@dataclass(frozen=True, slots=True)
class Case:
    """What the pictures of the page speak of: the plan, as a training."""

    chosen: Chosen

    @property
    def spec(self) -> ModelSpec:
        return self.chosen.plan.spec

    @property
    def recipe(self) -> TrainingRecipe:
        return self.chosen.plan.accumulated

    @property
    def cluster(self) -> Cluster:
        overlap: int = self.chosen.own
        return replace(self.chosen.plan.cluster, overlap=overlap / 100)

    @property
    def code(self) -> str:
        """Python that prints what each stage holds and what is sent."""
        return CODE.format(
            model=self.chosen.model.code, device=self.chosen.device.code,
            recipe=self.recipe, cluster=self.cluster,
        )  # fmt: skip


def choose_case() -> Case:
    """Show all inputs of the page and return what is chosen.

    Raises:
        ValueError: If they cannot go together; the sentence says so.
    """
    settings = {
        _("Training"): ("batch", "length", "step", "precision", "checkpointing", "reduce"),
        _("Devices"): (
            *("device", "sharding", "sequence", "stages", "virtual", "context", "expert"),
            *("node", "network"),
        ),
    }  # fmt: skip
    seen: tuple[str, ...] = ("devices", "tensor", "stages", "model")
    if ASK.used("tab", "sharding") == "sharding":  # its program is one more
        seen = ("devices", "tensor", "model")
    own = partial(ASK.slider, "overlap", _("Overlap with compute, %"), 0, 100, default=0, step=5)
    return Case(choose_plan(seen, settings, own))


def refusal(problem: ValueError) -> Shown:
    st.info(str(problem))
    return Shown(headline=_("These choices cannot go together."))
