"""Whether a plan fits, on how many devices at least, how long it takes, and what to change."""

from collections.abc import Sequence
from dataclasses import dataclass, fields
from functools import partial
from typing import Final

import streamlit as st

from core.budget.budget import Verdict, at_peak
from core.budget.cluster import Cluster
from core.budget.item import Item, hedged
from core.budget.planning.changes import GROUPS, Change, chain, changes, savings
from core.budget.planning.plan import Count, Fewest, Plan, counts_around, min_devices, on_count
from core.budget.planning.speed import plan_cost, plan_mfu, plan_seconds
from core.budget.recipe import TrainingRecipe
from core.figures.budget.device_bars import DeviceBar, bar_picture
from core.language import N_, _
from core.language.listing import followed_by
from core.units import format_count, format_percent
from pages.shared.answer import if_fitted, written
from pages.shared.plan.plan import ASK, Chosen, change_words, choose_plan, take_over
from pages.shared.settings import locked, look
from pages.shared.tabbed_page import Chart, Shown, Tab

_MOST_CHANGES: Final = 3
_VERDICTS: Final[dict[Verdict, str]] = {
    "fits": N_("fits"),
    "close": N_("may fit"),
    "too_big": N_("does not fit yet"),
}
_CODE: Final = """
from core.budget.catalogue.devices import DEVICES, custom_device, local_device
from core.budget.catalogue.hf_config import read_config
from core.budget.catalogue.models import MODELS
from core.budget.cluster import Cluster
from core.budget.planning.plan import Plan, counts_around, min_devices
from core.budget.planning.speed import plan_cost, plan_mfu, plan_seconds
from core.budget.recipe import LoRA, TrainingRecipe
from core.machine import probe_machine

plan = Plan(
    spec={model},
    cluster=Cluster(device={device}, {cluster}),
    recipe=TrainingRecipe({recipe}),
    step_tokens={step_tokens}, num_tokens={num_tokens}, price_per_hour={price}, mfu={mfu},
)
for count in counts_around(plan, min_devices(plan)):
    mfu = plan_mfu(count.plan)
    seconds = plan_seconds(count.plan, mfu)
    cost = plan_cost(count.plan, seconds).amount
    print(f"{{count.num_devices}}: {{count.need.amount / 2**30:.2f}} GiB, {{count.verdict}}, "
          f"{{seconds.amount / 3600:.2f}} h, {{cost:,.0f}} USD at {{mfu.amount:.1%}} MFU")
"""


@dataclass(frozen=True, kw_only=True, slots=True)
class Speed:
    """How fast a plan is; on devices whose peak is not known there is none."""

    mfu: Item
    seconds: Item
    cost: Item


