"""The tab of time in lines: compute, extra work, communication and bubble, device by device."""

from dataclasses import replace
from typing import Final, cast

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from core.budget.cluster import MAX_DEVICES, Cluster
from core.budget.compute.training_time import reached_mfu, training_time
from core.budget.item import Item
from core.budget.recipe import Checkpointing, TrainingRecipe
from core.figures.budget.time_lines import time_lines, time_lines_alt, time_lines_table
from core.language import _
from core.models.spec import ModelSpec
from core.units import format_percent, format_seconds
from pages.panels.budget.flops import places
from pages.panels.budget.flops.places import PAGE
from pages.shared import pickers
from pages.shared.charts import show_chart
from pages.shared.header import headline
from pages.shared.numbers import explained_number
from pages.shared.settings import presenting, theme_mode

POWERS: Final = tuple(2**power for power in range(15))
SPLITS: Final = (1, 2, 4, 8, 16)
STEPS: Final = (1, 4, 16, 64)  # how the cluster grows from bar to bar
BATCHES: Final = tuple(2**power for power in range(16, 27))
CODE: Final = """
from core.budget.catalogue.models import MODELS
from core.budget.cluster import Cluster
from core.budget.catalogue.devices import DEVICES, custom_device, local_device
from core.budget.catalogue.hf_config import read_config
from core.budget.recipe import TrainingRecipe
from core.budget.compute.training_time import reached_mfu, training_time
from core.machine import probe_machine

spec, recipe = {model}, {recipe!r}
cluster = Cluster(device={device}, {cluster})
time = training_time(spec, recipe, cluster, {tokens}, {share})
for line in time.children:
    print(f"{{line.name:16}} {{line.amount / 86_400:10,.2f}} days")
print(f"MFU {{reached_mfu(spec, recipe, cluster, {tokens}, time.amount).amount:.1%}}")
"""


def show_lines(row: DeltaGenerator) -> str:
    """Show the tab and return the code of its number."""
    with row:
        chosen = places.model()
        count = pickers.select_slider(
            PAGE, "cluster", _("Devices"), POWERS, default=64, labels=lambda n: f"{n:,}"
        )
        with places.aside() as box:
            device = places.device()
        with places.settings(box):
            layout = _layout()
            recipe, batch = _recipe()
            share = pickers.slider(
                PAGE, "share", _("Share of the peak that products reach"), 0.05, 1.0,
                default=0.6, step=0.05,
            )  # fmt: skip
            trillions = pickers.number(
                PAGE, "seen", _("Tokens in T"), 0.000_001, 10_000.0, default=1.0, step=1.0
            )
    cluster_code = f"num_devices={count}, " + ", ".join(f"{k}={v}" for k, v in layout.items())
    tokens = trillions * 1e12
    try:
        cluster = Cluster(device=device.device, num_devices=count, **layout)  # type: ignore[arg-type]
        rows = _rows(chosen.spec, recipe, cluster, batch, tokens, share)
    except ValueError as error:
        headline(str(error))
        return ""
    first, recipe = rows[0][1], spread(recipe, cluster, batch)
    mfu = reached_mfu(chosen.spec, recipe, cluster, tokens, float(first.amount))
    headline(
        _("{model} on {tokens} T tokens with {count} × {device}: {time}, an MFU of {mfu}").format(
            model=chosen.spec.name,
            tokens=f"{trillions:,g}",
            count=f"{count:,}",
            device=device.device.name,
            time=format_seconds(first.amount),
            mfu=format_percent(mfu.amount),
        )
    )
    _show(rows, mfu)
    return CODE.format(
        model=chosen.code, recipe=recipe, device=device.code, cluster=cluster_code,
        tokens=tokens, share=share,
    )  # fmt: skip


def spread(recipe: TrainingRecipe, cluster: Cluster, batch: int) -> TrainingRecipe:
    """Return the recipe with as many micro-batches as make a step of about `batch` tokens."""
    micro = recipe.num_tokens * cluster.data
    return replace(recipe, accumulation=max(1, batch // micro))


def _rows(
    spec: ModelSpec,
    recipe: TrainingRecipe,
    cluster: Cluster,
    batch: int,
    tokens: float,
    share: float,
) -> list[tuple[str, Item]]:
    rows = []
    for step in STEPS:
        if cluster.num_devices * step > MAX_DEVICES:
            break
        grown = replace(cluster, num_devices=cluster.num_devices * step)
        time = training_time(spec, spread(recipe, grown, batch), grown, tokens, share)
        rows.append((_("{count} devices").format(count=f"{grown.num_devices:,}"), time))
    return rows


def _layout() -> dict[str, object]:
    return {
        "tensor": pickers.select_slider(
            PAGE, "tensor", _("Tensor-parallel ranks"), SPLITS, default=1
        ),
        "pipeline": pickers.select_slider(
            PAGE, "pipeline", _("Pipeline stages"), SPLITS, default=1
        ),
        "zero_stage": pickers.segmented(
            PAGE, "zero", _("ZeRO stage"), (0, 1, 2, 3), default=3
        ),
        "overlap": pickers.slider(
            PAGE, "overlap", _("Communication hidden behind compute"), 0.0, 1.0,
            default=0.5, step=0.05,
        ),
    }  # fmt: skip


def _recipe() -> tuple[TrainingRecipe, int]:
    batch = pickers.select_slider(
        PAGE, "step", _("Tokens of one step"), BATCHES, default=2**22, labels=lambda n: f"{n:,}"
    )
    checkpointing = cast("Checkpointing", places.checkpointing())
    return TrainingRecipe(seq_len=4096, checkpointing=checkpointing), batch


def _show(rows: list[tuple[str, Item]], mfu: Item) -> None:
    picture, numbers = places.picture_and_numbers()
    with picture:
        show_chart(
            time_lines(rows, theme_mode(), present=presenting()),
            key="flops_lines_chart",
            alt=time_lines_alt(rows),
            table=time_lines_table(rows),
            file_name="training-time",
        )
        st.caption(
            _("Tokens of one step stay the same, so more devices have fewer micro-batches each.")
        )
    with numbers:
        for part in rows[0][1].children:
            explained_number(_(part.name), part)
        explained_number(_("MFU"), mfu)
