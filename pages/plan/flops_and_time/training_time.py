"""Training time: by the rule 6ND and an MFU, or counted, with the MFU that comes out."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final

from core.budget.by_hand.rules import flops_rule
from core.budget.cluster import MAX_DEVICES
from core.budget.item import Item, hedged
from core.budget.planning.plan import Plan
from core.budget.planning.speed import plan_cost, plan_mfu
from core.budget.training.duration import cost, reached_mfu, seconds_item, training_time
from core.budget.training.memory import training_budget
from core.budget.weights.parameters import counts
from core.figures.budget.frames import rows_of_bars, scientific, stack, stack_table, written_beside
from core.figures.picture import Drawing, Look, Picture
from core.language import N_, _, ngettext
from core.language.listing import followed_by
from core.units import format_percent, format_seconds
from pages.plan.flops_and_time.inputs import (
    ASK,
    choose_dtype,
    compared,
    dtype_name,
    in_python,
    known_peak,
    plain,
    possible_dtype,
    token_words,
)
from pages.plan.flops_and_time.question import ask_how_long
from pages.shared.answer import if_fitted
from pages.shared.beside import Compared
from pages.shared.plan.plan import SPREAD, TIME, TRAINING, Chosen, arguments, choose_plan
from pages.shared.settings import look
from pages.shared.tabbed_page import Chart, Shown, Tab

DAY: Final = 86_400
LOOKS: Final[Mapping[str, tuple[str, str]]] = {
    N_("training time"): ("forward", ""),
    "compute": ("forward", ""),
    "extra work": ("backward", "/"),
    "communication": ("estimated", "x"),
    "pipeline bubble": ("reference", "."),
}


def lines_picture(times: Mapping[str, Item], look: Look) -> Picture:
    """Return one bar a cluster, cut into what `training_time` gave, its whole time beside it."""
    drawing = Drawing()
    rows = {
        label: {part.name: part.amount for part in time.children or [time]}
        for label, time in times.items()
    }
    stack(drawing, rows, LOOKS, format_seconds, look)
    whole = {label: time.amount for label, time in times.items()}
    x = written_beside(drawing, whole, format_seconds, 1.25)
    said = []
    for label, parts in rows.items():
        others = {_(name): part for name, part in list(parts.items())[1:]}
        most = max(others, key=lambda name: others[name], default="")
        text = f"{label} {format_seconds(whole[label])}"
        share = f"{most} {format_percent(others[most] / whole[label])}" if most else ""
        said.append(_("{said} ({caveat})").format(said=text, caveat=share) if most else text)
    return Picture(
        figure=rows_of_bars(drawing, look, num_rows=len(rows), x=x),
        alt=_("Breakdown of training time: {rows}.").format(rows=_(", ").join(said)),
        table=stack_table(_("devices"), rows, LOOKS, format_seconds),
    )


CODE_BY_RULE: Final = """
num_params = {params}
num_tokens = {tokens}
flops = 6 * num_params * num_tokens

num_devices = {devices}
peak = {peak}  # FLOP/s of one {device}, {dtype} without sparsity: its data sheet
mfu = {mfu}
seconds = flops / (num_devices * peak * mfu)

print(f"{{flops:.4g}} FLOPs")
print(f"{{seconds / 86_400:,.1f}} days")
"""
CODE_COUNTED: Final = """
from core.budget.catalogue.models import MODELS
from core.budget.cluster import Cluster
from core.budget.catalogue.devices import DEVICES, custom_device, local_device
from core.budget.catalogue.hf_config import read_config
from core.budget.recipe import LoRA, TrainingRecipe
from core.budget.training.duration import reached_mfu, training_time
from core.machine import probe_machine

spec, recipe = {model}, TrainingRecipe({recipe})
cluster = Cluster(device={device}, {cluster})
time = training_time(spec, recipe, cluster, {tokens}, {share})
for line in time.children:
    print(f"{{line.name:16}} {{line.amount / 86_400:10,.2f}} days")
print(f"MFU {{reached_mfu(spec, recipe, cluster, {tokens}, time.amount).amount:.1%}}")
"""
STEPS: Final = (1, 4, 16, 64)  # how the cluster grows from bar to bar


@dataclass(frozen=True, kw_only=True, slots=True)
class ByRule:
    """By the rule 6ND: for how many parameters, and in what devices multiply."""

    params: int
    dtype: str

    @property
    def words(self) -> list[str]:
        return [f"{plain(self.params / 1e9)} B", dtype_name(self.dtype)]


@dataclass(frozen=True, kw_only=True, slots=True)
class Counted:
    """By the model's step: shares of the peak that kernels reach, of communication hidden."""

    share: float
    overlap: float

    @property
    def words(self) -> list[str]:
        return [format_percent(self.share), format_percent(self.overlap)]


