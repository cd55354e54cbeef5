"""The ranks of a run side by side: what each holds, how long it speaks, and what was predicted."""

from collections.abc import Sequence
from math import ceil
from typing import Final

import streamlit as st

from core.figures.picture import Table
from core.language import N_, _
from core.train.run.ranks import RankRow, predicted_sent, read_newest_rows
from core.train.run.state import FINAL_STATES
from core.units import format_bytes, format_percent, format_seconds
from pages.shared.charts import show_table
from pages.shared.page_links import show_link
from pages.shared.settings import unit_system
from pages.train.live_run.shown_run import ShownRun

_LOOK_AGAIN: Final = 3.0
_COLUMNS: Final = (
    *(N_("weights"), N_("gradients"), N_("optimizer"), N_("activations"), N_("other"), N_("peak")),
)


def offer_ranks(shown: ShownRun) -> None:
    """Show the ranks of a run of several processes, and follow them while it trains."""
    if rows := read_newest_rows(shown.run.directory):
        lives = shown.run.state not in FINAL_STATES
        title = _("{count} ranks side by side").format(count=rows[0].count)
        with st.expander(title, key="lr_ranks", icon=":material/account_tree:"):
            st.fragment(_ranks, run_every=_LOOK_AGAIN if lives else None)(shown)


def _ranks(shown: ShownRun) -> None:
    if rows := read_newest_rows(shown.run.directory):
        show_table(ranks_table(rows))
        st.caption(ranks_text(shown, rows))
        show_link("plan/parallelism", _("What goes between the ranks →"), {})


def ranks_table(rows: Sequence[RankRow]) -> Table:
    unit = unit_system()
    held = {_(name): [format_bytes(getattr(row, name), unit) for row in rows] for name in _COLUMNS}
    return {
        _("rank"): [str(row.rank) for row in rows],
        **held,
        _("step"): [format_seconds(row.step_seconds) for row in rows],
        _("communication"): [
            f"{format_seconds(row.communication_seconds)} "
            f"({format_percent(row.communication_seconds / row.step_seconds)})"
            for row in rows
        ],
    }


def ranks_text(shown: ShownRun, rows: Sequence[RankRow]) -> str:
    first = rows[0]
    config, resolved = shown.config, shown.run.info.get("resolved") or {}
    num_params = int((shown.run.info.get("prediction") or {}).get("num_params") or 0)
    num_bytes = 2 if str(resolved.get("precision", "")).startswith("pure") else 4
    sent = predicted_sent(
        num_params,
        num_bytes,
        count=first.count,
        sharding=first.sharding,
        passes=config.accumulation_steps if config else 1,
    )
    parts = first.count if first.sharding == "fsdp2" else 1
    told = _(
        "Step {step}, {sharding}. Parallelism predicts for each rank {weights} of weights and as "
        "much of gradients, and {sent} sent in a step ({formula}). Communication includes waiting "
        "for slower ranks."
    ).format(
        step=first.step,
        sharding={"ddp": "DDP", "fsdp2": "FSDP2"}[first.sharding],
        weights=format_bytes(ceil(num_params / parts) * num_bytes, unit_system()),
        sent=format_bytes(sent.amount, unit_system()),
        formula=sent.substituted,
    )
    if resolved.get("device") == "cpu" and first.sharding == "fsdp2":
        told += " " + _("Gloo makes an all-reduce of each reduce-scatter, and so sends more.")
    return told
