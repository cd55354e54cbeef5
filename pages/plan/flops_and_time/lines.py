"""Breakdown of training time: compute, extra work, communication and bubble, cluster by cluster."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

import streamlit as st

from core.budget.budget import Budget
from core.budget.cluster import MAX_DEVICES, Cluster
from core.budget.item import Item, hedged
from core.budget.recipe import TrainingRecipe
from core.budget.share import check_split
from core.budget.training.duration import reached_mfu, training_time
from core.budget.training.memory import training_budget
from core.figures.budget.flops_and_time.lines import lines_picture
from core.language import _, ngettext
from core.language.listing import followed_by
from core.units import format_percent, format_seconds
from pages.plan.flops_and_time.inputs import (
    ASK,
    CHECKPOINTING,
    choose_checkpointing,
    choose_the_model,
    doublings,
    plain,
    settings,
)
from pages.shared.answer import if_fitted
from pages.shared.beside import Compared, shown, two_names
from pages.shared.plan.choices import ChosenDevice, ChosenModel, choose_device
from pages.shared.settings import look
from pages.shared.tabbed_page import Chart, Shown

LENGTH: Final = 4096  # tokens of a sequence, of models that can read so many
CLUSTERS: Final = doublings(1, 2**14)
SPLITS: Final = (1, 2, 4, 8, 16)
BATCHES: Final = doublings(2**16, 2**26)
STEPS: Final = (1, 4, 16, 64)  # how the cluster grows from bar to bar
CODE: Final = """
from core.budget.catalogue.models import MODELS
from core.budget.cluster import Cluster
from core.budget.catalogue.devices import DEVICES, custom_device, local_device
from core.budget.catalogue.hf_config import read_config
from core.budget.recipe import TrainingRecipe
from core.budget.training.duration import reached_mfu, training_time
from core.machine import probe_machine

spec, recipe = {model}, {recipe!r}
cluster = Cluster(device={device}, {cluster})
time = training_time(spec, recipe, cluster, {tokens}, {share})
for line in time.children:
    print(f"{{line.name:16}} {{line.amount / 86_400:10,.2f}} days")
