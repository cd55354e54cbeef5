"""The same tensor in many ways: all formats, all scale rules, all group sizes, and NF4."""

from typing import Final

import streamlit as st

from core.dtypes.blocks.block_formats import BLOCK_FORMATS
from core.dtypes.blocks.block_layout import PER_TENSOR
from core.dtypes.blocks.storage import has_scale_rule
from core.figures.dtypes.quantization.group_curve import group_alt, group_figure, group_table
from core.figures.dtypes.quantization.nf4_quantiles import nf4_alt, nf4_figure, nf4_table
from core.figures.dtypes.quantization.scale_rule_plot import rule_alt, rule_figure, rule_table
from core.figures.dtypes.quantization.sqnr_plot import sqnr_alt, sqnr_figure, sqnr_table
from core.language import _
from core.units import format_decibels
from pages.dtypes.quantization.chosen import PAGE
from pages.dtypes.quantization.inputs import Case, qualities
from pages.dtypes.quantization.trials import (
    Pair,
    code_use_of,
    rules_of,
    sizes_of,
    standing_of,
)
from pages.shared.charts import show_chart
from pages.shared.header import headline
from pages.shared.settings import presenting, theme_mode

MX_NAMES: Final = tuple(name for name in BLOCK_FORMATS if has_scale_rule(name))


def show_standing(case: Case) -> None:
    """Show quality against size for all formats."""
    with st.spinner(_("Trying every format on this tensor…")):
        trials = standing_of(case.chosen.x, case.pair)
    first, second = (storage.name for storage in case.pair)
    found = {trial.name: trial for trial in trials}
    shown = [found[name] for name in dict.fromkeys((first, second))]
    headline(qualities([(each.name, each.sqnr_db, each.bits, each.lost_share) for each in shown]))
    show_chart(
        sqnr_figure(trials, (first, second), theme_mode(), present=presenting()),
        key=f"{PAGE}_standing",
        alt=sqnr_alt(trials, (first, second)),
        table=sqnr_table(trials),
        file_name="sqnr-against-bits",
    )


def show_rules(case: Case) -> None:
    """Show what the four scale rules do to an MX format: A or B, if one of them is MX."""
    name = rule_format(case.pair)
    trials = rules_of(case.chosen.x, name)
    found = {trial.rule: trial for trial in trials}
    headline(
        _(
            "{name}: `floor` turns the largest value {largest} into {floor} ({floor_db}), "
            "`rceil` into {rceil} ({rceil_db})"
        ).format(
            name=f"`{name}`",
            largest=f"{found['floor'].largest:.4g}",
            floor=f"{found['floor'].largest_restored:.4g}",
            floor_db=format_decibels(found["floor"].stats.sqnr_db),
            rceil=f"{found['rceil'].largest_restored:.4g}",
            rceil_db=format_decibels(found["rceil"].stats.sqnr_db),
        )
    )
    show_chart(
        rule_figure(trials, theme_mode(), present=presenting()),
        key=f"{PAGE}_rules",
        alt=rule_alt(trials),
        table=rule_table(trials),
        file_name="scale-rules",
    )


def rule_format(pair: Pair) -> str:
    """Return the MX format whose scale rules are compared: A or B, else the first one."""
    names = [storage.name for storage in pair if storage.name in MX_NAMES]
    return names[0] if names else MX_NAMES[0]


def show_groups(case: Case) -> None:
    """Show quality over the number of values that share a scale."""
    with st.spinner(_("Trying every group size on this tensor…")):
        trials = sizes_of(case.chosen.x)
    found = {(trial.family, trial.size): trial for trial in trials}
    whole = found["int8_group128", PER_TENSOR]
    group = found["int8_group128", case.group]
    headline(
        _(
            "int8: {whole} with one scale for the tensor, {group} in groups of {size} "
            "at {bits} bits per value"
        ).format(
            whole=format_decibels(whole.sqnr_db),
            group=format_decibels(group.sqnr_db),
            size=case.group,
            bits=f"{group.bits:.4g}",
        )
    )
    show_chart(
        group_figure(trials, case.group, theme_mode(), present=presenting()),
        key=f"{PAGE}_groups",
        alt=group_alt(trials, case.group),
        table=group_table(trials),
        file_name="group-sizes",
    )


def show_nf4(case: Case) -> None:
    """Show where the codes of NF4 come from, how they are used, and double quantization."""
    use, (plain, double) = code_use_of(case.chosen.x)
    headline(
        _(
            "NF4: {plain} at {plain_bits} bits per value; with double quantization {double} "
            "at {double_bits}"
        ).format(
            plain=format_decibels(plain.sqnr_db),
            plain_bits=f"{plain.bits:.4g}",
            double=format_decibels(double.sqnr_db),
            double_bits=f"{double.bits:.4g}",
        )
    )
    show_chart(
        nf4_figure(use, theme_mode(), present=presenting()),
        key=f"{PAGE}_nf4",
        alt=nf4_alt(use),
        table=nf4_table(use),
        file_name="nf4",
    )
    st.caption(
        _(
            "A block of 64 adds 32 bits for its scale: 4 + 32/64 = 4.5. Stored twice, the scale "
            "takes 8 bits, and 256 scales share 32 more: 4 + 8/64 + 32/(64 × 256) = 4.127."
        )
    )
