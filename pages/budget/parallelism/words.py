"""Sentences about a split over devices, true with one device as with a thousand."""

from collections.abc import Sequence

from core.budget.budget import Budget
from core.budget.parallel.pipeline import Slot, waiting_share
from core.budget.parallel.ranks import RankGrid
from core.budget.parallel.sharding import Sharding
from core.figures.budget.parallelism.link_bars import LinkView
from core.figures.budget.parallelism.schedule_chart import batches_text, stages_text
from core.figures.budget.parallelism.sharding_bars import sent_text
from core.language import _, ngettext
from core.units import format_bytes, format_exact, format_percent, format_seconds
from pages.budget.parallelism.inputs import Case
from pages.shared.settings import unit_system


def ranks_headline(case: Case, budget: Budget) -> str:
    """Return whether it fits, by the device that holds most."""
    words = {
        "fits": _("it fits"),
        "close": _("it may fit"),
        "too_big": _("it does not fit"),
    }
    return _("{model} on {devices} × {device}: {who}, {held} of {capacity}: {verdict}").format(
        model=f"`{case.spec.name}`",
        devices=format_exact(case.cluster.num_devices),
        device=case.device.device.name,
        who=_who_holds_most(case, budget),
        held=format_bytes(budget.item.amount, unit_system()),
        capacity=format_bytes(budget.capacity, unit_system()),
        verdict=words[budget.verdict],
    )


def _who_holds_most(case: Case, budget: Budget) -> str:
    if case.cluster.num_devices == 1:
        return _("it holds everything")
    if case.cluster.pipeline == 1:
        return _("each holds equally much")
    return _("a device of stage {stage} holds most").format(
        stage=budget.stages.index(budget.largest)
    )


def ranks_drawn(grid: RankGrid, num_devices: int) -> str:
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


def stages_headline(amounts: Sequence[float]) -> str:
    """Return how far the stages are from being equal."""
    most, least = max(amounts), min(amounts)
    if most == least:
        return ngettext(
            "One stage: each device holds {size}",
            "All {count} stages hold {size} on each device",
            len(amounts),
        ).format(count=len(amounts), size=format_bytes(most, unit_system()))
    return _(
        "Stage {most} holds {largest}, stage {least} {smallest}: {ratio} times as much"
    ).format(
        most=amounts.index(most),
        largest=format_bytes(most, unit_system()),
        least=amounts.index(least),
        smallest=format_bytes(least, unit_system()),
        ratio=f"{most / least:.2f}",
    )


def sharding_headline(ways: Sequence[Sharding], num_replicas: int) -> str:
    """Return what DDP and FSDP2 hold and send; one replica has nobody to share with."""
    by_key = {way.key: way for way in ways}
    if num_replicas == 1:
        return _("One replica has nobody to share with: {size} of states in every way").format(
            size=format_bytes(by_key["ddp"].held.amount, unit_system())
        )
    parts = [
        _("{way} {size}, {sent}").format(
            way=name,
            size=format_bytes(by_key[key].held.amount, unit_system()),
            sent=sent_text(by_key[key], unit_system()),
        )
        for key, name in (("ddp", "DDP"), ("zero3", "FSDP2"))
    ]
    return _("States of one device: {parts}").format(parts=_("; ").join(parts))


def links_headline(case: Case, view: LinkView) -> str:
    """Return what a device of the slowest stage sends, and how long that and compute take."""
    sent = sum(
        line.values["num_bytes"] for line in view.seconds.walk() if line.rule and line.values
    )
    values = {
        "size": format_bytes(sent, unit_system()),
        "seconds": format_seconds(view.seconds.amount),
        "compute": format_seconds(view.compute.amount),
    }
    if not sent:
        return _("One device sends nothing: {compute} of compute in a step").format(**values)
    if case.cluster.pipeline == 1:
        return _(
            "In a step a device sends {size}: {seconds} on links, {compute} of compute"
        ).format(**values)
    return _(
        "In a step a device of the slowest stage sends {size}: {seconds} on links, {compute} of "
        "compute"
    ).format(**values)


def bars_said(reached: float, overlap: float) -> str:
    """Return what the bars of the links are."""
    said = _(
        "Bars are the data sheet's bandwidth; the thin lines reach to what small messages "
        "make of it. Compute is at {reached} of the peak."
    ).format(reached=format_percent(reached))
    if not overlap:
        return said
    hidden = _("Of all communication {share} is hidden behind compute and not drawn.")
    return f"{said} {hidden.format(share=format_percent(overlap))}"


def schedule_headline(stages: int, batches: int) -> str:
    """Return how long a stage waits."""
    if stages == 1:
        return _("One stage has nobody to wait for: there is no pipeline and no bubble")
    return _("{stages}, {batches}: each stage waits {idle} of the time").format(
        stages=stages_text(stages),
        batches=batches_text(batches),
        idle=format_percent(waiting_share(stages, batches)),
    )


def schedule_drawn(drawn: tuple[tuple[Slot, ...], ...]) -> str:
    """Return how much of a long schedule is shown."""
    return _("Drawn with {stages} and {batches}, to be seen.").format(
        stages=stages_text(len(drawn)), batches=batches_text(len(drawn[0]) // 2)
    )
