"""What is served, how and on what: the choices of the serving page."""

from dataclasses import dataclass, replace
from typing import Final

import streamlit as st

from core.budget.cluster import Cluster
from core.budget.serving.decode_speeds import with_measured_mbu
from core.budget.serving.kv_cache import with_kv_heads
from core.budget.serving.memory import Axis, check_group
from core.budget.serving.plan import ServingPlan, with_context
from core.budget.serving.throughput import calibrated
from core.language import _
from core.models.spec import ModelSpec
from core.units import format_percent
from pages.budget.serving.code import serving_code
from pages.shared import pickers
from pages.shared.budget.choices import ChosenDevice, ChosenModel, choose_device, choose_model
from pages.shared.budget.long_context import note_long_context
from pages.shared.budget.offered_sizes import SERVED_CONTEXTS, SERVED_SEQUENCES
from pages.shared.inputs import Inputs

PAGE: Final = "serving"
DEFAULT_MODEL: Final = "llama-3.1-8b"
DEFAULT_DEVICE: Final = "rtx-4090"
WEIGHT_FORMATS: Final = (
    *("bfloat16", "float32", "int8_channel", "int8_group128", "fp8_block128", "int4_group128"),
    *("int4_group128_affine", "mxfp4", "nvfp4", "nf4_double_quant"),
)
KV_FORMATS: Final = (
    *("bfloat16", "float8_e4m3fn", "fp8_block128", "int8_channel", "int8_group128"),
    *("int4_group128_affine", "nvfp4"),
)
ANSWERS: Final = tuple(2**power for power in range(4, 14))
GROUPS: Final = (1, 2, 4, 8)
MEASURED: Final = "measured"
SHARES: Final = (MEASURED, *(f"{tenth / 10:.1f}" for tenth in range(1, 11)))


@dataclass(frozen=True, kw_only=True, slots=True)
class ServingCase:
    """All choices of the page.

    Attributes:
        model: The model as it was chosen.
        device: The device as it was chosen.
        spec: The model with the key heads that were asked for.
        plan: How it is served.
        cluster: The group of devices that shares it.
        code: Python that makes spec, plan and cluster.
        axis: What changes in the picture of the memory.
    """

    model: ChosenModel
    device: ChosenDevice
    spec: ModelSpec
    plan: ServingPlan
    cluster: Cluster
    code: str
    axis: Axis = "context"


def choose_case() -> ServingCase:
    """Show the inputs and return what they say; what cannot be is told and left out."""
    with st.container(key="serving_inputs", horizontal=True, vertical_alignment="bottom"):
        model = choose_model(Inputs(PAGE), default=DEFAULT_MODEL)
        device = choose_device(Inputs(PAGE), default=DEFAULT_DEVICE)
        weights = pickers.selectbox(
            PAGE, "weights", _("Weight format"), WEIGHT_FORMATS, default="bfloat16"
        )
        cache = pickers.selectbox(PAGE, "kv", _("KV cache format"), KV_FORMATS, default="bfloat16")
        with st.popover(_("Settings"), icon=":material/tune:", width="content"):
            plan = _choose_plan(ServingPlan(weight_format=weights, kv_format=cache))
            heads = _choose_heads(model.spec)
            tokens_per_second = _choose_own_speed()
    plan = _choose_lengths(plan)
    spec = model.spec if heads is None else with_kv_heads(model.spec, heads)
    return _checked(model, device, spec, plan, tokens_per_second)


def _choose_plan(plan: ServingPlan) -> ServingPlan:
    tensor = pickers.segmented(PAGE, "tensor", _("Devices that share the model"), GROUPS, default=1)
    answer = pickers.select_slider(
        PAGE, "answer", _("Tokens of an answer, of the context"), ANSWERS, default=512
    )
    mfu = pickers.slider(
        PAGE, "mfu", _("Share of the peak for prompts (MFU)"), 0.05, 1.0, default=0.5, step=0.05
    )
    mbu = pickers.select_slider(
        PAGE,
        "mbu",
        _("Share of the bandwidth for answers (MBU)"),
        SHARES,
        default=MEASURED,
        labels=lambda word: _("measured") if word == MEASURED else word,
    )
    plan = replace(plan, tensor=tensor, output_len=answer, mfu=mfu)
    return with_measured_mbu(plan) if mbu == MEASURED else replace(plan, mbu=float(mbu))


def _choose_heads(spec: ModelSpec) -> int | None:
    """Return the key heads that were asked for; None as the model was made."""
    words = {"made": _("as made"), "mha": _("MHA"), "mqa": _("MQA")}
    kind = pickers.segmented(
        PAGE,
        "heads",
        _("Key heads"),
        tuple(words),
        default="made",
        labels=words.__getitem__,
        disabled=spec.latent is not None,
    )
    return {"made": None, "mha": spec.num_heads, "mqa": 1}[kind]


def _choose_own_speed() -> float:
    return pickers.number(
        PAGE,
        "own_speed",
        _("My own tokens/s for one reader (0: not measured)"),
        0.0,
        100_000.0,
        default=0.0,
        step=1.0,
    )


def _choose_lengths(plan: ServingPlan) -> ServingPlan:
    with st.container(key="serving_sliders", horizontal=True):
        context = pickers.select_slider(
            PAGE,
            "context",
            _("Context (tokens)"),
            SERVED_CONTEXTS,
            default=8192,
            labels=lambda count: f"{count:,}",
            help=_("Of each sequence: its prompt and its answer together."),
        )
        sequences = pickers.select_slider(
            PAGE,
            "sequences",
            _("Sequences at once"),
            SERVED_SEQUENCES,
            default=4,
            labels=lambda count: f"{count:,}",
        )
    return replace(_with_context(plan, context), concurrency=sequences)


def _with_context(plan: ServingPlan, context: int) -> ServingPlan:
    """Return the plan with that context; an answer that does not fit in it is told and cut."""
    cut = with_context(plan, context)
    if cut.output_len < plan.output_len:
        st.caption(
            _("An answer of {asked} tokens does not fit in {context}: it is cut to {left}.").format(
                asked=f"{plan.output_len:,}", context=f"{context:,}", left=f"{cut.output_len:,}"
            )
        )
    return cut


def _checked(
    model: ChosenModel,
    device: ChosenDevice,
    spec: ModelSpec,
    plan: ServingPlan,
    tokens_per_second: float,
) -> ServingCase:
    """Return the case; a group that cannot share the model is told and becomes one device."""
    cluster = Cluster(device=device.device, num_devices=plan.tensor)
    try:
        check_group(spec, plan, cluster)
    except ValueError as problem:
        st.error(str(problem))
        plan, cluster = replace(plan, tensor=1), Cluster(device=device.device)
    if tokens_per_second:
        plan = _calibrate(spec, plan, cluster, tokens_per_second)
    note_long_context(spec, plan.context)
    code = serving_code(model, device, spec, plan)
    return ServingCase(model=model, device=device, spec=spec, plan=plan, cluster=cluster, code=code)


def _calibrate(
    spec: ModelSpec, plan: ServingPlan, cluster: Cluster, tokens_per_second: float
) -> ServingPlan:
    try:
        plan = calibrated(spec, plan, cluster, tokens_per_second)
    except ValueError as problem:
        st.error(str(problem))
        return plan
    st.caption(
        _("Calibrated with your {speed} tokens/s: {share} of the bandwidth.").format(
            speed=f"{tokens_per_second:,.4g}", share=format_percent(plan.mbu)
        )
    )
    return plan
