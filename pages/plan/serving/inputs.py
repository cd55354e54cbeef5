"""What is served, how and on what: the choices of the serving page."""

from dataclasses import dataclass, replace
from typing import Final

import streamlit as st

from core.budget.cluster import Cluster, DeviceSpec
from core.budget.serving.decode_speeds import with_measured_mbu
from core.budget.serving.kv_cache import with_kv_heads
from core.budget.serving.memory import AXES, Axis, check_group
from core.budget.serving.peaks import native_peak
from core.budget.serving.plan import COMPUTES, ServingPlan, with_context
from core.budget.serving.throughput import calibrated
from core.language import _
from core.models.spec import ModelSpec
from core.units import format_percent
from pages.shared.inputs import Inputs
from pages.shared.plan.choices import (
    AS_RELEASED,
    RELEASED,
    SERVED_CONTEXTS,
    SERVED_SEQUENCES,
    as_released,
    choose_device,
    choose_model,
    note_long_context,
)
from pages.shared.sides import box
from pages.shared.tabbed_page import Shown

ASK: Final = Inputs("serving", of_picture=("axis",))
MARGIN: Final = {"l": 8, "r": 24, "t": 34, "b": 8}  # of a picture, in px
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
ANSWERS: Final = (
    16,
    24,
    32,
    48,
    64,
    96,
    128,
    192,
    *SERVED_CONTEXTS[: SERVED_CONTEXTS.index(8192) + 1],
)
GROUPS: Final = (1, 2, 4, 8)
MEASURED: Final = "measured"
SHARES: Final = (MEASURED, *(f"{tenth / 10:.1f}" for tenth in range(1, 11)))


@dataclass(frozen=True, kw_only=True, slots=True)
class Case:
    """What the pictures of the page speak of."""

    made: ModelSpec
    spec: ModelSpec
    plan: ServingPlan
    cluster: Cluster
    axis: Axis


def words_of(case: Case) -> list[str]:
    """Return what is served, how and on what, word by word: what tells two cases apart."""
    plan, device = case.plan, case.cluster.device.name
    heads = "" if case.spec == case.made else f" · {case.spec.num_kv_heads} KV"
    return [
        f"{case.made.name}{heads}",
        plan.weight_format,
        f"{plan.tensor} × {device}" if plan.tensor > 1 else device,
        _("KV cache in {format}").format(format=plan.kv_format),
        f"{plan.concurrency:,} × {plan.context:,}",
    ]


def choose_case() -> Case:
    """Show the inputs and return what they say; what cannot be is told and left out."""
    context = ASK.select_slider(
        "context",
        _("Context length (tokens)"),
        SERVED_CONTEXTS,
        default=8192,
        labels=_count,
        help=_("Of each sequence: its prompt and its answer together."),
    )
    sequences = ASK.select_slider(
        "sequences", _("Concurrent sequences"), SERVED_SEQUENCES, default=4, labels=_count
    )
    model = choose_model(ASK, default=DEFAULT_MODEL)
    device = choose_device(ASK, default=DEFAULT_DEVICE)
    with box(st.popover, _("Settings"), icon=":material/tune:"):
        axis = _choose_axis()
        plan = _choose_plan(ServingPlan(concurrency=sequences), model.spec)
        spec = _choose_heads(model.spec)
        tokens_per_second = ASK.number(
            "own_speed",
            _("Measured tokens/s for one user (0: none)"),
            0.0,
            100_000.0,
            default=0.0,
            step=1.0,
        )
    plan = _possible_compute(_fitted(plan, context), device.device)
    cluster = Cluster(device=device.device, num_devices=plan.tensor)
    try:
        check_group(spec, plan, cluster)
    except ValueError as problem:  # such a group becomes one device
        st.error(str(problem))
        plan, cluster = replace(plan, tensor=1), Cluster(device=device.device)
    if tokens_per_second:
        plan = _calibrate(spec, plan, cluster, tokens_per_second)
    note_long_context(spec, plan.context)
    return Case(made=model.spec, spec=spec, plan=plan, cluster=cluster, axis=axis)


