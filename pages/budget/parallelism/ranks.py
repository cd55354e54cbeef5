"""What every device holds: the rank grid, the stages, and the ways to shard the states."""

import streamlit as st

from core.budget.budget import Budget, at_peak
from core.budget.parallel.communication import communication, exposed_seconds
from core.budget.parallel.ranks import rank_grid
from core.budget.parallel.sharding import Sharding, shardings
from core.budget.share import shares
from core.budget.training.memory import training_budget
from core.figures.budget.parallelism.rank_grid import (
    GridView,
    rank_grid_alt,
    rank_grid_figure,
    rank_grid_table,
)
from core.figures.budget.parallelism.sharding_bars import (
    sharding_alt,
    sharding_figure,
    sharding_table,
)
from core.figures.budget.parallelism.stage_bars import stage_alt, stage_figure, stage_table
from core.language import _
from pages.budget.parallelism.inputs import PAGE, ZERO, Case
from pages.budget.parallelism.to_memory import open_memory_page
from pages.budget.parallelism.words import (
    ranks_drawn,
    ranks_headline,
    sharding_headline,
    stages_headline,
)
from pages.shared.budget.beside import beside
from pages.shared.charts import show_chart
from pages.shared.header import headline
from pages.shared.numbers import explained_number
from pages.shared.settings import presenting, theme_mode, unit_system


def show_ranks(case: Case) -> None:
    """Show every rank with the bytes that it holds."""
    budget = training_budget(case.spec, case.recipe, case.cluster)
    view = _grid_view(case, budget)
    headline(ranks_headline(case, budget))
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
            st.caption(ranks_drawn(view.grid, case.cluster.num_devices))
    with numbers:
        explained_number(_("Most on a device"), budget.largest)
        explained_number(_("Sent in a step"), communication(case.spec, case.recipe, case.cluster))
        explained_number(_("Time on links"), exposed_seconds(case.spec, case.recipe, case.cluster))
        open_memory_page(case)


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
    headline(stages_headline([stage.amount for stage in budget.stages]))
    bars = [
        (_("stage {number}").format(number=number), at_peak(stage))
        for number, stage in enumerate(budget.stages)
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
    chosen = ZERO[case.cluster.zero_stage]
    headline(sharding_headline(ways, case.cluster.data))
    picture, numbers = beside(f"{PAGE}_sharding")
    with picture:
        show_chart(
            sharding_figure(
                ways,
                case.device.device.memory_usable,
                unit_system(),
                theme_mode(),
                chosen=chosen,
                present=presenting(),
            ),
            key=f"{PAGE}_sharding",
            alt=sharding_alt(ways, unit_system()),
            table=sharding_table(ways, unit_system()),
            file_name="sharding",
        )
    with numbers:
        _show_states(next(way for way in ways if way.key == chosen))


def _show_states(way: Sharding) -> None:
    for name, part in (
        (_("Weights"), "weights"),
        (_("Gradients"), "gradients"),
        (_("Optimizer"), "optimizer"),
    ):
        explained_number(name, way.held.child(part))
