"""Time on links, and time in a pipeline."""

from typing import Final, get_args

import streamlit as st

from core.budget.item import Item, total
from core.budget.parallel.communication import exposed_seconds
from core.budget.parallel.pipeline import bubble_seconds, schedule
from core.budget.parallel.ranks import Axis, group
from core.budget.training.duration import training_time
from core.figures.budget.parallelism.link_bars import LinkView, link_alt, link_figure, link_table
from core.figures.budget.parallelism.schedule_chart import (
    schedule_alt,
    schedule_figure,
    schedule_table,
)
from core.language import _
from pages.budget.parallelism.inputs import PAGE, Case
from pages.budget.parallelism.words import (
    bars_said,
    links_headline,
    schedule_drawn,
    schedule_headline,
)
from pages.shared.budget.beside import beside
from pages.shared.charts import show_chart
from pages.shared.header import headline
from pages.shared.numbers import explained_number
from pages.shared.settings import presenting, theme_mode, unit_system

REACHED: Final = 0.5  # of the peak, while products run
MOST_STAGES: Final = 16
MOST_MICROBATCHES: Final = 32


def link_view(case: Case) -> LinkView:
    """Return the seconds of one step on each link, and those of compute."""
    cluster, recipe = case.cluster, case.recipe
    tokens = cluster.data * recipe.num_tokens * recipe.accumulation
    time = training_time(case.spec, recipe, cluster, tokens, REACHED)
    return LinkView(
        seconds=exposed_seconds(case.spec, recipe, cluster),
        links={axis: group(cluster, axis).link_name for axis in get_args(Axis)},
        compute=_busy(time),
    )


def _busy(time: Item) -> Item:
    """Return the time of the products, recomputed ones with them."""
    parts = [part for part in time.children if part.name in ("compute", "extra work")]
    return total("compute", parts, source=parts[0].source) if len(parts) > 1 else parts[0]


def show_links(case: Case) -> None:
    """Show what each link takes in a step, beside compute at half of the peak."""
    view = link_view(case)
    headline(links_headline(case, view))
    picture, numbers = beside(f"{PAGE}_links")
    with picture:
        show_chart(
            link_figure(view, unit_system(), theme_mode(), present=presenting()),
            key=f"{PAGE}_links",
            alt=link_alt(view, unit_system()),
            table=link_table(view, unit_system()),
            file_name="links",
        )
        st.caption(bars_said(REACHED, case.cluster.overlap))
    with numbers:
        explained_number(_("Time on links"), view.seconds)
        explained_number(_("Compute"), view.compute)


def show_schedule(case: Case) -> None:
    """Show who works when in a pipeline, and the bubble."""
    stages, batches = case.cluster.pipeline, case.recipe.accumulation
    compute = link_view(case).compute  # first: without a peak there is nothing to show
    drawn = schedule(min(stages, MOST_STAGES), min(batches, MOST_MICROBATCHES))
    headline(schedule_headline(stages, batches))
    picture, numbers = beside(f"{PAGE}_schedule")
    with picture:
        show_chart(
            schedule_figure(drawn, theme_mode(), present=presenting()),
            key=f"{PAGE}_schedule",
            alt=schedule_alt(drawn),
            table=schedule_table(drawn),
            file_name="schedule",
        )
        if (len(drawn), len(drawn[0]) // 2) != (stages, batches):
            st.caption(schedule_drawn(drawn))
    with numbers:
        explained_number(_("Compute"), compute)
        explained_number(_("Bubble"), bubble_seconds(case.cluster, batches, compute.amount))