def show_plan(chosen: Chosen) -> Shown:
    """Show one bar for each number of devices, and changes that would help beside them."""
    plan = chosen.plan
    here, fewest = on_count(plan, plan.num_devices), min_devices(plan)
    around = counts_around(plan, fewest)
    timed = fewest.fits if here.verdict == "too_big" and fewest.fits else here
    speeds, problem = _speeds([*around, timed])
    bars = [_bar(count, speeds[place] if speeds else None) for place, count in enumerate(around)]
    numbers = []
    said = followed_by(_verdict(here), _how_many(fewest))
    if speeds:
        speed = speeds[-1]
        said = followed_by(said, _how_long(timed, speed))
        numbers = [(_("MFU"), speed.mfu), (_("Time"), speed.seconds)]
        numbers += [(_("Cost"), speed.cost)] if plan.price_per_hour else []
    return Shown(
        headline=said,
        charts=[
            Chart(
                picture=bar_picture(bars, plan.cluster.device.memory_usable, look()),
                file_name="plan",
            )
        ],
        beside=partial(_show_changes, plan, here),
        widths=(3, 1),
        notes=[each for each in (problem, _rounded(plan)) if each],
        numbers=numbers,
        code=_write_code(chosen) if speeds else "",
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
    need, parts = count.need, at_peak(count.need)
    label = f"{count.num_devices:,} ×"
    below = _time_and_cost(speed, " · ") if speed else ""
    return DeviceBar(label=label, parts=parts, low=need.low, high=need.high, below=below)


def _time_and_cost(speed: Speed, between: str) -> str:
    """Return "22 h 33 min, 903 USD"; without a price the time alone."""
    amounts = [speed.seconds, *([speed.cost] if speed.cost.amount else [])]
    return between.join(hedged(written(each.amount, each.unit), each) for each in amounts)


def _verdict(here: Count) -> str:
    """Return whether the plan fits on the devices that it names."""
    cluster = here.plan.cluster
    part = max(at_peak(here.need), key=lambda part: part.amount)
    text = {
        "fits": _("Training {model} on {count} {device} fits: {need} of {capacity} on each."),
        "close": _("Training {model} on {count} {device} may fit: {need} of {capacity} on each."),
        "too_big": _(
            "Training {model} on {count} {device} does not fit: {need} of {capacity} on each; "
            "the largest part: {part}."
        ),
    }[here.verdict]
    return text.format(
        model=here.plan.spec.name,
        count=f"**{here.num_devices:,}**",
        device=cluster.device.name,
        need=hedged(look().format_bytes(here.need.amount), here.need),
        capacity=look().format_bytes(cluster.device.memory_usable),
        part=_(part.name),
    )


def _how_many(fewest: Fewest) -> str:
    """Return the fewest devices on which it fits, and from which number on it may."""
    values = {
        name: f"{count.num_devices:,}"
        for name in ("fits", "borderline", "largest")
        if (count := getattr(fewest, name)) is not None
    }
    if fewest.fits and fewest.borderline:
        text = _("**{fits}** are needed for certain; **{borderline}** are borderline.")
    elif fewest.fits:
        text = _("**{fits}** are needed at least.")
    elif fewest.borderline:
        text = _("From **{borderline}** on it may fit.")
    elif fewest.largest:
        text = _("It fits on none of up to {largest}, which is as many as can share the batch.")
    else:
        text = _("No number of devices can share the batch.")
    return text.format(**values)


def _how_long(count: Count, speed: Speed) -> str:
    text = _("{tokens} tokens on {count}: {amounts} at {mfu} MFU").format(
        tokens=format_count(count.plan.num_tokens),
        count=f"{count.num_devices:,}",
        amounts=_time_and_cost(speed, _(", ")),
        mfu=hedged(format_percent(speed.mfu.amount), speed.mfu),
    )
    return if_fitted(text, fits=count.verdict != "too_big")


def _rounded(plan: Plan) -> str:
    """Return that the replicas do not share the batch evenly; "" where they do."""
    if plan.shares_batch:
        return ""
    return _(
        "{count} replicas do not share a step of {tokens} tokens evenly: the last micro-batch is "
        "counted as full."
    ).format(count=f"{plan.cluster.data:,}", tokens=f"{plan.step_tokens:,}")


def _show_changes(plan: Plan, here: Count) -> None:
    """Show up to three changes, each a button that makes it, with its number afterwards."""
    found, title = changes(plan), _("What makes it fit")
    if here.verdict == "fits":
        found, title = savings(plan), _("More than half is free")
    elif not found:
        found, title = chain(plan), _("No single change is enough; one after the other")
    if not found:
        return
    st.markdown(f"**{title}**")
    for place, change in enumerate(found[:_MOST_CHANGES]):
        st.button(
            _change_label(change),
            key=ASK.key(f"change_{place}"),
            help=_(GROUPS[change.group]),
            on_click=partial(take_over, plan, change),
            disabled=locked(),
            width="stretch",
        )


def _change_label(change: Change) -> str:
    return _("{change}: {need}, {verdict}").format(
        change=change_words(change),
        need=hedged(look().format_bytes(change.need.amount), change.need),
        verdict=_(_VERDICTS[change.verdict]),
    )


def _write_code(chosen: Chosen) -> str:
    """Return Python that gives the verdict, the hours and the cost of every count shown."""
    plan = chosen.plan
    return _CODE.format(
        model=chosen.model,
        device=chosen.device,
        cluster=_arguments(plan.cluster),
        recipe=_arguments(plan.recipe),
        step_tokens=plan.step_tokens,
        num_tokens=plan.num_tokens,
        price=plan.price_per_hour,
        mfu=plan.mfu,
    )


def _arguments(value: Cluster | TrainingRecipe) -> str:
    return ", ".join(
        f"{each.name}={found!r}"
        for each in fields(value)
        if each.name != "device" and (found := getattr(value, each.name)) != each.default
    )


def refusal(problem: ValueError) -> Shown:
    st.error(str(problem))
    return Shown(headline=_("This plan cannot be trained."))


TAB: Final = Tab(label=N_("Plan"), show=show_plan, with_inputs=False, choose=choose_plan)
