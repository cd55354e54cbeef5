"""What is served, how and on what: the choices of the serving page."""

from dataclasses import dataclass, replace
from typing import Final

import streamlit as st

from core.budget.cluster import Cluster, DeviceSpec
from core.budget.serving.decode_speeds import with_measured_mbu
from core.budget.serving.kv_cache import with_kv_heads
from core.budget.serving.memory import check_group
from core.budget.serving.peaks import native_peak
from core.budget.serving.plan import COMPUTES, ServingPlan, with_context
from core.budget.serving.throughput import calibrated
from core.language import _
from core.models.spec import ModelSpec
from core.units import format_percent
from pages.shared.budget.choices import (
    SERVED_CONTEXTS,
    SERVED_SEQUENCES,
    choose_device,
    choose_model,
    note_long_context,
)
from pages.shared.inputs import Inputs
from pages.shared.tabbed_page import Shown

ASK: Final = Inputs("serving")
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
CODE: Final = """
from dataclasses import replace
from core.budget.catalogue.models import MODELS
from core.budget.cluster import Cluster, DeviceSpec
from core.budget.catalogue.devices import DEVICES, custom_device, local_device
from core.budget.catalogue.hf_config import read_config
from core.budget.serving.kv_cache import kv_cache, kv_cache_bytes_per_token
from core.budget.serving.memory import inference_budget
from core.budget.serving.plan import ServingPlan
from core.budget.serving.throughput import roofline_points
from core.budget.serving.latency import decode_latency, prefill_latency
from core.budget.serving.throughput import throughput_curve
from core.machine import probe_machine

spec = replace({model}{heads})
plan = {plan}
cluster = Cluster(device={device}, num_devices={tensor})
budget = inference_budget(spec, plan, cluster)
for part in budget.item.children:
    print(f"{{part.name:12}} {{part.amount / 2**30:8.2f}} GiB = {{part.substituted}}")
one = kv_cache(spec, plan.context, 1, plan.kv_format).amount
print(f"KV cache: {{kv_cache_bytes_per_token(spec):,}} bytes a token, one sequence {{one:,}}")
print(f"first token {{prefill_latency(spec, plan, cluster).amount * 1e3:.1f}} ms")
print(f"each token {{decode_latency(spec, plan, cluster).amount * 1e3:.2f}} ms")
curve = throughput_curve(spec, plan, cluster)
print(f"one reader {{1 / curve.points[0].seconds_per_token:.1f}} tokens/s;", end=" ")
print("fits:", budget.fits, "· most at once:", curve.largest)
for point in roofline_points(spec, plan, cluster):
    print(f"{{point.phase}} {{point.num_tokens}}: {{point.intensity:.3g}} FLOPs per byte,", end=" ")
    print(f"{{point.mfu:.3%}} of the peak")
"""


@dataclass(frozen=True, kw_only=True, slots=True)
class Case:
    """What the pictures of the page speak of.

    Attributes:
        made: The model as it was made.
        spec: The model with the key heads that were asked for.
        plan: How it is served.
        cluster: The group of devices that shares it.
        code: Python that prints what fits and how fast it is.
    """

    made: ModelSpec
    spec: ModelSpec
    plan: ServingPlan
    cluster: Cluster
    code: str


