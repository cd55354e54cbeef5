"""The tab of time in lines: compute, extra work, communication and bubble, device by device."""

from dataclasses import replace
from typing import Final

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from core.budget.budget import Budget
from core.budget.cluster import MAX_DEVICES, Cluster
from core.budget.item import Item
from core.budget.share import check_split
from core.budget.training.duration import reached_mfu, training_time
from core.budget.training.memory import training_budget
from core.figures.budget.flops_and_time.time_lines import (
    time_lines,
    time_lines_alt,
    time_lines_table,
)
from core.language import _, ngettext
from core.units import format_bytes, format_percent, format_seconds
from pages.budget.flops_and_time import places
from pages.budget.flops_and_time.lines_plan import Plan, choose_plan, spread
from pages.shared.charts import show_chart
from pages.shared.header import headline
from pages.shared.numbers import explained_number
from pages.shared.settings import presenting, theme_mode, unit_system

STEPS: Final = (1, 4, 16, 64)  # how the cluster grows from bar to bar
CODE: Final = """
from core.budget.catalogue.models import MODELS
from core.budget.budget import Budget
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


def show_lines(row: DeltaGenerator) -> str:
    """Show the tab and return the code of its number."""
    plan = choose_plan(row)
    spec = plan.model.spec
    try:
        cluster = Cluster(device=plan.device.device, num_devices=plan.count, **plan.layout)  # type: ignore[arg-type]
        check_split(spec, cluster)
        rows = _rows(plan, cluster)
    except ValueError as error:
        headline(str(error))
        return ""
    time, recipe = rows[0][1], spread(plan.recipe, cluster, plan.batch)
    mfu = reached_mfu(spec, recipe, cluster, plan.tokens, float(time.amount))
    headline(sentence(plan, time, mfu))
    memory = memory_words(training_budget(spec, recipe, cluster))
    _show(rows, mfu, f"{memory} {step_words(plan, cluster)}".strip())
    layout = ", ".join(f"{name}={value}" for name, value in plan.layout.items())
    return CODE.format(
        model=plan.model.code, recipe=recipe, device=plan.device.code,
        cluster=f"num_devices={plan.count}, {layout}", tokens=plan.tokens, share=plan.share,
    )  # fmt: skip


def sentence(plan: Plan, time: Item, mfu: Item) -> str:
    """Return the headline: what is trained on what, how long, and what it makes of the peak."""
    return _(
        "{model} on {tokens} T tokens with {count} × {device}: {time}, an MFU of {mfu}"
    ).format(
        model=plan.model.spec.name,
        tokens=places.plain(plan.trillions),
        count=f"{plan.count:,}",
        device=plan.device.device.name,
        time=format_seconds(time.amount),
        mfu=format_percent(mfu.amount),
    )


def step_words(plan: Plan, cluster: Cluster) -> str:
    """Return what more devices mean for a step: fewer micro-batches each, then more tokens."""
    same = _("Tokens of one step stay the same, so more devices have fewer micro-batches each.")
    alone = plan.recipe.num_tokens
    most = plan.batch // alone * cluster.tensor * cluster.pipeline
    if max(clusters(cluster)) <= most:
        return same
    more = _(
        "Beyond {most} devices even one sequence of {length} tokens for each replica makes the "
        "step larger."
    )
    return f"{same} {more.format(most=f'{most:,}', length=f'{alone:,}')}"


def memory_words(budget: Budget) -> str:
    """Return that the plan does not fit, if so; a time is no promise that it does."""
    if budget.fits:
        return ""
    return _(
        "It does not fit: even with one sequence at a time a device needs {need} and has "
        "{capacity}. The time is that of the work alone."
    ).format(
        need=format_bytes(budget.item.amount, unit_system()),
        capacity=format_bytes(budget.capacity, unit_system()),
    )


def clusters(cluster: Cluster) -> list[int]:
    """Return the numbers of devices that are compared: the chosen one, and growing from it."""
    counts = (cluster.num_devices * step for step in STEPS)
    return [count for count in counts if count <= MAX_DEVICES]


def _rows(plan: Plan, cluster: Cluster) -> list[tuple[str, Item]]:
    rows = []
    for count in clusters(cluster):
        grown = replace(cluster, num_devices=count)
        recipe = spread(plan.recipe, grown, plan.batch)
        time = training_time(plan.model.spec, recipe, grown, plan.tokens, plan.share)
        label = ngettext("{count} device", "{count} devices", count)
        rows.append((label.format(count=f"{count:,}"), time))
    return rows


def _show(rows: list[tuple[str, Item]], mfu: Item, words: str) -> None:
    picture, numbers = places.picture_and_numbers()
    with picture:
        show_chart(
            time_lines(rows, theme_mode(), present=presenting()),
            key="flops_lines_chart",
            alt=time_lines_alt(rows),
            table=time_lines_table(rows),
            file_name="training-time",
        )
        st.caption(words)
    with numbers:
        for part in rows[0][1].children:
            explained_number(_(part.name), part)
        explained_number(_("MFU"), mfu)
