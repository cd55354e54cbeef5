"""What learns: parts of a model frozen, or adapters beside frozen matrices, and what that costs."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Final

import streamlit as st

from core.budget.catalogue.as_config import config_of
from core.budget.catalogue.models import MODELS
from core.budget.item import Formula, item
from core.figures.picture import Drawing, Look, Picture
from core.language import N_, _
from core.models.describe import ModelTree, Part
from core.models.lora import Trained, usual_targets
from core.units import format_count, format_exact, format_percent
from pages.models.layers_and_parameters.inputs import (
    ASK,
    PART_TITLES,
    ROOM,
    Case,
    layout_with,
    with_adapters,
    with_parts,
)
from pages.shared import questions
from pages.shared.page_links import show_link
from pages.shared.settings import look, presenting
from pages.shared.tabbed_page import Chart, Shown, Tab
from pages.shared.tensors.refused_inputs import refused_inputs

RANKS: Final = (1, 2, 4, 8, 16, 32, 64, 128, 256)
TICKS: Final[tuple[Part, ...]] = ("embedding", "attention", "feed_forward", "experts", "norms")
GRADIENTS: Final = Formula("4 * num_trainable")
MOMENTS: Final = Formula("(4 + 4) * num_trainable")
_SOURCE: Final = N_("float32: 4 bytes a gradient, 4 for each of AdamW's two moments")
_CODE: Final = """
import torch
from torch import nn


class LoRALinear(nn.Module):
    def __init__(self, base, rank, alpha=16):
        super().__init__()
        self.base, self.scale = base.requires_grad_(False), alpha / rank
        self.lora_a = nn.Parameter(torch.randn(rank, base.in_features) / base.in_features**0.5)
        self.lora_b = nn.Parameter(torch.zeros(base.out_features, rank))

    def forward(self, x):
        return self.base(x) + (x @ self.lora_a.T @ self.lora_b.T) * self.scale


base, x = nn.Linear(768, 768), torch.randn(4, 768)
adapted = LoRALinear(base, rank={rank})
print("same output:", torch.equal(base(x), adapted(x)))
print("trainable:", sum(each.numel() for each in adapted.parameters() if each.requires_grad))
"""


@dataclass(frozen=True, kw_only=True, slots=True)
class Choice:
    """What shall learn: adapters on layers of these names, or these parts of the model."""

    adapters: bool
    targets: tuple[str, ...]
    rank: int
    parts: tuple[Part, ...]


def choose_trainable() -> Choice:
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
    """Show bytes of weights, gradients and optimizer: everything learning, and only this part."""
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
    bars = {
        _("all of it"): _bytes(case.tree, case.tree.num_params),
        _method_name("lora" if choice.adapters else "parts"): _bytes(
            trained.tree, trained.tree.trainable
        ),
    }
    values = {"num_trainable": trained.tree.trainable}
    numbers = [
        (label, item(name, rule, values, unit="bytes", kind="exact", source=_SOURCE))
        for label, name, rule in (
            (_("Gradients"), "gradients", GRADIENTS),
            (_("AdamW's moments"), "optimizer", MOMENTS),
        )
    ]
    return Shown(
        headline=_headline(case, choice, trained),
        charts=[Chart(picture=bytes_picture(bars, look()), file_name="trainable")],
        numbers=[] if presenting() else numbers,
        notes=[] if presenting() else [_note(choice, targets)],
        below=None if presenting() else partial(_show_training_memory, case, choice),
        code=_CODE.format(rank=choice.rank) if choice.adapters else "",
    )


def _method_name(method: str) -> str:
    return _("LoRA") if method == "lora" else _("Some parts")


def _bytes(tree: ModelTree, num_trainable: int) -> Mapping[str, int]:
    values = {"num_trainable": num_trainable}
    return {
        "weights": tree.num_bytes,
        "gradients": int(GRADIENTS.of(values)),
        "optimizer": int(MOMENTS.of(values)),
    }


def _show_training_memory(case: Case, choice: Choice) -> None:
    query = {"plan_lora": "bfloat16", "plan_rank": str(choice.rank)} if choice.adapters else {}
    if case.key in MODELS:
        query |= {"plan_model": case.key}
    elif not isinstance(case.source, str):
        query |= {"plan_model": "own", "plan_config": config_of(case.source)}
    show_link("plan/training_memory", _("The memory of training, activations included →"), query)


def _headline(case: Case, choice: Choice, trained: Trained) -> str:
    learning, everything = trained.tree.trainable, trained.tree.num_params
    share = format_percent(learning / everything)
    if choice.adapters:
        return _(
            "LoRA of rank {rank} on {layers} layers trains {count} of {all} parameters: {share}"
        ).format(
            rank=choice.rank,
            layers=format_exact(trained.num_adapted),
            count=format_exact(learning),
            all=format_count(everything),
            share=share,
        )
    return _("{count} of {all} parameters of {model} learn: {share}").format(
        count=format_exact(learning), all=format_exact(everything), model=case.title, share=share
    )


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


def bytes_picture(cases: Mapping[str, Mapping[str, int]], look: Look) -> Picture:
    """Return stacked bars of the bytes of weights, gradients and optimizer."""
    drawing, names = Drawing(), list(cases)
    titles = {
        "weights": _("weights"), "gradients": _("gradients"), "optimizer": _("optimizer"),
    }  # fmt: skip
    for part, title in titles.items():
        amounts = [case.get(part, 0) for case in cases.values()]
        drawing.bar(
            orientation="h", y=names, x=[look.in_unit(each) for each in amounts], name=title,
            marker={"color": look.color(part)}, customdata=list(map(look.format_bytes, amounts)),
            hovertemplate="%{y}: %{customdata}<extra>" + title + "</extra>",
        )  # fmt: skip
    sums = {name: sum(case.values()) for name, case in cases.items()}
    totals = {name: look.format_bytes(amount) for name, amount in sums.items()}
    for name, amount in sums.items():
        drawing.note(x=look.in_unit(amount), y=name, text=totals[name], xanchor="left", xshift=6)
    most = look.in_unit(max(sums.values())) * (1 + ROOM[look.present])
    layout = layout_with(
        look,
        xaxis={"title": {"text": look.unit}, "range": [0, most]},
        yaxis={"autorange": "reversed", "showgrid": False},
    )
    order = {"legend": {**layout["legend"], "traceorder": "normal"}}
    said = _(", ").join(f"{name} {total}" for name, total in totals.items())
    return Picture(
        figure=drawing.figure(layout | order | {"barmode": "stack"}),
        alt=_("Bytes of weights, gradients and optimizer. {cases}.").format(cases=said),
        table={_("training"): names}
        | {title: [case.get(part, 0) for case in cases.values()] for part, title in titles.items()},
    )


def _ask() -> None:
    choices = [
        questions.Choice(
            _("A little, at random"), _("A is drawn at random, but it is multiplied by B.")
        ),
        questions.Choice(_("Nothing, bit for bit")),
        questions.Choice(
            _("It is zero"), _("The adapter adds to the frozen layer; it replaces nothing.")
        ),
    ]
    questions.predict_then_reveal(
        ASK.key("before_the_first_step"),
        _("A model gets LoRA adapters. How does its output change before the first step?"),
        choices,
        _("B starts as zeros, so B·A is zero and the output is that of the frozen model."),
    )


TAB: Final = Tab(
    label=N_("Freezing and LoRA"),
    show=trainable,
    unseen=("width", "layers", "vocabulary", "settings"),
    choose=choose_trainable,
    question=_ask,
    reading="trainable",
)