def choose() -> Chosen:
    """Show whether time is counted or worked out by the rule, and the inputs of that."""
    words = {"model": N_("a model's step"), "rule": N_("6ND rule")}
    way = ASK.segmented("from", _("FLOPs from"), words, default="model")
    return _choose_rule() if way == "rule" else _choose_counted()


def _choose_rule() -> Chosen:
    billions = ASK.number(
        "billions", _("Parameters (B), 0: the plan's model"), 0.0, 100_000.0, default=0.0, step=1.0
    )
    settings = {_("Devices"): ("device",), _("Time and cost"): ("mfu", "price", "model")}
    chosen = choose_plan(("devices", "tokens"), settings, choose_dtype)
    params = round(billions * 1e9) or counts(chosen.plan.spec).active
    dtype = possible_dtype(chosen.device.device, chosen.own)
    return replace(chosen, own=ByRule(params=params, dtype=dtype))


def _choose_counted() -> Chosen:
    settings = {
        _("Training"): ("length", *TRAINING),
        _("Devices"): ("device", *SPREAD),
        _("Time and cost"): TIME,
    }
    return choose_plan(("model", "devices", "tokens"), settings, _choose_shares)


def _choose_shares() -> Counted:
    return Counted(
        share=ASK.slider(
            "share", _("Kernels' share of the peak"), 0.05, 1.0, default=0.5, step=0.05
        ),
        overlap=ASK.slider(
            "overlap", _("Communication overlap"), 0.0, 1.0, default=0.5, step=0.05,
            help=_("The share of communication that is hidden behind compute."),
        ),
    )  # fmt: skip


def days(chosen: Chosen) -> Shown:
    """Show the time by the rule on the chosen number of devices and on more of them."""
    numbers = _by_rule(chosen, chosen.plan.num_devices)
    times = {_count_words(count): _by_rule(chosen, count)[0] for count in counts_from(chosen.plan)}
    return Shown(
        headline=run_sentence(chosen, numbers[0]),
        charts=[Chart(picture=lines_picture(times, look()), file_name="training-time")],
        numbers=list(zip((_("Time"), _("6ND"), _("Cost")), numbers, strict=True)),
        widths=(4, 1),
        code=_rule_code(chosen),
    )


def _by_rule(chosen: Chosen, count: int) -> tuple[Item, Item, Item]:
    """Return time, FLOPs and cost, at the MFU that is pinned or else expected of the plan."""
    plan, own, device = chosen.plan, chosen.own, chosen.device.device
    tokens, peak = round(plan.num_tokens), known_peak(device, own.dtype)
    mfu, known = plan.mfu or float(plan_mfu(plan).amount), device.known_of(own.dtype)
    time = seconds_item(own.params, tokens, count, peak, mfu, known=known)
    price = cost(count, float(time.amount), plan.price_per_hour)
    return time, flops_rule(own.params, tokens), price


def _rule_code(chosen: Chosen) -> str:
    values = _by_rule(chosen, chosen.plan.num_devices)[0].values
    return CODE_BY_RULE.format(
        params=f"{values['num_params']:_}", tokens=f"{values['num_tokens']:_}",
        devices=values["num_devices"], peak=in_python(values["flops_per_second"]),
        device=chosen.device.device.name, dtype=dtype_name(chosen.own.dtype), mfu=values["mfu"],
    )  # fmt: skip


def run_sentence(chosen: Chosen, time: Item) -> str:
    """Return the headline: how many FLOPs, how long, and of which plan."""
    days = float(time.amount) / DAY
    written = _("{days} days").format(days=f"{days:,.1f}")
    return _(
        "Training {params} B parameters on {tokens} tokens takes {time} on {count} × {device}: "
        "{flops} FLOPs at {mfu} MFU",
        flops=scientific(6 * time.values["num_params"] * time.values["num_tokens"]),
        time=written if days >= 2 else format_seconds(time.amount),
        params=plain(chosen.own.params / 1e9),
        tokens=token_words(chosen.plan.num_tokens),
        count=f"{chosen.plan.num_devices:,}",
        device=chosen.device.device.name,
        mfu=format_percent(time.values["mfu"]),
    )


def lines(chosen: Chosen) -> Shown:
    """Show the time of the chosen cluster and of larger ones."""
    plan = overlapped(chosen)
    times = {_count_words(count): _time(plan.on(count), chosen.own) for count in counts_from(plan)}
    time, mfu = _time(plan, chosen.own), _mfu(plan, chosen.own)
    fits = plan.verdict != "too_big"
    parts = [(if_fitted(_(part.name), fits=fits), part) for part in time.children]
    price = plan_cost(plan, time)
    return Shown(
        headline=if_fitted(plan_sentence(plan, time, mfu), fits=fits),
        charts=[Chart(picture=lines_picture(times, look()), file_name="training-time")],
        numbers=[*parts, (_("MFU"), mfu), *([(_("Cost"), price)] if price.amount else [])],
        widths=(4, 1),
        notes=[step_words(plan)],
        code=_plan_code(chosen),
    )


