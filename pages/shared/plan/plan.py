"""The plan as the reader says it: the settings `plan_model`, `plan_devices`, ... of all of Sizing.

Every page asks for the whole plan by `choose_plan`: some inputs in sight, some in its Settings, the
others unseen. So names, options, limits and defaults are the same on each, and a visit loses none.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any, Final

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from core.budget.catalogue.devices import DEVICES
from core.budget.catalogue.optimizers import OPTIMIZERS
from core.budget.catalogue.precisions import PRECISIONS
from core.budget.catalogue.profiles import PROFILES
from core.budget.cluster import MAX_DEVICES, Cluster
from core.budget.planning.changes import Change
from core.budget.planning.plan import STEP_TOKENS, WORKS, Plan, Work
from core.budget.planning.settings import (
    COMPUTED,
    NOT_ADAPTED,
    RELEASED,
    TARGETS,
    settings_of,
    with_settings,
)
from core.budget.recipe import CHECKPOINTING, MAX_TOKENS, REDUCE_DTYPES, STEP_KINDS, TrainingRecipe
from core.budget.serving.plan import ServingPlan
from core.language import N_, _
from core.units import format_percent
from pages.server.streamlit_session import as_in_the_frame
from pages.shared import link
from pages.shared.inputs import PLAN, Inputs
from pages.shared.lessons import lessons_of
from pages.shared.plan.choices import (
    AS_RELEASED,
    CHECKPOINTED,
    CONTEXT,
    EXPERTS,
    REDUCED_IN,
    SERVED_CONTEXTS,
    SERVED_SEQUENCES,
    STAGES,
    TENSOR,
    TRAINED_LENGTHS,
    VIRTUAL,
    ChosenDevice,
    ChosenModel,
    choose_device,
    choose_model,
    model_label,
    note_long_context,
    stops,
)
from pages.shared.settings import locked
from pages.shared.sides import box, boxes, out_of_sight, reading

ASK: Final = Inputs(PLAN)
DEFAULT_MODEL: Final = "llama-3.1-8b"
DEFAULT_DEVICE: Final = "h100-sxm"
WORK_NAMES: Final = {"train": N_("Train"), "serve": N_("Serve")}
SHARDING: Final = {
    "0": N_("nothing (DDP)"),
    "1": N_("ZeRO-1: optimizer"),
    "2": N_("ZeRO-2: optimizer, gradients"),
    "3": N_("ZeRO-3, FSDP2: all"),
}
BASES: Final = {
    NOT_ADAPTED: N_("none: every weight is trained"),
    "bfloat16": N_("on bf16 weights"),
    "nf4_double_quant": N_("on NF4 weights (QLoRA)"),
    **{name: name for name in ("int8_channel", "nf4", "mxfp4", "nvfp4")},
}
"""LoRA: how the frozen weights are stored."""
TARGET_NAMES: Final = {
    "qv": N_("queries and values"),
    "attention": N_("attention"),
    "all": N_("every matrix"),
}
"""What the matrices with adapters are called together."""
STEP_KIND_NAMES: Final = {
    "for_loop": N_("for-loop"),
    "foreach": N_("foreach"),
    "fused": N_("fused"),
}
WEIGHT_FORMATS: Final = (
    *("bfloat16", "float32", "int8_channel", "int8_group128", "fp8_block128", "int4_group128"),
    *("int4_group128_affine", "mxfp4", "nvfp4", "nf4_double_quant"),
)
KV_FORMATS: Final = (
    *("bfloat16", "float8_e4m3fn", "fp8_block128", "int8_channel", "int8_group128"),
    *("int4_group128_affine", "nvfp4"),
)
ANSWERS: Final = stops(16, 8192)
_PINNED: Final = ("0.2", "0.25", "0.3", "0.35", "0.4", "0.45", "0.5", "0.55", "0.6")
_MOST_DEVICES: Final = MAX_DEVICES
_COUNT: Final = "{:,}".format


@dataclass(frozen=True, slots=True)
class Setting:
    """One setting of the plan.

    Attributes:
        label: A message id.
        show: Draws the input of that name and returns what it says.
        words: Returns a value of it as the reader sees it.
        options: What can be chosen; none where it is a field or a switch.
    """

    label: str
    show: Callable[[str], Any]
    words: Callable[[Any], str] = str
    options: Sequence[Any] = ()

    def nearest(self, value: Any) -> Any:  # noqa: ANN401
        """Return the value if it can be chosen, else the next larger number; None if none can."""
        if not self.options or value in self.options:
            return value
        numbers = [each for each in self.options if isinstance(each, int | float)]
        if not numbers or not isinstance(value, int | float):
            return None
        return min((each for each in numbers if each >= value), default=numbers[-1])


def _choice(
    kind: str,
    label: str,
    options: Sequence[Any],
    default: object,
    words: Mapping[str, str] | Callable[[Any], str] = str,
    help: str = "",  # noqa: A002  Streamlit's own name
) -> Setting:
    """Return a choice that one of the ways of `Inputs` draws."""

    def word(option: object) -> str:
        return words(option) if callable(words) else _(words[str(option)])

    def show(name: str) -> object:
        draw = getattr(ASK, kind)
        more = {"help": _(help)} if help else {}
        return draw(name, _(label), tuple(options), default=default, labels=word, **more)

    return Setting(label, show, word, tuple(options))


def _number(label: str, low: float, high: float, default: float, step: float) -> Setting:
    def show(name: str) -> object:
        return ASK.number(name, _(label), low, high, default=default, step=step)

    return Setting(label, show, _COUNT)


def _precision_label(key: str) -> str:
    words = {"name": _(PRECISIONS[key].label), "count": PRECISIONS[key].with_adam}
    return _("{count} B · {name}").format(**words)


INPUTS: Final[Mapping[str, Setting]] = {
    "work": _choice("segmented", N_("Job"), WORKS, "train", WORK_NAMES),
    "model": Setting(
        N_("Model"), lambda _name: choose_model(ASK, default=DEFAULT_MODEL), model_label
    ),
    "device": Setting(
        N_("Device"), lambda _name: choose_device(ASK, default=DEFAULT_DEVICE),
        lambda key: DEVICES[key].name,
    ),
    "devices": _number(N_("Devices"), 1, _MOST_DEVICES, 8, 1),
    # Training.
    "length": _choice("select_slider", N_("Sequence length"), TRAINED_LENGTHS, 8192, _COUNT),
    "batch": _number(N_("Micro-batch size"), 1, 4096, 1, 1),
    "checkpointing": _choice(
        "selectbox", N_("Activation checkpointing"), CHECKPOINTING, "full", CHECKPOINTED
    ),
    "every": _number(N_("Layers per checkpoint segment"), 1, 32, 4, 1),
    "precision": _choice(
        "selectbox", N_("Precision"), tuple(PRECISIONS), "mixed_bf16", _precision_label
    ),
    "optimizer": _choice(
        "selectbox", N_("Optimizer"), tuple(OPTIMIZERS), "adamw",
        {key: row.label for key, row in OPTIMIZERS.items()},
    ),
    "kind": _choice(
        "segmented", N_("Optimizer implementation"), STEP_KINDS, "fused", STEP_KIND_NAMES
    ),
    "profile": _choice(
        "selectbox", N_("Model implementation"), tuple(PROFILES), "fused",
        {key: row.label for key, row in PROFILES.items()},
    ),
    "chunks": _choice("select_slider", N_("Loss chunks"), stops(1, 128), 1),
    "lora": _choice("selectbox", "LoRA", tuple(BASES), NOT_ADAPTED, BASES),
    "rank": _choice("select_slider", N_("Rank"), stops(1, 256), 8),
    "targets": _choice(
        "segmented", N_("Matrices"), tuple(TARGETS), "qv", TARGET_NAMES
    ),
    # Spread over the devices.
    "sharding": _choice(
        "selectbox", N_("Sharded over the data-parallel ranks"), tuple(SHARDING), "3", SHARDING
    ),
    "tensor": _choice("select_slider", N_("Tensor-parallel size (TP)"), TENSOR, 1),
    "sequence": Setting(
        N_("Sequence parallelism"),
        lambda name: ASK.toggle(name, _("Sequence parallelism"), default=True),
    ),
    "stages": _choice("select_slider", N_("Pipeline-parallel size (PP)"), STAGES, 1),
    "virtual": _choice("select_slider", N_("Virtual stages per device"), VIRTUAL, 1),
    "context": _choice("select_slider", N_("Context-parallel size (CP)"), CONTEXT, 1),
    "expert": _choice("select_slider", N_("Expert-parallel size (EP)"), EXPERTS, 1),
    "reduce": _choice(
        "selectbox", N_("Gradients are reduced in"), REDUCE_DTYPES, "none", REDUCED_IN,
        N_(
            "FSDP2 alone has this choice: the reduce_dtype of its MixedPrecisionPolicy. None is "
            "the dtype of compute; fp32 doubles the bytes of the gradients."
        ),
    ),
    "node": _choice("select_slider", N_("GPUs per node"), (1, 2, 4, 8, 16, 32, 72), 8),
    "network": _number(N_("Network of a GPU, GB/s"), 1, 1000, 50, 5),
    # Time and cost.
    "tokens": _number(N_("Tokens in all, in billions"), 0.001, 1e6, 1.0, 1.0),
    "step": _number(
        N_("Tokens of an optimizer step, over all devices"), 1, MAX_TOKENS, STEP_TOKENS, 8192
    ),
    "price": _number(N_("USD per device-hour"), 0.0, 1e3, 2.0, 0.1),
    "mfu": _choice(
        "select_slider", N_("MFU"), (COMPUTED, *_PINNED), COMPUTED,
        lambda word: _("computed") if word == COMPUTED else format_percent(float(word)),
    ),
    # Serving.
    "context_length": _choice(
        "select_slider", N_("Context length (tokens)"), SERVED_CONTEXTS, 8192, _COUNT,
        N_("Of each sequence: its prompt and its answer together."),
    ),
    "output": _choice("select_slider", N_("Output length (tokens)"), ANSWERS, 512, _COUNT),
    "concurrency": _choice(
        "select_slider", N_("Concurrent sequences"), SERVED_SEQUENCES, 4, _COUNT
    ),
    "weights": _choice(
        "selectbox", N_("Weight format"), (RELEASED, *WEIGHT_FORMATS), RELEASED,
        lambda word: _("as released") if word == RELEASED else word, AS_RELEASED,
    ),
    "kv": _choice("selectbox", N_("KV cache format"), KV_FORMATS, "bfloat16"),
}  # fmt: skip
"""Name of a setting of the plan -> what is known of it."""
TRAINING: Final = ("checkpointing", "precision", "optimizer", "batch", "chunks", "lora")
SPREAD: Final = ("sharding", "tensor", "stages", "context")
TIME: Final = ("price", "mfu", "step")
SERVING: Final = ("weights", "kv", "output")


@dataclass(frozen=True, kw_only=True, slots=True)
class Chosen:
    """The plan of the reader.

    Attributes:
        plan: What is to be done.
        model: Its model; `code` is Python that makes it.
        device: Its device, likewise.
        asked_len: Tokens of a trained sequence as asked for; a table of positions may end before.
        own: What the page's own settings say.
    """

    plan: Plan
    model: ChosenModel
    device: ChosenDevice
    asked_len: int
    own: Any = None


@as_in_the_frame()
def choose_plan(
    in_sight: Sequence[str],
    settings: Mapping[str, Sequence[str]],
    own: Callable[[], Any] | None = None,
) -> Chosen:
    """Show inputs of the plan and return what all of them say.

    Args:
        in_sight: Names of INPUTS beside the picture, at most five.
        settings: Translated title of a tab in Settings -> names of INPUTS in it.
        own: Draws settings of the page's own below them and returns what they say.

    Raises:
        ValueError: If the devices cannot be split so; the sentence says why.
    """
    said = {name: INPUTS[name].show(name) for name in in_sight}
    title, icon = _("Settings"), ":material/tune:"
    make = st.popover if settings or own else _nowhere
    with box(make, title, icon=icon, key="plan_settings", width="stretch"):
        tabs = boxes(list(settings)) if len(settings) > 1 else [st.container()]
        for tab, names in zip(tabs, settings.values(), strict=False):
            with tab:
                said |= {name: INPUTS[name].show(name) for name in names if name not in said}
        more = own() if own else None
    with out_of_sight("plan"):
        said |= {name: INPUTS[name].show(name) for name in INPUTS if name not in said}
    if not reading():
        _offer_my_plan()
    model, device = said["model"], said["device"]
    plan = with_settings(Plan(spec=model.spec, cluster=Cluster(device=device.device)), said)
    return Chosen(plan=plan, model=model, device=device, asked_len=said["length"], own=more)


def _nowhere(*_title: object, **_fields: object) -> DeltaGenerator:
    return st.container()


def work_now() -> Work:
    """Return the plan's job before it has been asked for: it decides what is in sight."""
    key, notes = ASK.key("work"), link.book()
    raw = link.raw_value(key)
    is_known = key in notes.known and notes.known[key][0] == raw
    word = st.session_state.get(key) if is_known else raw
    return "serve" if word == "serve" else "train"


