"""Whether a plan fits, on how many devices at least, how long it takes, and what to change."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Final

import streamlit as st

from core.budget.item import Item, hedged
from core.budget.planning.changes import chain
from core.budget.planning.plan import Count, Plan, counts_around, on_count
from core.budget.planning.speed import plan_cost, plan_mfu, plan_seconds
from core.figures.budget.device_bars import DeviceBar, bar_picture
from core.language import N_, _
from core.language.listing import followed_by
from core.units import format_count, format_percent
from pages.plan.what_fits.inputs import Case
from pages.shared.answer import if_fitted, written
from pages.shared.plan.plan import Chosen, arguments
from pages.shared.plan.verdict import (
    change_words,
    fewest_devices,
    how_many,
    largest_part,
    parts_of,
    show_changes,
    single_changes,
    verdict,
)
from pages.shared.settings import look
from pages.shared.tabbed_page import Chart, Shown, Tab

_CODE: Final = """
from core.budget.catalogue.devices import DEVICES, custom_device, local_device
from core.budget.catalogue.hf_config import read_config
from core.budget.catalogue.models import MODELS
from core.budget.cluster import Cluster
from core.budget.planning.plan import Plan, counts_around, fewest_devices
from core.budget.planning.speed import plan_cost, plan_mfu, plan_seconds
from core.budget.recipe import LoRA, TrainingRecipe
from core.budget.serving.plan import ServingPlan
from core.machine import probe_machine

plan = Plan(
    spec={model},
    cluster=Cluster(device={device}, {cluster}),
    work={work!r}, {job},
    step_tokens={step_tokens}, num_tokens={num_tokens}, price_per_hour={price}, mfu={mfu},
)
for count in counts_around(plan, fewest_devices(plan)):
    said = f"{{count.num_devices}}: {{count.need.amount / 2**30:.2f}} GiB, {{count.verdict}}"
{time}    print(said)
"""
_TIME: Final = """\
    mfu = plan_mfu(count.plan)
    seconds = plan_seconds(count.plan, mfu)
    cost = plan_cost(count.plan, seconds).amount
    said += f", {seconds.amount / 3600:.2f} h, {cost:,.0f} USD at {mfu.amount:.1%} MFU"
"""


@dataclass(frozen=True, kw_only=True, slots=True)
class Speed:
    """How fast a plan is; on devices whose peak is not known there is none."""

    mfu: Item
    seconds: Item
    cost: Item


def show_plan(case: Case) -> Shown:
    """Show one bar for each number of devices, and changes that would help beside them."""
    plan = case.plan
    here, fewest = on_count(plan, plan.num_devices), fewest_devices(plan)
    around = counts_around(plan, fewest)
    timed = fewest.fits if here.verdict == "too_big" and fewest.fits else here
    speeds, problem = _speeds([*around, timed]) if plan.work == "train" else ([], "")
    bars = [_bar(count, speeds[place] if speeds else None) for place, count in enumerate(around)]
    numbers = []
    said = followed_by(verdict(here), how_many(fewest))
    if speeds:
        speed = speeds[-1]
        said = followed_by(said, _how_long(timed, speed))
        numbers = [(_("MFU"), speed.mfu), (_("Time"), speed.seconds)]
        numbers += [(_("Cost"), speed.cost)] if plan.price_per_hour else []
    return Shown(
        headline=said,
        line=_("The largest part: {part}.").format(part=largest_part(here)),
        charts=[
            Chart(
                picture=bar_picture(bars, plan.cluster.device.memory_usable, look()),
                file_name="plan",
            ),
            *_chained(plan, here),
        ],
        beside=partial(show_changes, plan, here),
        widths=(3, 1),
        notes=[each for each in (problem, _rounded(plan)) if each],
        numbers=numbers,
        code=_write_code(case.chosen, timed=bool(speeds)),
    )


def _speeds(counts: Sequence[Count]) -> tuple[list[Speed], str]:
    found = []
    try:
        for count in counts:
            mfu = plan_mfu(count.plan)
            seconds = plan_seconds(count.plan, mfu)
            cost = plan_cost(count.plan, seconds)
            found.append(Speed(mfu=mfu, seconds=seconds, cost=cost))
    except ValueError as error:
        return [], str(error)
    return found, ""


def _bar(count: Count, speed: Speed | None) -> DeviceBar:
    need, parts = count.need, parts_of(count)
    label = f"{count.num_devices:,} ×"
    beside = _time_and_cost(speed) if speed else ()
    return DeviceBar(label=label, parts=parts, low=need.low, high=need.high, beside=beside)


def _chained(plan: Plan, here: Count) -> list[Chart]:
    """Return what changes do one after the other, where no single one is enough."""
    steps = () if here.verdict == "fits" or single_changes(plan) else chain(plan)
    counts = [
        (change_words(each), Count(plan=each.plan, need=each.need, verdict=each.verdict))
        for each in steps
    ]
    bars = [
        DeviceBar(label, parts_of(count), count.need.low, count.need.high)
        for label, count in [(_("as planned"), here), *counts]
    ]
    picture = bar_picture(bars, plan.cluster.device.memory_usable, look())
    return [Chart(picture=picture, file_name="changes", key="changes")] if steps else []


def _time_and_cost(speed: Speed) -> list[str]:
    """Return "22 h 33 min" and "903 USD"; without a price the time alone."""
    amounts = [speed.seconds, *([speed.cost] if speed.cost.amount else [])]
    return [hedged(written(each.amount, each.unit), each) for each in amounts]


def _how_long(count: Count, speed: Speed) -> str:
    text = _("{tokens} tokens on {count}: {amounts} at {mfu} MFU").format(
        tokens=format_count(count.plan.num_tokens),
        count=f"{count.num_devices:,}",
        amounts=_(", ").join(_time_and_cost(speed)),
        mfu=hedged(format_percent(speed.mfu.amount), speed.mfu),
    )
    return if_fitted(text, fits=count.verdict != "too_big")


def _rounded(plan: Plan) -> str:
    """Return that the replicas do not share the batch evenly; "" where they do."""
    if plan.work == "serve" or plan.shares_batch:
        return ""
    return _(
        "{count} replicas do not share a step of {tokens} tokens evenly: the last micro-batch is "
        "counted as full."
    ).format(count=f"{plan.cluster.data:,}", tokens=f"{plan.step_tokens:,}")


def _write_code(chosen: Chosen, *, timed: bool) -> str:
    """Return Python that gives the verdict, the hours and the cost of every count shown.

    Of serving, and on devices without a known peak, there are neither hours nor a cost.
    """
    plan = chosen.plan
    job = f"recipe=TrainingRecipe({arguments(plan.recipe)})"
    if plan.work == "serve":
        job = f"serving=ServingPlan({arguments(plan.serving)})"
    return _CODE.format(
        model=chosen.model.code, device=chosen.device.code, cluster=arguments(plan.cluster),
        work=plan.work, job=job, time=_TIME if timed else "", step_tokens=plan.step_tokens,
        num_tokens=plan.num_tokens, price=plan.price_per_hour, mfu=plan.mfu,
    )  # fmt: skip


def refusal(problem: ValueError) -> Shown:
    st.error(str(problem))
    return Shown(headline=_("This plan cannot be trained."))


TAB: Final = Tab(label=N_("Plan"), show=show_plan, reading="plan")
