"""What the page holds against each other: a job, a model, a way, a device."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Final

import streamlit as st

from core.budget.catalogue.precisions import PRECISIONS
from core.budget.fits.jobs import TRAINING_WAYS
from core.budget.fits.plane import PlaneName
from core.budget.planning.jobs import OWN_WAY, PlannedJob, way_of, ways_of
from core.budget.planning.plan import Plan, Work
from core.language import N_, _
from pages.shared.inputs import Inputs
from pages.shared.plan.plan import SERVING, SPREAD, TIME, TRAINING, Chosen, choose_plan, work_now
from pages.shared.sides import out_of_sight

ASK: Final = Inputs("fits")
AXES: Final[Mapping[PlaneName, str]] = {
    "models_devices": N_("models × devices"),
    "ways_devices": N_("formats × devices"),
    "models_ways": N_("models × formats"),
}
_WAY: Final = {"train": "precision", "serve": "weights"}
_SIZES: Final = {"train": ("length", "batch"), "serve": ("context_length", "concurrency")}


@dataclass(frozen=True, kw_only=True, slots=True)
class Case:
    """What the pictures of the page speak of.

    Attributes:
        chosen: The plan.
        all_in_picture: Whether the picture has all models and devices, not the best known.
        axes: What runs along the rows and columns of the map.
    """

    chosen: Chosen
    all_in_picture: bool = False
    axes: PlaneName = "models_devices"

    @property
    def plan(self) -> Plan:
        return self.chosen.plan

    @property
    def way(self) -> str:
        return way_of(self.plan)

    @property
    def ways(self) -> Mapping[str, PlannedJob]:
        return ways_of(self.plan)

    @property
    def job(self) -> PlannedJob:
        return self.ways[self.way]

    @property
    def tokens(self) -> int:
        plan = self.plan
        return plan.serving.context if plan.work == "serve" else self.chosen.asked_len

    @property
    def sequences(self) -> int:
        plan = self.plan
        return plan.serving.concurrency if plan.work == "serve" else plan.recipe.batch_size

    @property
    def read_tokens(self) -> int:
        """The tokens that are counted: a model reads no more than its own context."""
        return min(self.tokens, self.plan.spec.seq_len)


def choose_case() -> Case:
    is_map, work = ASK.used("tab") == "map", work_now()
    if is_map:
        axes = _choose_axes()
    else:
        with out_of_sight("axes"):
            axes = _choose_axes()
    settings = {
        _("Plan"): ("work", "model", "device", "devices"),
        _("Training"): TRAINING,
        _("Devices"): (*SPREAD, "virtual"),
        _("Time and cost"): ("tokens", *TIME),
        _("Serving"): SERVING,
    }
    own = partial(ASK.toggle, "all", _("All models and devices"), default=False)
    chosen = choose_plan(_in_sight(work, axes), settings, own if is_map else None)
    return Case(chosen=chosen, all_in_picture=bool(chosen.own), axes=axes)


def _in_sight(work: Work, axes: PlaneName) -> Sequence[str]:
    tab, sizes = ASK.used("tab"), _SIZES[work]
    if tab == "map":
        third = {"models_devices": _WAY[work], "ways_devices": "model", "models_ways": "device"}
        return (*sizes, "work", third[axes])
    if tab == "reach":
        return (*sizes, "model", "devices")
    if work == "train":
        return ("length", "model", "device", "devices")
    return (*sizes, "model", "device", "devices")


def _choose_axes() -> PlaneName:
    return ASK.selectbox(
        "axes", _("Rows × columns"), tuple(AXES), default="models_devices",
        labels=lambda axes: _(AXES[axes]),
    )  # fmt: skip


def way_label(way: str) -> str:
    """Return what a way is called in a list: a format as it is, a recipe in words."""
    return f"{way} · {_(TRAINING_WAYS[way])}" if way in TRAINING_WAYS else way


def sequences_label(work: Work) -> str:
    return _("Concurrent sequences") if work == "serve" else _("Micro-batch size")


def what(case: Case) -> str:
    """Return the job as it is spoken: "Serving Llama-2 13B in bf16"."""
    plan, way = case.plan, case.way
    if plan.work == "serve":
        return _("Serving {model} in {way}").format(model=plan.spec.name, way=way)
    if way == OWN_WAY:
        way = _(PRECISIONS[plan.recipe.precision].label)
    return _("Training {model} ({way})").format(model=plan.spec.name, way=way)


def note_context(case: Case) -> None:
    if case.read_tokens < case.tokens:
        st.caption(
            _("{model} reads at most {longest} tokens: that many are counted.").format(
                model=case.plan.spec.name, longest=f"{case.read_tokens:,}"
            )
        )