def note_length(chosen: Chosen, work: Work) -> None:
    """Say so if sequences are longer than the model can read, or than it was made for."""
    spec, plan = chosen.model.spec, chosen.plan
    taken = plan.recipe.seq_len if work == "train" else plan.serving.context
    if work == "serve" or chosen.asked_len == taken:
        note_long_context(spec, taken)
        return
    text = _("{model} has a table of {count} positions: {count} tokens are taken.")
    st.caption(text.format(model=spec.name, count=f"{taken:,}"))


def plan_query() -> dict[str, str]:
    """Return the plan as the link to another page of Sizing says it."""
    return {name: value for name, value in link.values().items() if name.startswith("plan_")}


def set_plan(values: Mapping[str, object]) -> None:
    """Write inputs of the plan from a button or a click; a locked page stays as it is."""
    for name, value in {} if locked() else values.items():
        text = str(value).lower() if isinstance(value, bool) else str(value)
        key = ASK.key(name)
        st.session_state[key] = link.book().holds[key](text)


def take_over(before: Plan, change: Change) -> None:
    """Set the inputs to a changed plan; a locked page stays as it is."""
    old = settings_of(before)
    after = settings_of(change.plan).items()
    set_plan({name: value for name, value in after if value != old.get(name)})


def _offer_my_plan() -> None:
    """Keep the reader's own plan, and offer the way back while a lesson's stands in its place."""
    notes = link.book()
    found = {name: each for name, each in notes.parameters.items() if name.startswith("plan_")}
    now = {name: each.value for name, each in found.items()}
    mine = {name: notes.my_plan.get(name, each.default) for name, each in found.items()}
    if notes.arrived and now != mine:
        changed = {name: each.value for name, each in found.items() if each.value != each.default}
        notes.in_lesson |= any(
            changed == {name: value for name, value in each.query.items() if name in found}
            for each in lessons_of(link.current_page())
        )
    if now == mine or not notes.in_lesson:
        notes.my_plan, notes.in_lesson = notes.my_plan | now, False
        return
    st.button(
        _("Back to my plan"), key="plan_back", icon=":material/undo:", on_click=set_plan,
        args=({name.removeprefix("plan_"): value for name, value in mine.items()},),
        disabled=locked(), width="stretch",
    )  # fmt: skip


def arguments(value: Cluster | TrainingRecipe | ServingPlan) -> str:
    """Return what Python calls one of these with, for snippets; a cluster's device apart."""
    return ", ".join(
        f"{each.name}={found!r}"
        for each in fields(value)
        if each.name != "device" and (found := getattr(value, each.name)) != each.default
    )
