"""What is served, how and on what: the plan, and what only the serving page asks."""

from dataclasses import dataclass, replace
from typing import Any, Final

import streamlit as st

from core.budget.cluster import Cluster
from core.budget.serving.decode_speeds import with_measured_mbu
from core.budget.serving.kv_cache import with_kv_heads
from core.budget.serving.memory import AXES, Axis, check_group
from core.budget.serving.peaks import native_peak
from core.budget.serving.plan import COMPUTES, ServingPlan
from core.budget.serving.throughput import calibrated
from core.language import _
from core.models.spec import ModelSpec
from core.units import format_percent
from pages.shared.inputs import Inputs
from pages.shared.plan import plan
from pages.shared.plan.plan import Chosen, choose_plan, note_length

ASK: Final = Inputs("serving", of_picture=("axis",))
MARGIN: Final = {"l": 8, "r": 24, "t": 34, "b": 8}  # of a picture, in px
MEASURED: Final = "measured"
SHARES: Final = (MEASURED, *(f"{tenth / 10:.1f}" for tenth in range(1, 11)))


@dataclass(frozen=True, kw_only=True, slots=True)
class Case:
    """What the pictures of the page speak of.

    Attributes:
        chosen: The plan of the reader.
        made: The model as it was made.
        spec: The model with the KV heads that were asked for.
        plan: How it is served.
        cluster: The group of devices that shares it.
        axis: What grows in the picture of the memory.
    """

    chosen: Chosen
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
    seen: tuple[str, ...] = ("context_length", "concurrency", "model", "device")
    if ASK.used("tab") == "heads":
        seen = ("context_length", "model")
    settings = {_("Serving"): ("devices", "weights", "kv", "output")}
    chosen = choose_plan(seen, settings, _choose_own)
    own, made, device = chosen.own, chosen.plan.spec, chosen.device.device
    served = replace(
        chosen.plan.serving, tensor=chosen.plan.num_devices, compute=own["compute"], mfu=own["mfu"]
    )
    _tell_cut(served)
    measured = own["mbu"] == MEASURED
    served = with_measured_mbu(served) if measured else replace(served, mbu=float(own["mbu"]))
    served = _possible(served, chosen)
    spec = _with_heads(made, own["heads"])
    cluster = Cluster(device=device, num_devices=served.tensor)
    try:
        check_group(spec, served, cluster)
    except ValueError as problem:  # such a group becomes one device
        st.error(str(problem))
        served, cluster = replace(served, tensor=1), Cluster(device=device)
    if own["own_speed"]:
        served = _calibrate(spec, served, cluster, own["own_speed"])
    note_length(chosen, "serve")
    return Case(chosen=chosen, made=made, spec=spec, plan=served, cluster=cluster, axis=own["axis"])


def _choose_own() -> dict[str, Any]:
    """Show what the plan does not say of serving and return it by name."""
    axes = {"context": _("context length"), "sequences": _("concurrent sequences")}
    computes = {"weight-only": _("16-bit (weight-only quantization)"), "native": _("as stored")}
    heads = {"made": _("as made"), "mha": _("MHA"), "mqa": _("MQA")}
    return {
        "axis": ASK.segmented(
            "axis", _("X-axis of device memory"), AXES, default="sequences",
            labels=axes.__getitem__,
        ),
        "compute": ASK.segmented(
            "compute", _("Matmul precision"), COMPUTES, default="weight-only",
            labels=computes.__getitem__,
            help=_(
                "Weight-only formats are turned into 16 bits before each matmul: they save memory "
                "and reading. As stored, FP8 or FP4 weights are multiplied as they are, with "
                "activations rounded to as few bits, at that format's own peak."
            ),
        ),
        "mfu": ASK.slider("mfu", _("MFU of prefill"), 0.05, 1.0, default=0.5, step=0.05),
        "mbu": ASK.select_slider(
            "mbu", _("Share of the bandwidth in decoding (MBU)"), SHARES, default=MEASURED,
            labels=lambda word: _("measured") if word == MEASURED else word,
        ),
        "heads": ASK.segmented(
            "heads", _("KV heads"), tuple(heads), default="made", labels=heads.__getitem__
        ),
        "own_speed": ASK.number(
            "own_speed", _("Measured tokens/s for one user (0: none)"), 0.0, 100_000.0,
            default=0.0, step=1.0,
        ),
    }  # fmt: skip


def _possible(served: ServingPlan, chosen: Chosen) -> ServingPlan:
    """Return the plan, weight-only where the device cannot multiply the format as it is stored."""
    if served.compute == "native":
        try:
            native_peak(chosen.device.device, served.weight_format)
        except ValueError as problem:
            st.error(str(problem))
            return replace(served, compute="weight-only")
    return served


def _with_heads(spec: ModelSpec, kind: str) -> ModelSpec:
    """Return the model with other KV heads; a latent vector has none to change."""
    if kind == "made" or spec.latent is not None:
        return spec
    return with_kv_heads(spec, spec.num_heads if kind == "mha" else 1)


def _tell_cut(served: ServingPlan) -> None:
    asked = int(plan.ASK.used("output", str(served.output_len)))
    if served.output_len < asked:
        st.caption(
            _("An output of {asked} tokens does not fit in {context}: it is cut to {left}.").format(
                asked=f"{asked:,}", context=f"{served.context:,}", left=f"{served.output_len:,}"
            )
        )


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
