"""What every device holds: the rank grid, the stages, and the ways to shard the states."""

from typing import Final

import streamlit as st

from core.budget.at_peak import at_peak
from core.budget.budget import Budget
from core.budget.parallel.communication import communication, exposed_seconds
from core.budget.parallel.rank_grid import MAX_COLUMNS, rank_grid
from core.budget.parallel.sharding import shardings
from core.budget.parallel.shares import shares
from core.budget.training.training_budget import training_budget
from core.figures.budget.rank_grid import (
    GridView,
    rank_grid_alt,
    rank_grid_figure,
    rank_grid_table,
)
from core.figures.budget.sharding_bars import (
    sent_text,
    sharding_alt,
    sharding_figure,
    sharding_table,
)
from core.figures.budget.stage_bars import stage_alt, stage_figure, stage_table
from core.language import _
from core.units import format_bytes, format_exact
from pages.panels.budget.beside import beside
from pages.panels.budget.parallel.inputs import PAGE, ZERO, Case
from pages.panels.budget.parallel.to_memory import open_memory_page
from pages.shared.charts import show_chart
from pages.shared.header import headline
from pages.shared.numbers import explained_number
from pages.shared.settings import presenting, theme_mode, unit_system

MOST_STAGES: Final = 32


def show_ranks(case: Case) -> None:
    """Show every rank with the bytes that it holds."""
    budget = training_budget(case.spec, case.recipe, case.cluster)
    sent = communication(case.spec, case.recipe, case.cluster)
    view = _grid_view(case, budget)
    headline(_ranks_headline(case, budget))
    picture, numbers = beside(f"{PAGE}_ranks")
    with picture:
        show_chart(
            rank_grid_figure(view, unit_system(), theme_mode(), present=presenting()),
            key=f"{PAGE}_ranks",
            alt=rank_grid_alt(view, unit_system()),
            table=rank_grid_table(view, unit_system()),
            file_name="rank-grid",
        )
        if view.grid.is_cut:
            st.caption(
                _(
                    "Drawn: the first {columns} ranks of each stage; {devices} devices in all."
                ).format(
                    columns=min(MAX_COLUMNS, view.grid.num_columns),
                    devices=format_exact(case.cluster.num_devices),
                )
            )
    with numbers:
        explained_number(_("Most on a device"), budget.largest)
        explained_number(_("Sent in a step"), sent)
        explained_number(_("Time on links"), exposed_seconds(case.spec, case.recipe, case.cluster))
        open_memory_page(case)


def _ranks_headline(case: Case, budget: Budget) -> str:
    words = {
        "fits": _("it fits"),
        "close": _("it may fit"),
        "too_big": _("it does not fit"),
    }
    return _(
        "{model} on {devices} × {device}: a device of stage {stage} holds most, {held} of "
        "{capacity}: {verdict}"
    ).format(
        model=f"`{case.spec.name}`",
        devices=format_exact(case.cluster.num_devices),
        device=case.device.device.name,
        stage=budget.stages.index(budget.largest),
        held=format_bytes(budget.item.amount, unit_system()),
        capacity=format_bytes(budget.capacity, unit_system()),
        verdict=words[budget.verdict],
    )


def _grid_view(case: Case, budget: Budget) -> GridView:
    return GridView(
        grid=rank_grid(case.cluster),
        num_bytes=[stage.num_bytes for stage in budget.stages],
        num_layers=[share.num_layers for share in shares(case.spec, case.cluster)],
        capacity=budget.capacity,
        tensor=case.cluster.tensor,
    )


def show_stages(case: Case) -> None:
    """Show what a device of each pipeline stage holds at its peak, part by part."""
    budget = training_budget(case.spec, case.recipe, case.cluster)
    amounts = [stage.amount for stage in budget.stages]
    headline(
        _("Stage {most} holds {largest}, stage {least} {smallest}: {ratio} times as much").format(
            most=amounts.index(max(amounts)),
            largest=format_bytes(max(amounts), unit_system()),
            least=amounts.index(min(amounts)),
            smallest=format_bytes(min(amounts), unit_system()),
            ratio=f"{max(amounts) / min(amounts):.2f}",
        )
    )
    bars = [
        (_("stage {number}").format(number=number), at_peak(stage))
        for number, stage in enumerate(budget.stages[:MOST_STAGES])
    ]
    show_chart(
        stage_figure(bars, budget.capacity, unit_system(), theme_mode(), present=presenting()),
        key=f"{PAGE}_stages_held",
        alt=stage_alt(bars, budget.capacity, unit_system()),
        table=stage_table(bars, unit_system()),
        file_name="stages",
    )


def show_sharding(case: Case) -> None:
    """Show DDP, ZeRO and FSDP side by side."""
    ways = shardings(case.spec, case.recipe, case.cluster)
    by_key = {way.key: way for way in ways}
    parts = [
        _("{way} {size}, {sent}").format(
            way=name,
            size=format_bytes(by_key[key].held.amount, unit_system()),
            sent=sent_text(by_key[key], unit_system()),
        )
        for key, name in (("ddp", "DDP"), ("zero3", "FSDP2"))
    ]
    headline(_("States of one device: {parts}").format(parts=_("; ").join(parts)))
    capacity = case.device.device.memory_usable
    chosen = ZERO[case.cluster.zero_stage]
    picture, numbers = beside(f"{PAGE}_sharding")
    with picture:
        show_chart(
            sharding_figure(
                ways, capacity, unit_system(), theme_mode(), chosen=chosen, present=presenting()
            ),
            key=f"{PAGE}_sharding",
            alt=sharding_alt(ways, unit_system()),
            table=sharding_table(ways, unit_system()),
            file_name="sharding",
        )
    with numbers:
        for name, part in (
            (_("Weights"), "weights"),
            (_("Gradients"), "gradients"),
            (_("Optimizer"), "optimizer"),
        ):
            explained_number(name, by_key[chosen].held.child(part))
