"""What the page splits and how: a model, a device, three ways to divide, and the step's sizes."""

from dataclasses import dataclass, replace
from typing import Final

import streamlit as st

from core.budget.catalogue.precisions import PRECISIONS
from core.budget.cluster import Cluster, DeviceSpec
from core.budget.parallel.sharding import STRATEGIES
from core.budget.recipe import (
    CHECKPOINTING,
    REDUCE_DTYPES,
    ReduceDtype,
    TrainingRecipe,
)
from core.language import _
from core.models.spec import ModelSpec
from pages.shared.inputs import Inputs
from pages.shared.plan.choices import (
    CHECKPOINTED,
    DATA,
    REDUCED_IN,
    choose_device,
    choose_model,
    choose_split,
    note_long_context,
    stops,
)
from pages.shared.tabbed_page import Shown

ASK: Final = Inputs("parallel")
MICROBATCHES: Final = stops(1, 256)
LENGTHS: Final = stops(1024, 131072)
NODES: Final = (1, 2, 4, 8, 16, 32, 72)
ZERO: Final = ("ddp", "zero1", "zero2", "zero3")
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


@dataclass(frozen=True, kw_only=True, slots=True)
class Case:
    """What the pictures of the page speak of.

    Attributes:
        spec: The model's architecture.
        recipe: How it is trained.
        asked_len: Tokens of a sequence as asked for; a position table may end before them.
        cluster: How it is spread over the devices.
        code: Python that prints what each stage holds and what is sent.
    """

    spec: ModelSpec
    recipe: TrainingRecipe
    asked_len: int
    cluster: Cluster
    code: str


def choose_case() -> Case:
    """Show all inputs of the page and return what is chosen.

    Raises:
        ValueError: If they cannot go together; the sentence says so.
    """
    sliders = st.container(key="parallel_sliders", gap="small")
    model = choose_model(ASK, default="llama-3.1-70b")
    with st.popover(
        _("Settings"), icon=":material/tune:", key="parallel_settings", width="stretch"
    ):
        training, devices = st.tabs([_("Training"), _("Devices")])
    with devices:
        device = choose_device(ASK)
    with sliders:
        cluster = _choose_sizes(model.spec, device.device)
    with devices:
        cluster = _choose_network(model.spec, cluster)
    with training:
        asked = _choose_recipe()
    longest = model.spec.learned_positions or asked.seq_len
    recipe = replace(asked, seq_len=min(asked.seq_len, longest))
    code = CODE.format(model=model.code, device=device.code, recipe=recipe, cluster=cluster)
    return Case(spec=model.spec, recipe=recipe, asked_len=asked.seq_len, cluster=cluster, code=code)


def _choose_recipe() -> TrainingRecipe:
    """Return how it is trained; arguments are shown as they stand here."""
    recipe = TrainingRecipe(
        batch_size=ASK.number("batch", _("Micro-batch size"), 1, 256, default=1, step=1),
        seq_len=ASK.select_slider(
            "seq_len", _("Sequence length"), LENGTHS, default=8192, labels="{:,}".format
        ),
        accumulation=ASK.select_slider(
            "microbatches", _("Gradient accumulation"), MICROBATCHES, default=8
        ),
        precision=ASK.selectbox(
            "precision",
            _("Precision"),
            tuple(PRECISIONS),
            default="mixed_bf16",
            labels=lambda key: _(PRECISIONS[key].label),
        ),
        checkpointing=ASK.selectbox(
            "checkpointing",
            _("Activation checkpointing"),
            CHECKPOINTING[:3],
            default="none",
            labels=lambda key: _(CHECKPOINTED[key]),
        ),
        step_kind="fused",
    )
    return replace(recipe, reduce_dtype=_choose_reduce_dtype(recipe.precision))


def _choose_reduce_dtype(precision: str) -> ReduceDtype:
    """Return in what gradients are added up over the ranks; only FSDP2's recipe has a choice."""
    return ASK.selectbox(
        "reduce",
        _("Gradients are reduced in"),
        REDUCE_DTYPES,
        default="none",
        labels=lambda key: _(REDUCED_IN[key]),
        help=_(
            "FSDP2 alone has this choice: the reduce_dtype of its MixedPrecisionPolicy. None is "
            "the dtype of compute; fp32 doubles the bytes of the gradients."
        ),
        disabled=not PRECISIONS[precision].casts_shards,
    )


def _choose_sizes(spec: ModelSpec, device: DeviceSpec) -> Cluster:
    """Return the devices, split in the three ways in which the hand splits them."""
    data = ASK.select_slider(
        "data", _("Data-parallel size (DP)"), DATA, default=2, labels="{:,}".format
    )
    cluster = Cluster(device=device, num_devices=data)
    cluster = choose_split(ASK, spec, cluster, "tensor", default=8)
    return choose_split(ASK, spec, cluster, "pipeline", default=4)


def _choose_network(spec: ModelSpec, cluster: Cluster) -> Cluster:
    """Return the cluster with what else is split, and how its devices are joined."""
    sharding = ASK.selectbox(
        "zero", _("Sharding"), ZERO, default="zero1", labels=lambda key: _(STRATEGIES[key])
    )
    sequence = ASK.toggle("sequence", _("Sequence parallelism"), default=True)
    for way in ("context", "virtual", "expert"):
        cluster = choose_split(ASK, spec, cluster, way)
    return replace(
        cluster,
        zero_stage=ZERO.index(sharding),
        sequence_parallel=sequence,
        devices_per_node=ASK.select_slider("nodes", _("GPUs per node"), NODES, default=8),
        network=1e9
        * ASK.number("network", _("Network of a GPU, GB/s"), 1, 1000, default=50, step=5),
        overlap=ASK.slider("overlap", _("Overlap with compute, %"), 0, 100, default=0, step=5)
        / 100,
    )


def note_lengths(case: Case) -> None:
    """Say so if sequences are longer than the model can read, or than it was made for."""
    taken = case.recipe.seq_len
    if case.asked_len == taken:
        note_long_context(case.spec, taken)
        return
    st.caption(
        _("{model} has a table of {count} positions: {count} tokens are taken.").format(
            model=case.spec.name, count=f"{taken:,}"
        )
    )


def refusal(problem: ValueError) -> Shown:
    st.info(str(problem))
    return Shown(headline=_("These choices cannot go together."))
