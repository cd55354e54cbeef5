"""Training time: by the rule 6ND and an MFU, or counted, with the MFU that comes out."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

import streamlit as st

from core.budget.budget import Budget
from core.budget.by_hand.rules import flops_rule
from core.budget.cluster import MAX_DEVICES, Cluster
from core.budget.item import Item, hedged
from core.budget.recipe import TrainingRecipe
from core.budget.share import check_split
from core.budget.training.duration import cost, reached_mfu, seconds_item, training_time
from core.budget.training.memory import training_budget
from core.figures.budget.flops_frame import (
    framed,
    log_axis,
    powers,
    rows_of_bars,
    scientific,
    stack,
    stack_table,
    written_beside,
)
from core.figures.picture import Drawing, Look, Picture
from core.language import N_, _, ngettext
from core.language.listing import followed_by
from core.units import format_percent, format_seconds
from pages.plan.flops_and_time.inputs import (
    ASK,
    CHECKPOINTING,
    COUNTS,
    Exact,
    choose_checkpointing,
    choose_dtype,
    choose_the_model,
    decades,
    doublings,
    dtype_name,
    in_python,
    plain,
    settings,
    tell_other_dtype,
)
from pages.plan.flops_and_time.question import ask_how_long
from pages.shared.answer import if_fitted
from pages.shared.beside import Compared, shown, two_names
from pages.shared.plan.choices import ChosenDevice, ChosenModel, choose_device
from pages.shared.settings import look
from pages.shared.tabbed_page import Chart, Shown, Tab

DAY: Final = 86_400
LOW_MFU, HIGH_MFU = 0.3, 0.6
_WIDE: Final = 9  # powers of ten: beyond it every power has one tick
_AROUND: Final = 4  # doublings to either side of the chosen number


def counts_around(num_devices: int) -> list[int]:
    """Return numbers of devices, doubling, around a chosen one.

    >>> counts_around(6)
    [1, 2, 3, 6, 12, 24, 48, 96]
    """
    powers = range(-_AROUND, _AROUND + 1)
    return sorted({max(1, round(num_devices * 2.0**power)) for power in powers})


def days_picture(device_seconds: float, mfu: float, num_devices: int, look: Look) -> Picture:
    """Return the line of the chosen MFU, the band of usual ones, and the chosen point."""
    drawing, counts = Drawing(), counts_around(num_devices)
    here = device_seconds / (mfu * num_devices)
    _draw_band(drawing, counts, device_seconds, look)
    _draw_chosen(drawing, counts, device_seconds, mfu, look)
    drawing.scatter(
        x=[num_devices], y=[here / DAY], mode="markers+text", showlegend=False,
        marker={"color": look.color("forward"), "size": 16, "symbol": "diamond"},
        text=[f"  {format_seconds(here)}"], textposition="top right", hoverinfo="skip",
    )  # fmt: skip
    shown = counts[:: 2 if look.present else 1]
    x = log_axis(shown, "{:,}".format, title=_("devices"))
    y = log_axis(_day_ticks(device_seconds, counts), "{:,.12g}".format, title=_("days"))
    alt = _(
        "Days of training fall in step with the number of devices: {here} with {num_devices}, "
        "{ten} with ten times as many.",
        here=format_seconds(here),
        num_devices=f"{num_devices:,}",
        ten=format_seconds(device_seconds / (mfu * num_devices * 10)),
    )
    columns: dict[str, Sequence[object]] = {_("devices"): [f"{count:,}" for count in counts]}
    for share in dict.fromkeys((LOW_MFU, mfu, HIGH_MFU)):
        name = _("time at an MFU of {mfu}").format(mfu=f"{share:g}")
        columns[name] = [format_seconds(device_seconds / (share * count)) for count in counts]
    return Picture(figure=framed(drawing, look, x=x, y=y), alt=alt, table=columns)


def _draw_band(drawing: Drawing, counts: Sequence[int], device_seconds: float, look: Look) -> None:
    for share, fill in ((LOW_MFU, None), (HIGH_MFU, "tonexty")):
        drawing.scatter(
            x=counts, y=[device_seconds / (share * count * DAY) for count in counts],
            mode="lines", fill=fill, hoverinfo="skip",
            showlegend=fill is not None, name=_("30 to 60 % MFU"),
            line={"color": look.color("estimated"), "width": 1, "dash": "dot"},
        )  # fmt: skip


def _draw_chosen(
    drawing: Drawing, counts: Sequence[int], device_seconds: float, mfu: float, look: Look
) -> None:
    seconds = [device_seconds / (mfu * count) for count in counts]
    drawing.scatter(
        x=counts, y=[each / DAY for each in seconds], mode="lines+markers",
        name=_("{mfu} MFU").format(mfu=format_percent(mfu)),
        line={"color": look.color("forward"), "width": 3},
        marker={"size": 6}, customdata=[format_seconds(each) for each in seconds],
        hovertemplate="%{x:,}: %{customdata}<extra></extra>",
    )  # fmt: skip


def _day_ticks(device_seconds: float, counts: Sequence[int]) -> list[float]:
    """Return ticks over everything that is drawn, from the fastest time to the slowest."""
    ends = (device_seconds / counts[-1] / DAY, 100 * device_seconds / counts[0] / DAY)
    low, high = (math.floor(math.log10(end)) for end in ends)
    digits = (1, 2, 5) if high - low < _WIDE else (1,)
    return [digit * power for power in powers(low, high + 1) for digit in digits]


LOOKS: Final[Mapping[str, tuple[str, str]]] = {
    "compute": ("forward", ""),
    "extra work": ("backward", "/"),
    "communication": ("estimated", "x"),
    "pipeline bubble": ("reference", "."),
}


def lines_picture(times: Mapping[str, Item], look: Look) -> Picture:
    """Return one bar a cluster, cut into what `training_time` gave, its whole time beside it."""
    drawing = Drawing()
    rows = {
        label: {part.name: part.amount for part in time.children} for label, time in times.items()
    }
    stack(drawing, rows, LOOKS, format_seconds, look)
    whole = {label: time.amount for label, time in times.items()}
    x = written_beside(drawing, whole, format_seconds, 1.25)
    said = []
    for label, parts in rows.items():
        others = {_(name): amount for name, amount in parts.items() if name != "compute"}
        most = max(others, key=lambda name: others[name], default="")
        share = f" ({most} {format_percent(others[most] / whole[label])})" if most else ""
        said.append(f"{label} {format_seconds(whole[label])}{share}")
    return Picture(
        figure=rows_of_bars(drawing, look, num_rows=len(rows), x=x),
        alt=_("Breakdown of training time: {rows}.").format(rows=_(", ").join(said)),
        table=stack_table(_("devices"), rows, LOOKS, format_seconds),
    )


SIZES: Final = decades(-1, 3)  # billions of parameters
TEXTS: Final = decades(-2, 1)  # trillions of tokens
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


@dataclass(frozen=True, kw_only=True, slots=True)
class Run:
    """What the reader plans: a model of so many parameters on so many tokens and devices."""

    params: int
    tokens: int
    count: int
    device: ChosenDevice
    dtype: str
    mfu: float
    price: float


def choose_run() -> Run:
    params, tokens, count = _numbers()
    places = [each.place() for each in (params, tokens, count)]
    mfu = ASK.slider("mfu", _("MFU (model FLOPs utilization)"), 0.01, 1.0, default=0.5, step=0.01)
    with settings():
        device = choose_device(ASK)
        dtype = choose_dtype(device.device)
        billions = params.choose(places[0], step=1.0)
        trillions = tokens.choose(places[1], step=1.0)
        num_devices = count.choose(places[2], step=8)
        price = ASK.number("price", _("USD per device-hour"), 0.0, 1000.0, default=2.0, step=0.1)
    tell_other_dtype(device.device, dtype)
    return Run(
        params=round(billions * 1e9), tokens=round(trillions * 1e12), count=num_devices,
        device=device, dtype=dtype, mfu=mfu, price=price,
    )  # fmt: skip


def _numbers() -> tuple[Exact[float], Exact[float], Exact[int]]:
    """Return what is dragged and can be typed: parameters, tokens, devices."""
    return (
        Exact(
            name="params", label=_("Parameters"), typed=_("Parameters (B)"), low=0.001,
            high=100_000.0, default=70.0, stops=SIZES, written=lambda size: f"{plain(size)} B",
        ),
        Exact(
            name="tokens", label=_("Tokens"), typed=_("Tokens (T)"), low=0.000_001,
            high=10_000.0, default=15.0, stops=TEXTS, written=lambda size: f"{plain(size)} T",
        ),
        Exact(
            name="devices", label=_("Devices"), typed=_("Devices"), low=1, high=1_000_000,
            default=1024, stops=COUNTS, written="{:,}".format,
        ),
    )  # fmt: skip


def days(run: Run) -> Shown:
    """Show the days over the number of devices."""
    peak = _run_peak(run)
    time = _run_time(run)
    flops, seconds = flops_rule(run.params, run.tokens), float(time.amount)
    at_peak = float(seconds_item(run.params, run.tokens, 1, peak, 1.0).amount)
    picture = days_picture(at_peak, run.mfu, run.count, look())
    return Shown(
        headline=run_sentence(run, float(flops.amount), seconds),
        charts=[Chart(picture=picture, file_name="training-days")],
        numbers=[
            (_("Time"), time),
            (_("6ND"), flops),
            (_("Cost"), cost(run.count, seconds, run.price)),
        ],
        widths=(4, 1),
        code=_run_code(run),
    )


def _run_time(run: Run) -> Item:
    known = run.device.device.known_of(run.dtype)
    return seconds_item(run.params, run.tokens, run.count, _run_peak(run), run.mfu, known=known)


def _run_peak(run: Run) -> float:
    device = run.device.device
    if peak := device.peak.get(run.dtype, 0.0):
        return peak
    raise ValueError(_("{device} has no known peak: no time").format(device=device.name))


def _run_code(run: Run) -> str:
    return CODE_BY_RULE.format(
        params=f"{run.params:_}", tokens=f"{run.tokens:_}", devices=run.count,
        peak=in_python(_run_peak(run)), device=run.device.device.name, dtype=dtype_name(run.dtype),
        mfu=run.mfu,
    )  # fmt: skip


def _run_words(run: Run) -> list[str]:
    """Return a plan word by word: what tells two of them apart."""
    return [
        f"{plain(run.params / 1e9)} B",
        dtype_name(run.dtype),
        f"{run.count:,} × {run.device.device.name}",
        _("{count} T tokens").format(count=plain(run.tokens / 1e12)),
        _("{mfu} MFU").format(mfu=format_percent(run.mfu)),
    ]


def _run_compared(run: Run, name: str) -> Compared:
    time = _run_time(run)
    price = cost(run.count, float(time.amount), run.price)
    rows = [(_("Time"), time), (_("6ND"), flops_rule(run.params, run.tokens)), (_("Cost"), price)]
    return Compared(name=name, rows=rows, code=_run_code(run))


def run_sentence(run: Run, flops: float, seconds: float) -> str:
    """Return the headline: how many FLOPs, how long, and of which plan."""
    days = seconds / DAY
    return _(
        "Training {params} B parameters on {tokens} T tokens takes {time} on {count} × {device}: "
        "{flops} FLOPs at {mfu} MFU",
        flops=scientific(flops),
        time=_("{days} days").format(days=f"{days:,.1f}") if days >= 2 else format_seconds(seconds),
        params=plain(run.params / 1e9),
        tokens=plain(run.tokens / 1e12),
        count=f"{run.count:,}",
        device=run.device.device.name,
        mfu=format_percent(run.mfu),
    )


LENGTH: Final = 4096  # tokens of a sequence, of models that can read so many
CLUSTERS: Final = doublings(1, 2**14)
SPLITS: Final = (1, 2, 4, 8, 16)
BATCHES: Final = doublings(2**16, 2**26)
STEPS: Final = (1, 4, 16, 64)  # how the cluster grows from bar to bar
CODE_COUNTED: Final = """
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
    """A training run on a cluster."""

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
        return self.trillions * 1e12


