"""Which tensors a layer keeps for the backward pass: rows of the kernels that its profile calls.

Every row is one tensor and was found by tracing the modules of `core.models`; the sums are held
against that trace to within 64 bytes a layer (tests/core/budget/training/test_activations.py). A
tensor that two operations keep is one row: they share its storage.
"""

from collections.abc import Mapping
from functools import lru_cache
from types import MappingProxyType
from typing import Final, NamedTuple

from core.budget.catalogue.profiles import PROFILES, Profile
from core.language import N_
from core.models.spec import ModelSpec


class Saved(NamedTuple):
    """One kept tensor.

    Attributes:
        what: The tensor, for a reader.
        op: The operation that keeps it.
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
_RESIDUAL: Final = "residual_bytes * norm_tokens * hidden_dim"
_RMS: Final = N_("1 / rms of each token")
_HEAD_RMS: Final = N_("1 / rms of each head")

RMS_NORM: Final[Mapping[str, Rows]] = {
    "steps": (
        Saved(N_("norm's input in fp32"), "pow, mul", "4 * norm_tokens * hidden_dim"),
        Saved(_RMS, "rsqrt, mul", "4 * norm_tokens"),
        Saved(N_("normed input"), "mul", _RESIDUAL, ("norm",)),
    ),
    "kernel": (
        Saved(N_("norm's input"), "rms_norm", _RESIDUAL),
        Saved(_RMS, "rms_norm", "4 * norm_tokens"),
    ),
}
LAYER_NORM: Final[Rows] = (
    Saved(N_("norm's input"), "layer_norm", _RESIDUAL),
    Saved(N_("mean and 1 / deviation"), "layer_norm", "8 * norm_tokens"),
)

ATTENTION_INPUT: Final = N_("input of q, k and v")
_QUERIES: Final = "value_bytes * num_tokens * query_dim"
_KEYS: Final = "value_bytes * num_tokens * 2 * kv_dim"
_MIXED: Final = N_("attention's output")
_ROW_SUMS: Final = Saved(
    N_("log-sum-exp of each row"), "attention", "4 * num_tokens * num_heads", output=True
)
_SCORES: Final = "num_heads * batch_size * seq_len ** 2"
FULL_SCORES: Final[Rows] = (
    Saved(N_("softmax of the scores"), "softmax", "value_bytes * " + _SCORES),
    Saved(N_("dropout mask of the scores"), "dropout", _SCORES),
    Saved(N_("dropped scores"), "matmul", "value_bytes * " + _SCORES),
)
ATTENTION: Final[Mapping[str, Rows]] = {
    "flash": (
        Saved(N_("queries"), "attention", _QUERIES),
        Saved(N_("keys and values"), "attention", _KEYS),
        Saved(_MIXED, "attention", _QUERIES, output=True),
        _ROW_SUMS,
    ),
    "full": (
        Saved(N_("queries"), "matmul", _QUERIES),
        Saved(N_("keys and values of every head"), "matmul", "2 * " + _QUERIES),
        *FULL_SCORES,
        Saved(_MIXED, "linear o", _QUERIES, ("o",), output=True),
    ),
}

_BOTH: Final = "num_tokens * (query_dim + kv_dim)"
_BOTH_HEADS: Final = "4 * num_tokens * (num_heads + num_kv_heads)"
_BOTH_TOKENS: Final = "2 * 4 * num_tokens"
QK_NORM: Final[Mapping[str, Rows]] = {
    "steps": (
        Saved(N_("queries and keys in fp32"), "pow, mul", "4 * " + _BOTH),
        Saved(_HEAD_RMS, "rsqrt, mul", _BOTH_HEADS),
        Saved(N_("normed queries and keys"), "mul", "value_bytes * " + _BOTH, ("norm",)),
    ),
    "kernel": (
        Saved(N_("queries and keys before their norm"), "rms_norm", "value_bytes * " + _BOTH),
        Saved(_HEAD_RMS, "rms_norm", _BOTH_HEADS),
    ),
}

_HEAD_KEYS: Final = "value_bytes * num_tokens * num_heads * (nope_dim + rope_dim)"
_HEAD_VALUES: Final = "value_bytes * num_tokens * num_heads * value_dim"
LATENT_ATTENTION: Final[Mapping[str, Rows]] = {
    "flash": (
        Saved(N_("queries"), "attention", _HEAD_KEYS),
        Saved(N_("keys, and values padded to their width"), "attention", "2 * " + _HEAD_KEYS),
        Saved(N_("attention's padded output"), "attention", _HEAD_KEYS, output=True),
        _ROW_SUMS,
        Saved(_MIXED, "linear o", _HEAD_VALUES, ("o",)),
    ),
    "full": (
        Saved(N_("queries"), "matmul", _HEAD_KEYS),
        Saved(N_("keys, and values padded to their width"), "matmul", "2 * " + _HEAD_KEYS),
        *FULL_SCORES,
        Saved(_MIXED, "linear o", _HEAD_VALUES, ("o",)),
    ),
}
_ROTATED: Final = "rotated_bytes * num_tokens * "
CORE: Final[Rows] = (
    Saved(N_("queries and keys"), "checkpoint", _ROTATED + "(query_dim + kv_dim)"),
    Saved(N_("values"), "checkpoint", "value_bytes * num_tokens * kv_dim"),
)
LATENT_CORE: Final[Rows] = (
    Saved(N_("queries and keys"), "checkpoint", _ROTATED + "2 * num_heads * (nope_dim + rope_dim)"),
    Saved(N_("padded values"), "checkpoint", _HEAD_KEYS),
)
_NARROW: Final = "value_bytes * num_tokens * kv_rank"
_SHARED: Final = "num_tokens * (kv_rank + rope_dim)"
LATENT_NORM: Final[Mapping[str, Rows]] = {
    "steps": (
        Saved(N_("latent in fp32"), "pow, mul", "4 * num_tokens * (kv_rank + rope_in_view)"),
        Saved(_RMS, "rsqrt, mul", "4 * num_tokens"),
        Saved(N_("normed latent"), "mul", _NARROW, ("norm",)),
        Saved(N_("input of keys and values"), "linear kv", _NARROW, ("latent",)),
    ),
    "kernel": (
        Saved(N_("latent"), "rms_norm", "value_bytes * " + _SHARED),
        Saved(_RMS, "rms_norm", "4 * num_tokens"),
        Saved(N_("input of keys and values"), "linear kv", _NARROW, ("latent",)),
    ),
}
_COMPRESSED: Final = "value_bytes * num_tokens * query_rank"
QUERY_NORM: Final[Mapping[str, Rows]] = {
    "steps": (
        Saved(N_("narrow queries in fp32"), "pow, mul", "4 * num_tokens * query_rank"),
        Saved(_RMS, "rsqrt, mul", "4 * num_tokens"),
        Saved(N_("normed narrow queries"), "mul", _COMPRESSED, ("norm",)),
        Saved(N_("input of the queries"), "linear q", _COMPRESSED, ("latent",)),
    ),
    "kernel": (
        Saved(N_("narrow queries"), "rms_norm", _COMPRESSED),
        Saved(_RMS, "rms_norm", "4 * num_tokens"),
        Saved(N_("input of the queries"), "linear q", _COMPRESSED, ("latent",)),
    ),
}

# Not traced: from the widths of what such layers make (see `core.budget.training.activations`).
GATE: Final[Rows] = (Saved(N_("gate and gated output"), "mul", "2 * " + _QUERIES),)
_INNER: Final = "value_bytes * num_tokens * "
RECURRENT: Final[Rows] = (
    Saved(N_("input of the projections"), "matmul", NORMED, ("recurrent",)),
    Saved(N_("projected inputs"), "matmul", _INNER + "projected_dim"),
    Saved(N_("before and after the convolution"), "conv1d", _INNER + "2 * conv_dim"),
    Saved(N_("states between chunks of 64 tokens"), "scan",
          "4 * num_tokens * mixer_dim * state_dim // 64"),
    Saved(N_("gate and gated output"), "mul", _INNER + "2 * mixer_dim"),
)  # fmt: skip
LAYER_INPUTS: Final[Rows] = (
    Saved(N_("streams of AltUp"), "matmul", "3 * num_streams * " + NORMED),
    Saved(N_("inputs of Laurel"), "matmul", _INNER + "(laurel_rank + 2 * hidden_dim)"),
    Saved(N_("per-layer inputs"), "mul", _INNER + "3 * layer_input_dim"),
)
DROPOUT: Final[Rows] = (Saved(N_("dropout mask"), "dropout", "norm_tokens * hidden_dim"),)
ROUTER: Final[Rows] = (
    Saved(N_("router's probabilities"), "softmax", "4 * num_tokens * num_experts"),
    Saved(N_("indices of the picked experts"), "topk, index_select",
          "8 * (2 * num_tokens * experts_per_token + num_rows)"),
    Saved(N_("tokens, by expert"), "bmm", "value_bytes * num_rows * hidden_dim", ("experts",)),
    Saved(N_("answers of the experts"), "mul",
          "value_bytes * num_tokens * experts_per_token * hidden_dim"),
    Saved(N_("weights of the experts"), "mul", "value_bytes * num_tokens * experts_per_token"),
)  # fmt: skip


GELU_INPUT: Final = N_("GELU's input")


def inner(width: str, kind: str, matrix: str) -> Rows:
    """Return the rows of a feed-forward layer's inside.

    Args:
        width: The bytes of one inner tensor, as a formula.
        kind: "gate" or "gelu", then "steps" or "kernel".
        matrix: The matrix that reads the product: "down", or "experts".
    """
    gates = (
        Saved(N_("gate"), "silu", width, output=True),
        Saved(N_("up"), "mul", width, output=True),
    )
    wide = (Saved(GELU_INPUT, "gelu", width, output=True),)
    whole = width.replace("value_bytes", "residual_bytes")  # autocast takes powers in fp32
    product = (Saved(N_("product"), f"matmul {matrix}", width, (matrix,)),)
    small = (
        Saved(GELU_INPUT, "pow", whole, output=True),
        Saved(N_("half the input"), "mul", width),
        Saved(N_("tanh"), "tanh", whole),
        Saved(N_("1 + tanh"), "mul", whole),
    )
    return {
        "gate steps": (*gates, Saved(N_("silu of the gate"), "mul", width), *product),
        "gate kernel": (*gates, *product),
        "gelu steps": (*small, *product),
        "gelu kernel": (*wide, *product),
    }[kind]


_DENSE: Final = "value_bytes * num_tokens * ffn_dim"
_EXPERT: Final = "value_bytes * num_rows * expert_dim"
_SHARED_EXPERTS: Final = "value_bytes * num_tokens * num_shared * expert_dim"


@lru_cache(maxsize=512)
def saved_tensors(spec: ModelSpec, profile: str) -> Mapping[str, Rows]:
    """Return the kept tensors of one layer by part: norms, attention, feed-forward, experts.

    "feed-forward" are those of a dense layer, "experts" those of a layer with experts.
    """
    chosen = PROFILES[profile]
    dropout = DROPOUT if chosen.dropout else ()
    parts = {"norms": _norms(spec, chosen), "attention": (*_attention(spec, chosen), *dropout)}
    if spec.attention_gate:
        parts["attention"] += GATE
    if spec.recurrent is not None:
        parts["recurrent layers"] = RECURRENT
    if spec.layer_inputs is not None:
        parts["per-layer inputs"] = LAYER_INPUTS
    if spec.num_dense_layers:
        read = ("gate", "up") if spec.gated else ("up",)
        kind = f"gate {chosen.gate}" if spec.gated else f"gelu {chosen.gelu}"
        size = f"pair_copies * {NORMED}" if spec.gated else NORMED
        first = Saved(N_("input of the feed-forward layer"), "matmul", size, read)
        parts["feed-forward"] = (first, *inner(_DENSE, kind, "down"), *dropout)
    if spec.num_expert_layers:
        parts["experts"] = (*_experts(spec, chosen), *dropout)
    return MappingProxyType(parts)


def _norms(spec: ModelSpec, profile: Profile) -> Rows:
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
        read = Saved(ATTENTION_INPUT, "matmul", f"qkv_copies * {NORMED}", needs)
        normed = _qk_norm(spec, profile) if spec.qk_norm else ()
        return (read, *normed, *ATTENTION[profile.attention])
    read = Saved(N_("input of the latent"), "matmul", f"pair_copies * {NORMED}", ("latent",))
    queries = QUERY_NORM[profile.rms_norm] if spec.latent.query_rank else ()
    keys = LATENT_NORM[profile.rms_norm]
    return (read, *queries, *keys, *LATENT_ATTENTION[profile.attention])


def _qk_norm(spec: ModelSpec, profile: Profile) -> Rows:
    rows = QK_NORM[profile.rms_norm]
    if spec.qk_norm_over == "head":
        return rows
    return tuple(
        row._replace(what=_RMS, size=_BOTH_TOKENS) if row.what == _HEAD_RMS else row for row in rows
    )


def _experts(spec: ModelSpec, profile: Profile) -> Rows:
    kind = f"gate {profile.gate}"
    first = Saved(N_("input of the router"), "matmul", NORMED, ("experts",))
    rows = (first, *ROUTER, *inner(_EXPERT, kind, "experts"))
    if spec.mixture is None or not spec.mixture.num_shared:
        return rows
    return (*rows, *inner(_SHARED_EXPERTS, kind, "experts"))
