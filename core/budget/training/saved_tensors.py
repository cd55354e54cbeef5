"""Which tensors one layer of a model keeps: the rows of the kernels that its profile calls."""

from collections.abc import Mapping
from functools import lru_cache
from types import MappingProxyType
from typing import Final

from core.budget.training.profiles import PROFILES, Profile
from core.budget.training.saved_rows import (
    ATTENTION,
    DROPOUT,
    LATENT_ATTENTION,
    LATENT_NORM,
    LAYER_NORM,
    NORMED,
    QK_NORM,
    QUERY_NORM,
    RMS_NORM,
    ROUTER,
    Rows,
    Saved,
    inner,
)
from core.language import N_
from core.models.spec import ModelSpec

_DENSE: Final = "value_bytes * num_tokens * ffn_dim"
_EXPERT: Final = "value_bytes * num_rows * expert_dim"
_SHARED: Final = "value_bytes * num_tokens * num_shared * expert_dim"


@lru_cache(maxsize=512)
def saved_tensors(spec: ModelSpec, profile: str) -> Mapping[str, Rows]:
    """Return the kept tensors of one layer by part: norms, attention, feed-forward, experts.

    "feed-forward" are those of a dense layer, "experts" those of a layer with experts.
    """
    chosen = PROFILES[profile]
    dropout = DROPOUT if chosen.dropout else ()
    parts = {"norms": _norms(spec, chosen), "attention": (*_attention(spec, chosen), *dropout)}
    if spec.num_dense_layers:
        parts["feed-forward"] = (*_dense(spec, chosen), *dropout)
    if spec.num_expert_layers:
        parts["experts"] = (*_experts(spec, chosen), *dropout)
    return MappingProxyType(parts)


def _norms(spec: ModelSpec, profile: Profile) -> Rows:
    """Return the rows of the norms before the parts of a block, then of those after them."""
    rows = LAYER_NORM if spec.norm == "layer" else RMS_NORM[profile.rms_norm]
    before = tuple(row._replace(size=f"2 * {row.size}") for row in rows)
    if spec.norms_per_layer <= 2:
        return before
    # what comes out of a matrix product has its dtype, also under autocast
    after = (row._replace(size=row.size.replace("residual_bytes", "value_bytes")) for row in rows)
    return before + tuple(row._replace(size=f"2 * {row.size}") for row in after)


def _attention(spec: ModelSpec, profile: Profile) -> Rows:
    if spec.latent is None:
        needs = ("q", "k", "v")
        read = Saved(N_("input of q, k and v"), "matmul", f"qkv_copies * {NORMED}", needs)
        normed = QK_NORM[profile.rms_norm] if spec.qk_norm else ()
        return (read, *normed, *ATTENTION[profile.attention])
    read = Saved(N_("input of the latent"), "matmul", f"pair_copies * {NORMED}", ("latent",))
    queries = QUERY_NORM[profile.rms_norm] if spec.latent.query_rank else ()
    keys = LATENT_NORM[profile.rms_norm]
    return (read, *queries, *keys, *LATENT_ATTENTION[profile.attention])


def _dense(spec: ModelSpec, profile: Profile) -> Rows:
    read = ("gate", "up") if spec.gated else ("up",)
    kind = f"gate {profile.gate}" if spec.gated else f"gelu {profile.gelu}"
    size = f"pair_copies * {NORMED}" if spec.gated else NORMED
    first = Saved(N_("input of the feed-forward layer"), "matmul", size, read)
    return (first, *inner(_DENSE, kind, "down"))


def _experts(spec: ModelSpec, profile: Profile) -> Rows:
    kind = f"gate {profile.gate}"
    first = Saved(N_("input of the router"), "matmul", NORMED, ("experts",))
    rows = (first, *ROUTER, *inner(_EXPERT, kind, "experts"))
    if spec.mixture is None or not spec.mixture.num_shared:
        return rows
    return (*rows, *inner(_SHARED, kind, "experts"))