def choose_plan() -> Plan:
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
    """Show the time of the chosen cluster and of larger ones."""
    spec, cluster = plan.model.spec, _cluster(plan)
    rows = [_cluster_row(plan, cluster, count) for count in counts_from(cluster)]
    time, recipe = rows[0][1], spread(plan.recipe, cluster, plan.batch)
    mfu = reached_mfu(spec, recipe, cluster, plan.tokens, float(time.amount))
    step = step_words(plan, cluster)
    budget = training_budget(spec, recipe, cluster)
    memory = memory_words(budget)
    parts = [(if_fitted(_(part.name), fits=budget.fits), part) for part in time.children]
    return Shown(
        headline=if_fitted(plan_sentence(plan, time, mfu), fits=budget.fits),
        charts=[Chart(picture=lines_picture(rows, look()), file_name="training-time")],
        numbers=[*parts, (_("MFU"), mfu)],
        widths=(4, 1),
        notes=[followed_by(memory, step) if memory else step],
        code=_plan_code(plan, recipe),
    )


def _cluster(plan: Plan) -> Cluster:
    cluster = Cluster(device=plan.device.device, num_devices=plan.count, **plan.layout)
    check_split(plan.model.spec, cluster)
    return cluster


def _plan_code(plan: Plan, recipe: TrainingRecipe) -> str:
    layout = ", ".join(f"{name}={value}" for name, value in plan.layout.items())
    return CODE_COUNTED.format(
        model=plan.model.code, recipe=recipe, device=plan.device.code,
        cluster=f"num_devices={plan.count}, {layout}", tokens=plan.tokens, share=plan.share,
    )  # fmt: skip