def _count(count: int) -> str:
    return f"{count:,}"


def _choose_axis() -> Axis:
    words = {"context": _("context length"), "sequences": _("concurrent sequences")}
    return ASK.segmented(
        "axis", _("X-axis of device memory"), AXES, default="sequences", labels=words.__getitem__
    )


def _choose_plan(plan: ServingPlan, spec: ModelSpec) -> ServingPlan:
    released = spec.quantized or "bfloat16"
    weights = ASK.selectbox(
        "weights",
        _("Weight format"),
        (RELEASED, *WEIGHT_FORMATS),
        default=RELEASED,
        labels=lambda word: as_released(released) if word == RELEASED else word,
        help=_(AS_RELEASED),
    )
    cache = ASK.selectbox("kv", _("KV cache format"), KV_FORMATS, default="bfloat16")
    words = {"weight-only": _("16-bit (weight-only quantization)"), "native": _("as stored")}
    compute = ASK.segmented(
        "compute",
        _("Matmul precision"),
        COMPUTES,
        default="weight-only",
        labels=words.__getitem__,
        help=_(
            "Weight-only formats are turned into 16 bits before each matmul: they save memory and "
            "reading. As stored, FP8 or FP4 weights are multiplied as they are, with activations "
            "rounded to as few bits, at that format's own peak."
        ),
    )
    tensor = ASK.segmented("tensor", _("Tensor-parallel size (TP)"), GROUPS, default=1)
    answer = ASK.select_slider(
        "answer", _("Output length (tokens)"), ANSWERS, default=512, labels=_count
    )
    mfu = ASK.slider("mfu", _("MFU of prefill"), 0.05, 1.0, default=0.5, step=0.05)
    mbu = ASK.select_slider(
        "mbu",
        _("Share of the bandwidth in decoding (MBU)"),
        SHARES,
        default=MEASURED,
        labels=lambda word: _("measured") if word == MEASURED else word,
    )
    weights = released if weights == RELEASED else weights
    plan = replace(
        plan, weight_format=weights, kv_format=cache, compute=compute,
        tensor=tensor, output_len=answer, mfu=mfu,
    )  # fmt: skip
    return with_measured_mbu(plan) if mbu == MEASURED else replace(plan, mbu=float(mbu))


def _possible_compute(plan: ServingPlan, device: DeviceSpec) -> ServingPlan:
    """Return the plan, weight-only where the device cannot multiply the format as it is stored."""
    if plan.compute == "native":
        try:
            native_peak(device, plan.weight_format)
        except ValueError as problem:
            st.error(str(problem))
            return replace(plan, compute="weight-only")
    return plan


def _choose_heads(spec: ModelSpec) -> ModelSpec:
    words = {"made": _("as made"), "mha": _("MHA"), "mqa": _("MQA")}
    kind = ASK.segmented(
        "heads",
        _("KV heads"),
        tuple(words),
        default="made",
        labels=words.__getitem__,
        disabled=spec.latent is not None,
    )
    if kind == "made":
        return spec
    return with_kv_heads(spec, spec.num_heads if kind == "mha" else 1)


def _fitted(plan: ServingPlan, context: int) -> ServingPlan:
    """Return the plan with the context; an answer too long for it is told and cut."""
    cut = with_context(plan, context)
    if cut.output_len < plan.output_len:
        st.caption(
            _("An output of {asked} tokens does not fit in {context}: it is cut to {left}.").format(
                asked=f"{plan.output_len:,}", context=f"{context:,}", left=f"{cut.output_len:,}"
            )
        )
    return cut


def _calibrate(
    spec: ModelSpec, plan: ServingPlan, cluster: Cluster, tokens_per_second: float
) -> ServingPlan:
    """Return the plan at the reader's own speed; one that cannot be is told and left out."""
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


def refusal(problem: ValueError) -> Shown:
    """Tell of a device without the numbers that a picture needs."""
    st.error(str(problem))
    return Shown()