def choose_case() -> Case:
    """Show the inputs and return what they say; what cannot be is told and left out."""
    with st.container(key="serving_inputs", horizontal=True, vertical_alignment="bottom"):
        model = choose_model(ASK, default=DEFAULT_MODEL)
        device = choose_device(ASK, default=DEFAULT_DEVICE)
        weights = ASK.selectbox("weights", _("Weight format"), WEIGHT_FORMATS, default="bfloat16")
        cache = ASK.selectbox("kv", _("KV cache format"), KV_FORMATS, default="bfloat16")
        with st.popover(_("Settings"), icon=":material/tune:", width="content"):
            plan = _choose_plan(ServingPlan(weight_format=weights, kv_format=cache))
            spec = _choose_heads(model.spec)
            tokens_per_second = ASK.number(
                "own_speed",
                _("My own tokens/s for one reader (0: not measured)"),
                0.0,
                100_000.0,
                default=0.0,
                step=1.0,
            )
    plan = _possible_compute(_choose_lengths(plan), device.device)
    cluster = Cluster(device=device.device, num_devices=plan.tensor)
    try:
        check_group(spec, plan, cluster)
    except ValueError as problem:  # such a group becomes one device
        st.error(str(problem))
        plan, cluster = replace(plan, tensor=1), Cluster(device=device.device)
    if tokens_per_second:
        plan = _calibrate(spec, plan, cluster, tokens_per_second)
    note_long_context(spec, plan.context)
    changed = spec.num_kv_heads != model.spec.num_kv_heads
    code = CODE.format(
        model=model.code,
        heads=f", num_kv_heads={spec.num_kv_heads}" if changed else "",
        plan=plan,
        device=device.code,
        tensor=plan.tensor,
    )
    return Case(made=model.spec, spec=spec, plan=plan, cluster=cluster, code=code)


def _choose_plan(plan: ServingPlan) -> ServingPlan:
    words = {"weight-only": _("in 16 bits (weight-only)"), "native": _("as stored (native)")}
    compute = ASK.segmented(
        "compute",
        _("Weights are multiplied"),
        COMPUTES,
        default="weight-only",
        labels=words.__getitem__,
        help=_(
            "Weight-only formats are turned into 16 bits before each product: they save memory and "
            "reading. Native products take FP8 or FP4 as it is stored, with activations rounded to "
            "as few bits, at that format's own peak."
        ),
    )
    tensor = ASK.segmented("tensor", _("Devices that share the model"), GROUPS, default=1)
    answer = ASK.select_slider(
        "answer", _("Tokens of an answer, of the context"), ANSWERS, default=512
    )
    mfu = ASK.slider(
        "mfu", _("Share of the peak for prompts (MFU)"), 0.05, 1.0, default=0.5, step=0.05
    )
    mbu = ASK.select_slider(
        "mbu",
        _("Share of the bandwidth for answers (MBU)"),
        SHARES,
        default=MEASURED,
        labels=lambda word: _("measured") if word == MEASURED else word,
    )
    plan = replace(plan, compute=compute, tensor=tensor, output_len=answer, mfu=mfu)
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
    """Return the model with the key heads that were asked for."""
    words = {"made": _("as made"), "mha": _("MHA"), "mqa": _("MQA")}
    kind = ASK.segmented(
        "heads",
        _("Key heads"),
        tuple(words),
        default="made",
        labels=words.__getitem__,
        disabled=spec.latent is not None,
    )
    if kind == "made":
        return spec
    return with_kv_heads(spec, spec.num_heads if kind == "mha" else 1)


def _choose_lengths(plan: ServingPlan) -> ServingPlan:
    """Return the plan with context and sequences; an answer too long for it is told and cut."""
    with st.container(key="serving_sliders", horizontal=True):
        context = ASK.select_slider(
            "context",
            _("Context (tokens)"),
            SERVED_CONTEXTS,
            default=8192,
            labels=lambda count: f"{count:,}",
            help=_("Of each sequence: its prompt and its answer together."),
        )
        sequences = ASK.select_slider(
            "sequences",
            _("Sequences at once"),
            SERVED_SEQUENCES,
            default=4,
            labels=lambda count: f"{count:,}",
        )
    cut = with_context(plan, context)
    if cut.output_len < plan.output_len:
        st.caption(
            _("An answer of {asked} tokens does not fit in {context}: it is cut to {left}.").format(
                asked=f"{plan.output_len:,}", context=f"{context:,}", left=f"{cut.output_len:,}"
            )
        )
    return replace(cut, concurrency=sequences)


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