def _plan_words(plan: Plan) -> list[str]:
    """Return a plan word by word: what tells two of them apart."""
    layout = plan.layout
    return [
        plan.model.spec.name,
        f"{plan.count:,} × {plan.device.device.name}",
        f"TP {layout['tensor']} · PP {layout['pipeline']} · ZeRO {layout['zero_stage']}",
        _("{count} T tokens").format(count=plain(plan.trillions)),
        _("checkpointing: {kind}").format(kind=_(CHECKPOINTING[plan.recipe.checkpointing])),
    ]


def _plan_compared(plan: Plan, name: str) -> Compared:
    cluster = _cluster(plan)
    _label, time = _cluster_row(plan, cluster, plan.count)
    recipe = spread(plan.recipe, cluster, plan.batch)
    mfu = reached_mfu(plan.model.spec, recipe, cluster, plan.tokens, float(time.amount))
    parts = [(_(part.name), part) for part in time.children]
    rows = [(_("Time"), time), *parts, (_("MFU"), mfu)]
    verdict = training_budget(plan.model.spec, recipe, cluster).words
    return Compared(name=name, rows=rows, verdict=verdict, code=_plan_code(plan, recipe))


def counts_from(cluster: Cluster) -> list[int]:
    """Return the numbers of devices that are compared: the chosen one, and growing from it."""
    counts = (cluster.num_devices * step for step in STEPS)
    return [count for count in counts if count <= MAX_DEVICES]


