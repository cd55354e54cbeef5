"""What the page holds against each other: a job, a model, a way, a device."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from core.budget.fits.jobs import (
    SERVING_FORMATS,
    TRAINING_WAYS,
    Job,
    Layout,
    released_way,
    serving_ways,
    training_ways,
)
from core.budget.fits.plane import PlaneName
from core.budget.recipe import Checkpointing, TrainingRecipe
from core.budget.serving.plan import ServingPlan, with_context
from core.language import N_, _
from core.models.spec import ModelSpec
from pages.shared.inputs import Inputs
from pages.shared.plan.choices import (
    AS_RELEASED,
    CONTEXT,
    RELEASED,
    STAGES,
    VIRTUAL,
    ChosenDevice,
    ChosenModel,
    as_released,
    choose_device,
    choose_model,
)

ASK: Final = Inputs("fits")
Work = Literal["serve", "train"]
TOKENS: Final = tuple(
    sorted([2**power for power in range(8, 18)] + [3 * 2**power for power in range(7, 16)])
)
SEQUENCES: Final = tuple(
    sorted([2**power for power in range(11)] + [3 * 2**power for power in range(9)])
)
KV_FORMATS: Final = ("bfloat16", "float8_e4m3fn", "int4_group128_affine")
_CHECKPOINTING: Final[Mapping[Checkpointing, str]] = {
    "none": N_("none"),
    "selective": N_("selective"),
    "full": N_("full"),
}
_WORK_NAMES: Final = {"serve": N_("Serve"), "train": N_("Train")}
AXES: Final[Mapping[PlaneName, str]] = {
    "models_devices": N_("models × devices"),
    "ways_devices": N_("formats × devices"),
    "models_ways": N_("models × formats"),
}
_IN_SIGHT: Final[Mapping[str, Sequence[str]]] = {
    "models_devices": ("work", "way"),
    "ways_devices": ("work", "model"),
    "models_ways": ("work", "device"),
    "reach": ("model",),
}
"""Axes of the map, or tab -> the choices beside its picture; the others are in Settings."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Case:
    """What the pictures of the page speak of.

    Attributes:
        model: The model picked out.
        device: The device picked out.
        way: Its format or recipe: a key of `ways`.
        how: The lengths, and the rest of a plan for serving or of a recipe for training.
        all_in_picture: Whether the picture has all models and devices, not the best known.
        axes: What runs along the rows and columns of the map.
        layout: How devices share a training, beside sharding all states.
    """

    model: ChosenModel
    device: ChosenDevice
    way: str
    how: ServingPlan | TrainingRecipe
    all_in_picture: bool
    axes: PlaneName = "models_devices"
    layout: Layout = Layout()  # noqa: RUF009  frozen

    @property
    def work(self) -> Work:
        return "serve" if isinstance(self.how, ServingPlan) else "train"

    @property
    def ways(self) -> Mapping[str, Job]:
        if isinstance(self.how, ServingPlan):
            return serving_ways(self.how, self.model.spec)
        return training_ways(self.how, self.layout)

    @property
    def job(self) -> Job:
        return self.ways[self.way]

    @property
    def tokens(self) -> int:
        return self.how.context if isinstance(self.how, ServingPlan) else self.how.seq_len

    @property
    def sequences(self) -> int:
        return self.how.concurrency if isinstance(self.how, ServingPlan) else self.how.batch_size

    @property
    def read_tokens(self) -> int:
        """The tokens that are counted: a model reads no more than its own context."""
        return min(self.tokens, self.model.spec.seq_len)