def overlapped(chosen: Chosen) -> Plan:
    """Return the plan as a training, with as much of its communication hidden as was asked for."""
    cluster = replace(chosen.plan.cluster, overlap=chosen.own.overlap)
    return replace(chosen.plan, work="train", cluster=cluster)


def _time(plan: Plan, own: Counted) -> Item:
    args = (plan.spec, plan.accumulated, plan.cluster, plan.num_tokens)
    return training_time(*args, _kernels(plan, own))


def _mfu(plan: Plan, own: Counted) -> Item:
    args = (plan.spec, plan.accumulated, plan.cluster, plan.num_tokens)
    return reached_mfu(*args, float(_time(plan, own).amount))


def _kernels(plan: Plan, own: Counted) -> float:
    """Return the share of the peak that the kernels reach: as asked, or that of a pinned MFU."""
    if not plan.mfu:
        return own.share
    args = (plan.spec, plan.accumulated, plan.cluster, plan.num_tokens)
    wanted = float(reached_mfu(*args, 1.0).amount) / plan.mfu
    time = training_time(*args, 1.0)
    waited = sum(part.amount for part in time.children if part.name == "communication")
    share = (float(time.amount) - waited) / (wanted - waited) if wanted > waited else math.inf
    if share > 1:
        raise ValueError(
            _("No kernels reach an MFU of {mfu} on {count} devices.").format(
                mfu=format_percent(plan.mfu), count=f"{plan.num_devices:,}"
            )
        )
    return share


def _plan_code(chosen: Chosen) -> str:
    plan = overlapped(chosen)
    return CODE_COUNTED.format(
        model=chosen.model.code, recipe=arguments(plan.accumulated), device=chosen.device.code,
        cluster=arguments(plan.cluster), tokens=plan.num_tokens,
        share=_kernels(plan, chosen.own),
    )  # fmt: skip


def counts_from(plan: Plan) -> list[int]:
    """Return the numbers of devices that are compared: the plan's own, and growing from it."""
    counts = (plan.num_devices * step for step in STEPS)
    return [count for count in counts if count <= MAX_DEVICES]


def _count_words(count: int) -> str:
    return ngettext("{count} device", "{count} devices", count).format(count=f"{count:,}")


def plan_sentence(plan: Plan, time: Item, mfu: Item) -> str:
    """Return the headline: what is trained on what, how long, and what it makes of the peak."""
    said = _(
        "{time} at {mfu} MFU: {model} on {tokens} tokens with {count} × {device}; {share} is "
        "compute",
        model=plan.spec.name,
        tokens=token_words(plan.num_tokens),
        count=f"{plan.num_devices:,}",
        device=plan.cluster.device.name,
        time=hedged(format_seconds(time.amount), time),
        mfu=format_percent(mfu.amount),
        share=format_percent(time.child("compute").amount / time.amount),
    )
    return said[:1].upper() + said[1:]


def step_words(plan: Plan) -> str:
    """Return what more devices mean for a step: fewer micro-batches each, then more tokens."""
    same = _("Tokens of one step stay the same, so more devices have fewer micro-batches each.")
    alone = plan.recipe.num_tokens
    most = plan.step_tokens // alone * plan.cluster.ranks_of_a_replica
    if max(counts_from(plan)) <= most:
        return same
    more = _(
        "Beyond {most} devices even one sequence of {length} tokens for each replica makes the "
        "step larger."
    )
    return followed_by(same, more.format(most=f"{most:,}", length=f"{alone:,}"))


def _side(chosen: Chosen, name: str) -> Compared:
    if isinstance(chosen.own, ByRule):
        time, flops, price = _by_rule(chosen, chosen.plan.num_devices)
        rows = [(_("Time"), time), (_("6ND"), flops), (_("Cost"), price)]
        return Compared(name=name, rows=rows, code=_rule_code(chosen))
    plan = overlapped(chosen)
    time = _time(plan, chosen.own)
    parts = [(_(part.name), part) for part in time.children]
    rows = [(_("Time"), time), *parts, (_("MFU"), _mfu(plan, chosen.own))]
    verdict = training_budget(plan.spec, plan.accumulated, plan.cluster).words
    return Compared(name=name, rows=rows, verdict=verdict, code=_plan_code(chosen))


TAB: Final = Tab(
    label=N_("Training time"),
    show=lambda chosen: days(chosen) if isinstance(chosen.own, ByRule) else lines(chosen),
    question=ask_how_long,
    compare=compared(lambda own: own.words, _side),
)
