"""Bytes for each parameter: the named recipes, or the optimizers, side by side."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Final

import streamlit as st

from core.budget.catalogue.optimizers import OPTIMIZERS
from core.budget.catalogue.precisions import PRECISIONS
from core.budget.cluster import Cluster, pool
from core.budget.item import Item
from core.budget.training.scenario import Scenario
from core.budget.training.states import bytes_per_parameter, largest_by_states, states_in_all
from core.budget.weights.parameters import counts
from core.figures.budget.frames import lying_bars, text_size
from core.figures.picture import Drawing, Look, Picture, Table
from core.language import N_, _
from core.units import format_count
from pages.plan.training_memory.inputs import ASK, Case
from pages.plan.training_memory.tiny_model import choose_sizes, tiny_model
from pages.plan.training_memory.words import LABELS
from pages.shared.settings import look
from pages.shared.tabbed_page import Chart, Shown

_LOOKS: Final = {
    "weights": ("weights", ""),
    "master weights": ("weights", "/"),
    "gradients": ("gradients", ""),
    "gradient sums": ("gradients", "/"),
    "optimizer": ("optimizer", ""),
}
_ROW_HEIGHT: Final = {False: 1.9, True: 1.45}  # of the text's size; on a projector True
Rows = Sequence[tuple[str, Item]]  # a translated label and the bytes for each parameter


def recipes_picture(rows: Rows, chosen: int, look: Look) -> Picture:
    """Return one bar a recipe with its sum beside it; the chosen one's is bold."""
    drawing = Drawing()
    for name, (meaning, pattern) in _LOOKS.items():
        sizes = [_part(each, name) for _label, each in rows]
        if any(sizes):
            drawing.bar(
                orientation="h", x=sizes, y=[label for label, _each in rows], name=_(name),
                marker={"color": look.color(meaning), "pattern": {"shape": pattern}},
                hovertemplate="%{x:.3g} B<extra>%{fullData.name}</extra>",
            )  # fmt: skip
    for place, (label, each) in enumerate(rows):
        text = _("{count} B").format(count=f"{each.amount:.4g}")
        text = f" <b>{text} ◄</b>" if place == chosen else f" {text}"
        drawing.note(x=each.amount, y=label, xanchor="left", text=text)
    size, room = text_size(look), 1.12 * max(each.amount for _label, each in rows)
    height = round(len(rows) * size * _ROW_HEIGHT[look.present]) + 3 * size
    figure = lying_bars(drawing, look, room=room, height=height, top=2 * size, bargap=0.25)
    return Picture(figure=figure, alt=_sentence(rows), table=_table(rows))


def _part(each: Item, name: str) -> float:
    return sum(part.amount for part in each.children if part.name == name)


def _sentence(rows: Rows) -> str:
    parts = [
        _("{name} {count} B").format(name=label, count=f"{each.amount:.4g}") for label, each in rows
    ]
    return _("Bytes for each parameter, activations apart: {parts}.").format(
        parts=_(", ").join(parts)
    )


def _table(rows: Rows) -> Table:
    columns = {_(name): [_part(each, name) for _label, each in rows] for name in _LOOKS}
    return {
        _("recipe"): [label for label, _each in rows],
        **columns,
        _("total"): [each.amount for _label, each in rows],
    }


VIEWS: Final = {
    "precisions": N_("number formats"),
    "optimizers": N_("optimizers"),
    "hand": N_("a tiny model by hand"),
}

_CODE: Final = """
parts = {parts}  # bytes of each parameter: {name}
memory = {memory!r}  # bytes in all

each = sum(parts.values())
print(f"{{each:.4g}} bytes for each parameter; at most {{memory / each / 1e9:.3g}} B parameters")
"""


@dataclass(frozen=True, kw_only=True, slots=True)
class Wanted:
    """What is compared, and which memory the states may take.

    Attributes:
        view: A key of VIEWS.
        gigabytes: Memory that the reader types instead; 0 for none.
        sizes: Rows, width and layers of the model that is counted by hand; None for the others.
    """

    view: str
    gigabytes: int
    sizes: tuple[int, int, int] | None = None