def choose_case() -> Case:
    sliders, rail = st.container(gap="small"), st.container(gap="small")
    settings = st.popover(_("Settings"), icon=":material/tune:", key="fits_settings")
    with rail:
        axes: PlaneName = ASK.selectbox(
            "axes",
            _("Rows × columns"),
            tuple(AXES),
            default="models_devices",
            labels=lambda axes: _(AXES[axes]),
        )
    seen = _IN_SIGHT["reach" if ASK.used("tab") == "reach" else axes]

    def place(name: str) -> DeltaGenerator:
        return rail if name in seen else settings

    with place("work"):
        work: Work = ASK.segmented(
            "work",
            _("Job"),
            ("serve", "train"),
            default="serve",
            labels=lambda work: _(_WORK_NAMES[work]),
        )
    with place("model"):
        model = choose_model(ASK, default="llama-2-13b")
    with place("way"):
        way = _choose_way(work, model.spec)
    with place("device"):
        device = choose_device(ASK, default="rtx-4090")
    with settings:
        all_in_picture = ASK.toggle("all", _("All models and devices"), default=False)
    how = _choose_how(work, sliders, settings)
    layout = Layout()
    if work == "train":
        with settings:
            layout = _choose_layout()
    return Case(
        model=model,
        device=device,
        way=way,
        how=how,
        all_in_picture=all_in_picture,
        axes=axes,
        layout=layout,
    )


def _choose_layout() -> Layout:
    context = ASK.select_slider(
        "context",
        _("Context-parallel size (CP)"),
        CONTEXT,
        default=1,
        help=_("When several devices are searched for: so many of them share each sequence."),
    )
    stages = ASK.select_slider("stages", _("Pipeline-parallel size (PP)"), STAGES[:8], default=1)
    virtual = ASK.select_slider("virtual", _("Virtual stages per device"), VIRTUAL, default=1)
    return Layout(context=context, pipeline=stages, virtual_stages=virtual)


def _choose_way(work: Work, spec: ModelSpec) -> str:
    if work == "serve":
        released = released_way(spec)
        way = ASK.selectbox(
            "format",
            _("Weight format"),
            (RELEASED, *SERVING_FORMATS),
            default=RELEASED,
            labels=lambda word: as_released(released) if word == RELEASED else word,
            help=_(AS_RELEASED),
        )
        return released if way == RELEASED else way
    return ASK.selectbox(
        "recipe", _("Recipe"), tuple(TRAINING_WAYS), default="mixed", labels=way_label
    )


def way_label(way: str) -> str:
    """Return what a way is called in a list: a format as it is, a recipe in words."""
    return f"{way} · {_(TRAINING_WAYS[way])}" if way in TRAINING_WAYS else way


def sequences_label(work: Work) -> str:
    return _("Concurrent sequences") if work == "serve" else _("Micro-batch size")


def _choose_how(
    work: Work, sliders: DeltaGenerator, settings: DeltaGenerator
) -> ServingPlan | TrainingRecipe:
    with sliders:
        tokens = ASK.select_slider(
            "tokens",
            _("Sequence length"),
            TOKENS,
            default=4096,
            labels=lambda number: f"{number:,}",
        )
        sequences = ASK.select_slider("sequences", sequences_label(work), SEQUENCES, default=1)
    if work == "serve":
        with settings:
            kv_format = ASK.segmented("kv", _("KV cache format"), KV_FORMATS, default="bfloat16")
        return with_context(ServingPlan(concurrency=sequences, kv_format=kv_format), tokens)
    with settings:
        checkpointing: Checkpointing = ASK.segmented(
            "checkpointing",
            _("Activation checkpointing"),
            tuple(_CHECKPOINTING),
            default="full",
            labels=checkpointing_label,
        )
    return TrainingRecipe(
        batch_size=sequences, seq_len=tokens, checkpointing=checkpointing, step_kind="fused"
    )


def checkpointing_label(checkpointing: Checkpointing) -> str:
    return _(_CHECKPOINTING[checkpointing])


def what(case: Case) -> str:
    """Return the job as it is spoken: "Serving Llama-2 13B in bf16"."""
    if case.work == "serve":
        return _("Serving {model} in {way}").format(model=case.model.spec.name, way=case.way)
    return _("Training {model} ({way})").format(model=case.model.spec.name, way=case.way)


def note_context(case: Case) -> None:
    if case.read_tokens < case.tokens:
        st.caption(
            _("{model} reads at most {longest} tokens: that many are counted.").format(
                model=case.model.spec.name, longest=f"{case.read_tokens:,}"
            )
        )
