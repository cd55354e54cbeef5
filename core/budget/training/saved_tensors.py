"""Which tensors a layer keeps for the backward pass: rows of the kernels that its profile calls.

Every row of saved_tensors.toml is one tensor and was found by tracing the modules of `core.models`;
the sums are held against that trace to within 64 bytes a layer
(tests/core/budget/training/test_activations.py). A tensor that two operations keep is one row: they
share its storage.
"""

from collections.abc import Mapping
from functools import lru_cache
from types import MappingProxyType
from typing import Any, Final, NamedTuple

from core.budget.catalogue.profiles import PROFILES, Profile
from core.budget.table import read_table
from core.language import N_
from core.models.spec import ModelSpec


class Saved(NamedTuple):
    """One kept tensor.

    Attributes:
        size: Its bytes, as a formula in the sizes of `core.budget.training.activations`.
        input_of: Matrices, or "norm", that alone need it, for their own gradient: with frozen
            weights it is not kept. Empty where it is always kept.
        output: Whether it comes straight out of a matrix product or the attention kernel, which
            selective checkpointing does not repeat.
    """

    what: str
    op: str
    size: str
    input_of: tuple[str, ...] = ()
    output: bool = False


Rows = tuple[Saved, ...]
NORMED: Final = "value_bytes * norm_tokens * hidden_dim"
"""One tensor as wide as the residual stream, in the dtype of the matrix products."""
ATTENTION_INPUT: Final = N_("input of q, k and v")


def _saved(row: dict[str, Any]) -> Saved:
    return Saved(**row | {"input_of": tuple(row.get("input_of", ()))})


ROWS: Final[Mapping[str, Rows]] = {
    kernel: tuple(map(_saved, rows)) for kernel, rows in read_table(__file__).items()
}
"""Kernel, or part of a layer -> the tensors that it keeps."""


def norm_rows(norm: str, profile: Profile) -> Rows:
    """Return what one norm keeps: "layer" or "rms"."""
    return ROWS["layer norm" if norm == "layer" else f"rms norm {profile.rms_norm}"]


@lru_cache(maxsize=512)
def saved_tensors(spec: ModelSpec, profile: str) -> Mapping[str, Rows]:
    """Return the kept tensors of one layer by part: norms, attention, feed-forward, experts.

    "feed-forward" are those of a dense layer, "experts" those of a layer with experts.
    """
    chosen = PROFILES[profile]
    dropout = ROWS["dropout"] if chosen.dropout else ()
    parts = {"norms": _norms(spec, chosen), "attention": (*_attention(spec, chosen), *dropout)}
    if spec.attention_gate:
        parts["attention"] += ROWS["gate"]
    if spec.recurrent is not None:
        parts["recurrent layers"] = ROWS["recurrent"]
    if spec.layer_inputs is not None:
        parts["per-layer inputs"] = ROWS["per-layer inputs"]
    if spec.num_dense_layers:
        read = ("gate", "up") if spec.gated else ("up",)
        kind = f"gate {chosen.gate}" if spec.gated else f"gelu {chosen.gelu}"
        size = f"pair_copies * {NORMED}" if spec.gated else NORMED
        first = Saved(N_("input of the feed-forward layer"), "matmul", size, read)
        inner = _inner("value_bytes * num_tokens * ffn_dim", kind, "down")
        parts["feed-forward"] = (first, *inner, *dropout)
    if spec.num_expert_layers:
        parts["experts"] = (*_experts(spec, chosen), *dropout)
    return MappingProxyType(parts)


def _norms(spec: ModelSpec, profile: Profile) -> Rows:
    rows = norm_rows(spec.norm, profile)
    before = tuple(row._replace(size=f"2 * {row.size}") for row in rows)
    if spec.norms_per_layer <= 2:
        return before
    # what comes out of a matrix product has its dtype, also under autocast
    after = (row._replace(size=row.size.replace("residual_bytes", "value_bytes")) for row in rows)
    return before + tuple(row._replace(size=f"2 * {row.size}") for row in after)


def _attention(spec: ModelSpec, profile: Profile) -> Rows:
    if spec.latent is None:
        needs = ("q", "k", "v")
        read = Saved(ATTENTION_INPUT, "matmul", f"qkv_copies * {NORMED}", needs)
        normed = _query_and_key_norm(spec, profile) if spec.qk_norm else ()
        return (read, *normed, *ROWS[f"attention {profile.attention}"])
    read = Saved(N_("input of the latent"), "matmul", f"pair_copies * {NORMED}", ("latent",))
    queries = ROWS[f"narrow query norm {profile.rms_norm}"] if spec.latent.query_rank else ()
    keys = ROWS[f"latent norm {profile.rms_norm}"]
    return (read, *queries, *keys, *ROWS[f"latent attention {profile.attention}"])


def _query_and_key_norm(spec: ModelSpec, profile: Profile) -> Rows:
    rows = ROWS[f"query and key norm {profile.rms_norm}"]
    if spec.qk_norm_over == "head":
        return rows
    return tuple(
        row._replace(what=N_("1 / rms of each token"), size="2 * 4 * num_tokens")
        if row.what == "1 / rms of each head"
        else row
        for row in rows
    )


def _experts(spec: ModelSpec, profile: Profile) -> Rows:
    kind = f"gate {profile.gate}"
    first = Saved(N_("input of the router"), "matmul", NORMED, ("experts",))
    routed = _inner("value_bytes * num_rows * expert_dim", kind, "experts")
    rows = (first, *ROWS["router"], *routed)
    if spec.mixture is None or not spec.mixture.num_shared:
        return rows
    width = "value_bytes * num_tokens * num_shared * expert_dim"
    return (*rows, *_inner(width, kind, "experts"))


def _inner(width: str, kind: str, matrix: str) -> Rows:
    """Return the rows of a feed-forward layer's inside.

    `kind` is "gate" or "gelu", then "steps" or "kernel"; `matrix` reads the product.
    """
    wide = width.replace("value_bytes", "residual_bytes")  # autocast takes powers in fp32
    rows = (
        row._replace(size=row.size.format(width=width, wide=wide)) for row in ROWS[f"inner {kind}"]
    )
    return (*rows, Saved(N_("product"), f"matmul {matrix}", width, (matrix,)))
