"""What every device holds: the rank grid, the stages, and the ways to shard the states."""

from collections.abc import Callable, Sequence
from functools import partial

from core.budget.budget import Budget, at_peak
from core.budget.item import Item, hedged
from core.budget.parallel.communication import communication, exposed_seconds
from core.budget.parallel.ranks import RankGrid, rank_grid
from core.budget.parallel.sharding import Sharding, shardings
from core.budget.share import shares
from core.budget.training.memory import training_budget
from core.figures.budget.parallelism.ranks import GridView, ranks_picture
from core.figures.budget.parallelism.stages import sent_text, sharding_picture, stages_picture
from core.language import _
from core.units import format_exact
from pages.plan.parallelism.inputs import ASK, ZERO, Case, note_lengths
from pages.shared import link, page_links
from pages.shared.answer import if_fitted
from pages.shared.plan.choices import SAME_CHOICES
from pages.shared.settings import look
from pages.shared.tabbed_page import Chart, Shown


def ranks(case: Case) -> Shown:
    """Show every rank with the bytes that it holds."""
    note_lengths(case)
    budget = training_budget(case.spec, case.recipe, case.cluster)
    view = GridView(
        grid=rank_grid(case.cluster),
        num_bytes=[stage.num_bytes for stage in budget.stages],
        num_layers=[share.num_layers for share in shares(case.spec, case.cluster)],
        capacity=budget.capacity,
        is_guess=budget.item.guess,
        ranks_of_a_replica=case.cluster.tensor * case.cluster.context,
    )
    drawn = [_ranks_drawn(view.grid, case.cluster.num_devices)] if view.grid.is_cut else []
    return Shown(
        headline=_ranks_sentence(case, budget),
        charts=[Chart(picture=ranks_picture(view, look()), file_name="rank-grid")],
        numbers=_numbers(case, budget),
        beside=_memory_link(case),
        notes=drawn,
        code=case.code,
    )


def _numbers(case: Case, budget: Budget) -> list[tuple[str, Item]]:
    """Return what a device holds, what it sends, and how long that takes."""
    time = if_fitted(_("Communication time"), fits=budget.fits)
    return [
        (_("Peak memory per device"), budget.largest),
        (_("Sent in a step"), communication(case.spec, case.recipe, case.cluster)),
        (time, exposed_seconds(case.spec, case.recipe, case.cluster)),
    ]


def _ranks_sentence(case: Case, budget: Budget) -> str:
    """Return whether it fits, by the device that uses the most memory."""
    return _("{model} on {devices} × {device}: {who}, {held} of {capacity}: {verdict}").format(
        model=case.spec.name,
        devices=format_exact(case.cluster.num_devices),
        device=case.cluster.device.name,
        who=_who_holds_most(case, budget),
        held=hedged(look().format_bytes(budget.item.amount), budget.item),
        capacity=look().format_bytes(budget.capacity),
        verdict=budget.words,
    )


def _who_holds_most(case: Case, budget: Budget) -> str:
    if case.cluster.num_devices == 1:
        return _("it holds everything")
    if case.cluster.pipeline == 1:
        return _("all use equally much memory")
    return _("stage {stage} uses the most memory").format(stage=budget.stages.index(budget.largest))


def _ranks_drawn(grid: RankGrid, num_devices: int) -> str:
    """Return which ranks a large grid shows."""
    parts = []
    if len(grid.rows) < grid.num_stages:
        parts.append(
            _("the first {rows} of {stages} stages").format(
                rows=len(grid.rows), stages=grid.num_stages
            )
        )
    if len(grid.rows[0]) < grid.num_columns:
        parts.append(
            _("the first {columns} of {ranks} ranks of each stage").format(
                columns=len(grid.rows[0]), ranks=format_exact(grid.num_columns)
            )
        )
    return _("Drawn: {parts}; {devices} devices in all.").format(
        parts=_(", ").join(parts), devices=format_exact(num_devices)
    )


def _memory_link(case: Case) -> Callable[[], None] | None:
    """Return what shows the link to the memory page, which shares no sequences and no stages."""
    is_there = case.cluster.context == case.cluster.virtual_stages == 1
    return partial(_open_memory_page, case) if is_there else None


