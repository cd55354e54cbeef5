"""What the page holds against each other: a job, a model, a way, a device."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Literal

import streamlit as st

from core.budget.catalogue.devices import DEVICES
from core.budget.catalogue.models import MODELS
from core.budget.cluster import DeviceSpec
from core.budget.fits.jobs import SERVING_FORMATS, TRAINING_WAYS, Job, serving_ways, training_ways
from core.budget.recipe import Checkpointing, TrainingRecipe
from core.budget.serving.plan import ServingPlan, with_context
from core.budget.weights.parameters import counts
from core.language import N_, _
from core.models.spec import ModelSpec
from pages.shared import pickers
from pages.shared.budget.choices import ChosenDevice, ChosenModel, choose_device, choose_model
from pages.shared.inputs import Inputs
from pages.shared.settings import presenting

PAGE: Final = "fits"
Work = Literal["serve", "train"]
OWN: Final = "own"  # the reader's own model or device in a picture
TOKENS: Final = tuple(2**power for power in range(8, 18))
SEQUENCES: Final = tuple(2**power for power in range(11))
KV_FORMATS: Final = ("bfloat16", "float8_e4m3fn", "int4_group128_affine")
_CHECKPOINTING: Final[Mapping[Checkpointing, str]] = {
    "none": N_("nothing"),
    "selective": N_("selected"),
    "full": N_("every layer"),
}
_WORK_NAMES: Final = {"serve": N_("Serve"), "train": N_("Train")}
_FEW_MODELS: Final = (
    "gpt2-xl",
    "llama-3.2-3b",
    "llama-2-7b",
    "llama-3.1-8b",
    "llama-2-13b",
    "qwen2.5-32b",
    "mixtral-8x7b",
    "llama-2-70b",
    "llama-3.1-405b",
    "deepseek-v3",
)
_FEWEST_MODELS: Final = (
    *("llama-2-7b", "llama-2-13b", "qwen2.5-32b", "llama-2-70b", "llama-3.1-405b"),
    "deepseek-v3",
)
_FEW_DEVICES: Final = (
    "rtx-4090",
    "l4",
    "rtx-5090",
    "a100-40gb",
    "l40s",
    "h100-sxm",
    "h200-sxm",
    "b200",
    "mi300x",
)


@dataclass(frozen=True, kw_only=True, slots=True)
class Case:
    """All choices of the page.

    Attributes:
        work: What is done with the model.
        model: The model picked out.
        way: Its format or recipe: a key of `ways`.
        device: The device picked out.
        ways: Every way of the work, with the chosen lengths.
        tokens: Tokens of a sequence.
        sequences: How many at once.
        all_models: Whether the picture has all models.
    """

    work: Work
    model: ChosenModel
    way: str
    device: ChosenDevice
    ways: Mapping[str, Job]
    tokens: int
    sequences: int
    all_models: bool

    @property
    def job(self) -> Job:
        """The way picked out."""
        return self.ways[self.way]

    @property
    def read_tokens(self) -> int:
        """The tokens that are counted: a model reads no more than its own context."""
        return min(self.tokens, self.model.spec.seq_len)

    @property
    def models(self) -> Mapping[str, ModelSpec]:
        """The models of the picture, small to large."""
        few = _FEWEST_MODELS if presenting() else _FEW_MODELS
        keys = MODELS if self.all_models else few
        chosen = {self.model.key or OWN: self.model.spec}
        found = {key: MODELS[key] for key in keys} | chosen
        return dict(sorted(found.items(), key=lambda pair: counts(pair[1]).total))

    @property
    def devices(self) -> Mapping[str, DeviceSpec]:
        """The devices of the picture, small to large."""
        keys = _FEW_DEVICES if presenting() else tuple(DEVICES)
        chosen = {self.device.key or OWN: self.device.device}
        found = {key: DEVICES[key] for key in keys} | chosen
        return dict(sorted(found.items(), key=lambda pair: pair[1].memory_usable))


def choose_case() -> Case:
    """Show all inputs of the page and return what is chosen."""
    work: Work = pickers.segmented(
        PAGE, "work", _("Job"), ("serve", "train"), default="serve", labels=_work_label
    )
    model = choose_model(Inputs(PAGE), default="llama-2-13b")
    way = _choose_way(work)
    device = choose_device(Inputs(PAGE), default="rtx-4090")
    with st.popover(_("Settings"), icon=":material/tune:", key="fits_settings", width="content"):
        all_models = pickers.toggle(PAGE, "all", _("All models in the picture"), default=False)
        tokens, sequences = _choose_lengths()
        ways = _serving(tokens, sequences) if work == "serve" else _training(tokens, sequences)
    return Case(
        work=work,
        model=model,
        way=way,
        device=device,
        ways=ways,
        tokens=tokens,
        sequences=sequences,
        all_models=all_models,
    )


def _work_label(work: Work) -> str:
    return _(_WORK_NAMES[work])


def _choose_way(work: Work) -> str:
    if work == "serve":
        return pickers.selectbox(
            PAGE, "format", _("Weights in"), tuple(SERVING_FORMATS), default="bf16"
        )
    return pickers.selectbox(
        PAGE, "recipe", _("Recipe"), tuple(TRAINING_WAYS), default="mixed", labels=way_label
    )


def way_label(way: str) -> str:
    """Return what a way is called in a list: a format as it is, a recipe in words."""
    return f"{way} · {_(TRAINING_WAYS[way])}" if way in TRAINING_WAYS else way


def _choose_lengths() -> tuple[int, int]:
    tokens = pickers.select_slider(
        PAGE, "tokens", _("Tokens of a sequence"), TOKENS, default=4096, labels=_thousands
    )
    sequences = pickers.select_slider(
        PAGE, "sequences", _("Sequences at once on a device"), SEQUENCES, default=1
    )
    return tokens, sequences


def _thousands(number: int) -> str:
    return f"{number:,}"


def _serving(tokens: int, sequences: int) -> Mapping[str, Job]:
    kv_format = pickers.segmented(PAGE, "kv", _("KV cache in"), KV_FORMATS, default="bfloat16")
    plan = with_context(ServingPlan(concurrency=sequences, kv_format=kv_format), tokens)
    return serving_ways(plan)


def _training(tokens: int, sequences: int) -> Mapping[str, Job]:
    checkpointing: Checkpointing = pickers.segmented(
        PAGE,
        "checkpointing",
        _("Activations recomputed"),
        tuple(_CHECKPOINTING),
        default="full",
        labels=checkpointing_label,
    )
    recipe = TrainingRecipe(
        batch_size=sequences, seq_len=tokens, checkpointing=checkpointing, step_kind="fused"
    )
    return training_ways(recipe)


def checkpointing_label(checkpointing: Checkpointing) -> str:
    """Return which activations are recomputed, in a word."""
    return _(_CHECKPOINTING[checkpointing])
