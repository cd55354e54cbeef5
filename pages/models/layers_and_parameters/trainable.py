"""What learns: parts of a model frozen, or adapters beside frozen matrices, and what that costs."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Final

import streamlit as st

from core.budget.item import Formula, Item, item
from core.figures.models.layers_and_parameters.bars import bytes_picture
from core.figures.models.layers_and_parameters.icicle import PART_TITLES
from core.language import N_, _
from core.models.describe import ModelTree, Part
from core.models.trainable import Trained, usual_targets
from core.units import format_count, format_exact, format_percent
from pages.models.layers_and_parameters.elsewhere import to_training_memory
from pages.models.layers_and_parameters.inputs import ASK, Case, with_adapters, with_parts
from pages.models.layers_and_parameters.snippets import lora_snippet
from pages.shared.settings import look, presenting
from pages.shared.tabbed_page import Chart, Shown
from pages.shared.tensors.refused_inputs import refused_inputs

RANKS: Final = (1, 2, 4, 8, 16, 32, 64, 128, 256)
TICKS: Final[tuple[Part, ...]] = ("embedding", "attention", "feed_forward", "experts", "norms")
GRADIENTS: Final = Formula("4 * num_trainable")
MOMENTS: Final = Formula("(4 + 4) * num_trainable")
_SOURCE: Final = N_("float32: 4 bytes a gradient, 4 for each of AdamW's two moments")


@dataclass(frozen=True, kw_only=True, slots=True)
class Choice:
    """What shall learn: adapters on layers of these names, or these parts of the model."""

    adapters: bool
    targets: tuple[str, ...]
    rank: int
    parts: tuple[Part, ...]


def choose_trainable() -> Choice:
    """Show the inputs of the tab and return what they say."""
    method = ASK.segmented(
        "method", _("What learns"), ("lora", "parts"), default="lora", labels=_method_name
    )
    is_lora = method == "lora"
    targets, rank = "", 1
    parts: list[Part] = []
    if is_lora:
        targets = ASK.text(
            "targets",
            _("Target modules"),
            help=_(
                "Last part of the names of linear layers, with commas: qkv, up. A name is adapted "
                "wherever it stands. Without a name: the names that attention uses."
            ),
        )
        rank = ASK.select_slider("rank", _("Rank"), RANKS, default=8)
    else:
        with st.popover(_("Trainable parts"), icon=":material/lock_open:", key=ASK.key("parts")):
            parts = [
                part
                for part in TICKS
                if ASK.toggle(f"train_{part}", _(PART_TITLES[part]), default=part == "norms")
            ]
    names = tuple(name.strip() for name in targets.split(",") if name.strip())
    return Choice(adapters=is_lora, targets=names, rank=rank, parts=tuple(parts))


def trainable(case: Case, choice: Choice) -> Shown:
    """Show bytes of weights, gradients and optimizer, all of the model learning and this part."""
    targets = choice.targets or usual_targets(case.tree)
    try:
        trained = (
            with_adapters(case.source, targets, choice.rank)
            if choice.adapters
            else with_parts(case.source, choice.parts)
        )
    except ValueError as error:
        names = _(", ").join(f"`{name}`" for name in targets)
        refusal = _("LoRA on {names} is refused: 0 layers are adapted").format(names=names)
        return refused_inputs(refusal, error)
    meanings = {_("weights"): "weights", _("gradients"): "gradients", _("optimizer"): "optimizer"}
    bars = {
        _("all of it"): _bytes(case.tree, case.tree.num_params),
        _method_name("lora" if choice.adapters else "parts"): _bytes(
            trained.tree, trained.tree.trainable
        ),
    }
    picture = bytes_picture(bars, meanings, look())
    return Shown(
        headline=_headline(case, choice, trained),
        charts=[Chart(picture=picture, file_name="trainable")],
        numbers=[] if presenting() else _numbers(trained.tree.trainable),
        notes=[] if presenting() else [_note(choice, targets)],
        below=None if presenting() else partial(
            to_training_memory, case, choice.rank if choice.adapters else 0
        ),
        code=lora_snippet(choice.rank) if choice.adapters else "",
    )  # fmt: skip


def _method_name(method: str) -> str:
    return _("LoRA") if method == "lora" else _("Some parts")


def _bytes(tree: ModelTree, num_trainable: int) -> Mapping[str, int]:
    values = {"num_trainable": num_trainable}
    return {
        _("weights"): tree.num_bytes,
        _("gradients"): int(GRADIENTS.of(values)),
        _("optimizer"): int(MOMENTS.of(values)),
    }


def _headline(case: Case, choice: Choice, trained: Trained) -> str:
    learning, whole = trained.tree.trainable, trained.tree.num_params
    share = format_percent(learning / whole)
    if choice.adapters:
        said = _(
            "LoRA of rank {rank} on {layers} layers trains {count} of {all} parameters: {share}"
        )
        return said.format(
            rank=choice.rank,
            layers=format_exact(trained.num_adapted),
            count=format_exact(learning),
            all=format_count(whole),
            share=share,
        )
    return _("{count} of {all} parameters of {model} learn: {share}").format(
        count=format_exact(learning), all=format_exact(whole), model=case.title, share=share
    )


def _numbers(num_trainable: int) -> list[tuple[str, Item]]:
    rows = ((_("Gradients"), "gradients", GRADIENTS), (_("AdamW's moments"), "optimizer", MOMENTS))
    values = {"num_trainable": num_trainable}
    return [
        (label, item(name, rule, values, unit="bytes", kind="exact", source=_SOURCE))
        for label, name, rule in rows
    ]


def _note(choice: Choice, targets: tuple[str, ...]) -> str:
    if choice.adapters:
        return _(
            "Adapters on every layer named {targets}: W + (α/r)·B·A. A is drawn at random, B "
            "starts as zeros, so at first the output stays the same bit for bit. The frozen "
            "weights need neither gradients nor moments."
        ).format(targets=_(", ").join(f"`{name}`" for name in targets))
    return _(
        "`requires_grad_(False)` freezes: the weight stays, and needs neither a gradient nor "
        "moments of the optimizer. Activations may still have to be kept."
    )