def spread(recipe: TrainingRecipe, cluster: Cluster, batch: int) -> TrainingRecipe:
    """Return the recipe with as many micro-batches as make a step of about `batch` tokens."""
    micro = recipe.num_tokens * cluster.data
    return replace(recipe, accumulation=max(1, batch // micro))


def _cluster_row(plan: Plan, cluster: Cluster, count: int) -> tuple[str, Item]:
    """Return in words so many devices, and their time; each replica is split as in the cluster."""
    grown = replace(cluster, num_devices=count)
    recipe = spread(plan.recipe, grown, plan.batch)
    time = training_time(plan.model.spec, recipe, grown, plan.tokens, plan.share)
    label = ngettext("{count} device", "{count} devices", count)
    return label.format(count=f"{count:,}"), time


def plan_sentence(plan: Plan, time: Item, mfu: Item) -> str:
    """Return the headline: what is trained on what, how long, and what it makes of the peak."""
    said = _(
        "{time} at {mfu} MFU: {model} on {tokens} T tokens with {count} × {device}; {share} is "
        "compute",
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


def choose_time() -> Run | Plan:
    """Show whether time is worked out by the rule or counted, and the inputs of that."""
    words = {"rule": _("6ND rule"), "model": _("a model's step")}
    way = ASK.segmented(
        "from", _("FLOPs from"), tuple(words), default="rule", labels=words.__getitem__
    )
    return choose_run() if way == "rule" else choose_plan()


def training_time_of(wanted: Run | Plan) -> Shown:
    return days(wanted) if isinstance(wanted, Run) else lines(wanted)


def two_times(a: Sequence[Run | Plan], b: Sequence[Run | Plan]) -> Shown:
    both = (*a, *b)
    words = [_run_words(x) if isinstance(x, Run) else _plan_words(x) for x in both]
    compared = [
        _run_compared(x, name) if isinstance(x, Run) else _plan_compared(x, name)
        for x, name in zip(both, two_names(*words), strict=True)
    ]
    return shown(*compared)


TAB: Final = Tab(
    label=N_("Training time"),
    choose=choose_time,
    show=training_time_of,
    question=ask_how_long,
    compare=two_times,
)