def choose_recipes() -> Wanted:
    view = ASK.segmented(
        "by", _("Compare"), tuple(VIEWS), default="precisions", labels=lambda view: _(VIEWS[view])
    )
    gigabytes = ASK.number(
        "states_gb",
        _("Memory for states, GB"),
        0,
        1_000_000,
        default=0,
        step=80,
        help=_("At 0 it is what tensors can fill on the devices of the plan."),
    )
    sizes = choose_sizes() if view == "hand" else None
    return Wanted(view=view, gigabytes=gigabytes, sizes=sizes)


def recipes(case: Case, wanted: Wanted) -> Shown:
    """Show what one parameter costs, and how large a model some memory then holds."""
    if wanted.sizes is not None:
        return tiny_model(wanted.sizes)
    scenario, cluster = case.scenario, case.scenario.cluster
    rows, place = _rows(scenario, wanted.view)
    each = rows[place][1]
    num_bytes = wanted.gigabytes * 1e9 or pool(cluster.device, cluster.num_devices)
    largest = largest_by_states(num_bytes, each)
    return Shown(
        headline=sentence(scenario, each, largest, _memory_text(cluster, wanted)),
        charts=[
            Chart(picture=recipes_picture(rows, place, look()), file_name="bytes-per-parameter")
        ],
        numbers=[(_("bytes for each parameter"), each), (_("largest model"), largest)],
        numbers_below=True,
        below=partial(_compare_with_weights, scenario),
        code=_code(scenario, each, num_bytes),
    )


def _code(case: Scenario, each: Item, num_bytes: float) -> str:
    """Return plain Python: the bytes of a parameter added up, and the memory divided by them."""
    parts = {part.name: part.amount for part in each.children}
    name = f"{LABELS['optimizer'](case.recipe.optimizer)}, {case.recipe.precision}"
    return _CODE.format(name=name, parts=parts, memory=num_bytes)


def _memory_text(cluster: Cluster, wanted: Wanted) -> str:
    """Return whose memory it is: "8 × H100 SXM", or "640 GB" where the reader typed it."""
    if wanted.gigabytes:
        return f"{wanted.gigabytes:,} GB"
    return f"{cluster.num_devices:,} × {cluster.device.name}"


def _rows(case: Scenario, view: str) -> tuple[Rows, int]:
    recipe = case.recipe
    if view == "optimizers":
        rows = [
            (LABELS["optimizer"](key), bytes_per_parameter(recipe.precision, key))
            for key in OPTIMIZERS
        ]
        return rows, list(OPTIMIZERS).index(recipe.optimizer)
    rows = [
        (LABELS["precision"](key), bytes_per_parameter(key, recipe.optimizer)) for key in PRECISIONS
    ]
    return rows, list(PRECISIONS).index(recipe.precision)


def sentence(case: Scenario, each: Item, largest: Item, memory: str) -> str:
    """Return the bytes for each parameter, and the largest model that some memory holds."""
    return _(
        "{optimizer}, {recipe}: {each} bytes for each parameter, {times} × its weight in 16 bits; "
        "{memory} hold at most {count} parameters"
    ).format(
        recipe=LABELS["precision"](case.recipe.precision),
        optimizer=LABELS["optimizer"](case.recipe.optimizer),
        each=f"{each.amount:.4g}",
        times=f"{each.amount / 2:.3g}",
        memory=memory,
        count=format_count(largest.amount),
    )


def _compare_with_weights(case: Scenario) -> None:
    """Say how many times the weights in 16 bits the states take, every weight trained."""
    weights = 2 * counts(case.spec).total
    whole = states_in_all(case.spec, replace(case.recipe, lora=None)).amount
    st.caption(
        _(
            "{model}: {states} before the first activation, {ratio} times its weights in 16 bits "
            "({weights})."
        ).format(
            model=case.spec.name,
            states=look().format_bytes(whole),
            ratio=f"{whole / weights:.3g}",
            weights=look().format_bytes(weights),
        )
    )