def _open_memory_page(case: Case) -> None:
    """Show a link that opens the memory page in this state."""
    label = _("Open in Training memory →")
    page_links.show_link("plan/training_memory", label, _memory_query(case))


def _memory_query(case: Case) -> dict[str, str]:
    """Return the settings of the memory page that mean the same."""
    cluster, recipe, chosen = case.cluster, case.recipe, link.values()
    settings = {
        **{name: chosen[ASK.key(name)] for name in SAME_CHOICES if ASK.key(name) in chosen},
        "replicas": str(cluster.data),
        "tensor": str(cluster.tensor),
        "stages": str(cluster.pipeline),
        "expert": str(cluster.expert),
        "zero": str(cluster.zero_stage),
        "sequence": str(cluster.sequence_parallel).lower(),
        "precision": recipe.precision,
        "checkpointing": recipe.checkpointing,
        "batch": str(recipe.batch_size),
        "seq": str(recipe.seq_len),
        "accumulation": str(recipe.accumulation),
        "step": recipe.step_kind,
        "profile": recipe.profile,
    }
    return {f"memory_{name}": value for name, value in settings.items()}


def stages(case: Case) -> Shown:
    """Show what a device of each pipeline stage holds at its peak, part by part."""
    note_lengths(case)
    budget = training_budget(case.spec, case.recipe, case.cluster)
    bars = [
        (_("stage {number}").format(number=number), at_peak(stage))
        for number, stage in enumerate(budget.stages)
    ]
    numbers = _numbers(case, budget)
    sent = dict(numbers)[_("Sent in a step")]
    return Shown(
        headline=_stages_sentence(case, budget, sent),
        charts=[Chart(picture=stages_picture(bars, budget.capacity, look()), file_name="stages")],
        numbers=numbers,
        beside=_memory_link(case),
        code=case.code,
    )


def _stages_sentence(case: Case, budget: Budget, sent: Item) -> str:
    """Return what a device of the plan holds at most, and what it sends."""
    amounts = [stage.amount for stage in budget.stages]
    most = max(amounts)
    words = {
        "plan": _("{model} on {count} × {device}").format(
            model=case.spec.name,
            count=format_exact(case.cluster.num_devices),
            device=case.cluster.device.name,
        ),
        "held": hedged(look().format_bytes(most), budget.largest),
        "capacity": look().format_bytes(budget.capacity),
        "sent": hedged(look().format_bytes(sent.amount), sent),
    }
    if most == min(amounts):
        said = _("{plan}: each device holds {held} of {capacity} and sends {sent} in a step")
        return said.format(**words)
    return _(
        "{plan}: a device holds at most {held} of {capacity} (stage {most}) and sends {sent} in a "
        "step"
    ).format(most=amounts.index(most), **words)


def sharding(case: Case) -> Shown:
    """Show DDP, ZeRO and FSDP side by side."""
    note_lengths(case)
    ways = shardings(case.spec, case.recipe, case.cluster)
    chosen = ZERO[case.cluster.zero_stage]
    held = next(way for way in ways if way.key == chosen).held
    picture = sharding_picture(ways, case.cluster.device.memory_usable, chosen, look())
    return Shown(
        headline=_sharding_sentence(ways, case.cluster.weight_ranks),
        charts=[Chart(picture=picture, file_name="sharding")],
        numbers=[
            (_("weights"), held.child("weights")),
            (_("gradients"), held.child("gradients")),
            (_("optimizer"), held.child("optimizer")),
        ],
        code=case.code,
    )


def _sharding_sentence(ways: Sequence[Sharding], num_replicas: int) -> str:
    """Return what DDP and FSDP2 hold and send; one replica has nobody to share with."""
    by_key = {way.key: way for way in ways}
    if num_replicas == 1:
        return _("One replica has nobody to share with: {size} of states in every way").format(
            size=_held(by_key["ddp"])
        )
    parts = [
        _("{way} {size}, {sent}").format(
            way=name,
            size=_held(by_key[key]),
            sent=sent_text(by_key[key], look()),
        )
        for key, name in (("ddp", "DDP"), ("zero3", "FSDP2"))
    ]
    return _("States of one device: {parts}").format(parts=_("; ").join(parts))


def _held(way: Sharding) -> str:
    return hedged(look().format_bytes(way.held.amount), way.held)