print(f"MFU {{reached_mfu(spec, recipe, cluster, {tokens}, time.amount).amount:.1%}}")
"""


@dataclass(frozen=True, kw_only=True, slots=True)
class Plan:
    """A training run on a cluster.

    Attributes:
        model: What is trained.
        device: On what.
        count: How many devices.
        layout: How the model is split over them, as fields of `Cluster`.
        recipe: How it is trained, without the micro-batches of a step.
        batch: Tokens of one step.
        share: Share of the peak that the products reach.
        trillions: Tokens that training sees, in units of 10**12.
    """

    model: ChosenModel
    device: ChosenDevice
    count: int
    layout: Mapping[str, Any]
    recipe: TrainingRecipe
    batch: int
    share: float
    trillions: float

    @property
    def tokens(self) -> float:
        """Tokens that training sees."""
        return self.trillions * 1e12


def choose_plan() -> Plan:
    """Show the inputs and return what they say."""
    model = choose_the_model()
    wanted = ASK.select_slider("cluster", _("Devices"), CLUSTERS, default=64, labels="{:,}".format)
    split = {
        "tensor": ASK.select_slider("tensor", _("Tensor-parallel size (TP)"), SPLITS, default=1),
        "pipeline": ASK.select_slider(
            "pipeline", _("Pipeline-parallel size (PP)"), SPLITS, default=1
        ),
    }
    with settings():
        device = choose_device(ASK)
        layout = split | _choose_layout()
        batch = ASK.select_slider(
            "step", _("Tokens per step"), BATCHES, default=2**22, labels="{:,}".format
        )
        seq_len = min(LENGTH, model.spec.seq_len)
        recipe = TrainingRecipe(seq_len=seq_len, checkpointing=choose_checkpointing())
        share = ASK.slider(
            "share", _("Kernels' share of the peak"), 0.05, 1.0, default=0.6, step=0.05
        )
        trillions = ASK.number("seen", _("Tokens (T)"), 0.000_001, 10_000.0, default=1.0, step=1.0)
    count = whole_replicas(wanted, split["tensor"], split["pipeline"])
    return Plan(
        model=model, device=device, count=count, layout=layout, recipe=recipe, batch=batch,
        share=share, trillions=trillions,
    )  # fmt: skip


def whole_replicas(wanted: int, tensor: int, pipeline: int) -> int:
    """Return the devices of whole replicas, and say so where these are more than wanted.

    >>> whole_replicas(64, 8, 4)
    64
    """
    ranks = tensor * pipeline
    count = -(-wanted // ranks) * ranks
    if count != wanted:
        st.caption(
            _(
                "TP {tensor} × PP {pipeline} takes multiples of {ranks} devices: {count} are used."
            ).format(tensor=tensor, pipeline=pipeline, ranks=ranks, count=f"{count:,}")
        )
    return count


def _choose_layout() -> dict[str, Any]:
    return {
        "zero_stage": ASK.segmented("zero", _("ZeRO stage"), (0, 1, 2, 3), default=3),
        "overlap": ASK.slider(
            "overlap", _("Communication overlap"), 0.0, 1.0, default=0.5, step=0.05,
            help=_("The share of communication that is hidden behind compute."),
        ),
    }  # fmt: skip


def lines(plan: Plan) -> Shown:
    """Show the time of the chosen cluster and of larger ones.

    Raises:
        ValueError: If the model cannot be split so, or nobody knows the speed of the device.
    """
    spec, cluster = plan.model.spec, _cluster(plan)
    rows = [_row(plan, cluster, count) for count in counts_from(cluster)]
    time, recipe = rows[0][1], spread(plan.recipe, cluster, plan.batch)
    mfu = reached_mfu(spec, recipe, cluster, plan.tokens, float(time.amount))
    step = step_words(plan, cluster)
    budget = training_budget(spec, recipe, cluster)
    memory = memory_words(budget)
    parts = [(if_fitted(_(part.name), fits=budget.fits), part) for part in time.children]
    return Shown(
        headline=if_fitted(sentence(plan, time, mfu), fits=budget.fits),
        charts=[Chart(picture=lines_picture(rows, look()), file_name="training-time")],
        numbers=[*parts, (_("MFU"), mfu)],
        widths=(4, 1),
        notes=[followed_by(memory, step) if memory else step],
        code=_code(plan, recipe),
    )


def _cluster(plan: Plan) -> Cluster:
    cluster = Cluster(device=plan.device.device, num_devices=plan.count, **plan.layout)
    check_split(plan.model.spec, cluster)
    return cluster


def _code(plan: Plan, recipe: TrainingRecipe) -> str:
    layout = ", ".join(f"{name}={value}" for name, value in plan.layout.items())
    return CODE.format(
        model=plan.model.code, recipe=recipe, device=plan.device.code,
        cluster=f"num_devices={plan.count}, {layout}", tokens=plan.tokens, share=plan.share,
    )  # fmt: skip


def two_times(a: Sequence[Plan], b: Sequence[Plan]) -> Shown:
    """Show the time of two plans, part by part, and what each makes of the peak."""
    plans = (*a, *b)
    return shown(*map(_side, plans, two_names(*map(_words, plans))))


def _words(plan: Plan) -> list[str]:
    """Return a plan word by word: what tells two of them apart."""
    layout = plan.layout
    return [
        plan.model.spec.name,
        f"{plan.count:,} × {plan.device.device.name}",
        f"TP {layout['tensor']} · PP {layout['pipeline']} · ZeRO {layout['zero_stage']}",
        _("{count} T tokens").format(count=plain(plan.trillions)),
        _("checkpointing: {kind}").format(kind=_(CHECKPOINTING[plan.recipe.checkpointing])),
    ]


def _side(plan: Plan, name: str) -> Compared:
    cluster = _cluster(plan)
    _label, time = _row(plan, cluster, plan.count)
    recipe = spread(plan.recipe, cluster, plan.batch)
    mfu = reached_mfu(plan.model.spec, recipe, cluster, plan.tokens, float(time.amount))
    parts = [(_(part.name), part) for part in time.children]
    rows = [(_("Time"), time), *parts, (_("MFU"), mfu)]
    verdict = training_budget(plan.model.spec, recipe, cluster).words
    return Compared(name=name, rows=rows, verdict=verdict, code=_code(plan, recipe))


def counts_from(cluster: Cluster) -> list[int]:
    """Return the numbers of devices that are compared: the chosen one, and growing from it."""
    counts = (cluster.num_devices * step for step in STEPS)
    return [count for count in counts if count <= MAX_DEVICES]


def spread(recipe: TrainingRecipe, cluster: Cluster, batch: int) -> TrainingRecipe:
    """Return the recipe with as many micro-batches as make a step of about `batch` tokens."""
    micro = recipe.num_tokens * cluster.data
    return replace(recipe, accumulation=max(1, batch // micro))


def _row(plan: Plan, cluster: Cluster, count: int) -> tuple[str, Item]:
    """Return in words so many devices, and their time; each replica is split as in the cluster."""
    grown = replace(cluster, num_devices=count)
    recipe = spread(plan.recipe, grown, plan.batch)
    time = training_time(plan.model.spec, recipe, grown, plan.tokens, plan.share)
    label = ngettext("{count} device", "{count} devices", count)
    return label.format(count=f"{count:,}"), time


def sentence(plan: Plan, time: Item, mfu: Item) -> str:
    """Return the headline: what is trained on what, how long, and what it makes of the peak."""
    said = _(
        "{time} at {mfu} MFU: {model} on {tokens} T tokens with {count} × {device}; {share} is "
        "compute"
    ).format(
        model=plan.model.spec.name,
        tokens=plain(plan.trillions),
        count=f"{plan.count:,}",
        device=plan.device.device.name,
        time=hedged(format_seconds(time.amount), time),
        mfu=format_percent(mfu.amount),
        share=format_percent(time.child("compute").amount / time.amount),
    )
    return said[:1].upper() + said[1:]


def step_words(plan: Plan, cluster: Cluster) -> str:
    """Return what more devices mean for a step: fewer micro-batches each, then more tokens."""
    same = _("Tokens of one step stay the same, so more devices have fewer micro-batches each.")
    alone = plan.recipe.num_tokens
    most = plan.batch // alone * cluster.tensor * cluster.pipeline
    if max(counts_from(cluster)) <= most:
        return same
    more = _(
        "Beyond {most} devices even one sequence of {length} tokens for each replica makes the "
        "step larger."
    )
    return followed_by(same, more.format(most=f"{most:,}", length=f"{alone:,}"))


def memory_words(budget: Budget) -> str:
    """Return that the plan does not fit, if so; a time is no promise that it does."""
    if budget.fits:
        return ""
    said = _(
        "It does not fit: even with one sequence at a time a device needs {need} and has "
        "{capacity}. The time is that of the work alone."
    )
    if budget.item.guess:
        said = _(
            "It may not fit: even with one sequence at a time a device needs {need} and has "
            "{capacity}. The time is that of the work alone."
        )
    return said.format(
        need=hedged(look().format_bytes(budget.item.amount), budget.item),
        capacity=look().format_bytes(budget.capacity),
    )
