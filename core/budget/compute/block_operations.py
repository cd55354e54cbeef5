"""The operations of one block of a model, each with its FLOPs and the bytes that it moves."""

from typing import Final

from core.budget.check import check_choice, check_range
from core.budget.compute.intensity import MOVED, PHASES, Operation, Phase, elementwise, matmul
from core.budget.item import Formula, Number, item
from core.budget.recipe import MAX_TOKENS
from core.language import N_
from core.models.spec import LatentAttention, Mixture, ModelSpec

ATTENTION_FLOPS: Final = Formula(
    "2 * batch_size * num_queries * num_keys * num_heads * (key_dim + value_dim)"
)
# Queries and results for every head; each key and each value is read once for its group of heads.
ATTENTION_BYTES: Final = Formula(
    "item_bytes * batch_size * (key_dim + value_dim)"
    " * (num_queries * num_heads + num_keys * num_kv_heads)"
)
# Absorbed: queries of each head against the compressed keys, whose first part are the values too.
LATENT_BYTES: Final = Formula(
    "item_bytes * batch_size * (num_queries * num_heads * (key_dim + value_dim)"
    " + num_keys * key_dim)"
)
EXPERT_FLOPS: Final = Formula(
    "2 * num_tokens * experts_per_token * num_matrices * hidden_dim * expert_dim"
)
# How many different experts are read when each token picks its own, on average; of uneven ones
# fewer.
EXPERT_BYTES: Final = Formula(
    "item_bytes * (num_experts * (1 - (1 - experts_per_token / num_experts) ** num_tokens)"
    " * num_matrices * hidden_dim * expert_dim + 2 * num_tokens * experts_per_token * hidden_dim)"
)
NORM_FLOPS: Final = 4  # square, add up, scale, times the weight
ROTATE_FLOPS: Final = 3  # two products and a sum
SWIGLU_FLOPS: Final = 6  # exp, add, divide, times x, times up, and the sign
GELU_FLOPS: Final = 20  # with tanh, as Stanford CS336 counts it


def op_intensities(
    spec: ModelSpec,
    context: int,
    *,
    batch_size: int = 1,
    phase: Phase = "prefill",
    item_bytes: float = 2,
) -> tuple[Operation, ...]:
    """Return the operations of one block, then the head, in the order in which they run.

    A mixture of experts shows a block with experts, a hybrid one with attention. The same ratios
    hold in training's forward pass, which is a prefill of the whole batch.

    Args:
        spec: The model.
        context: Tokens of a sequence.
        batch_size: Sequences at once.
        phase: "prefill" reads all tokens at once, "decode" writes one more after `context`.
        item_bytes: Bytes of a number in memory.

    Raises:
        ValueError: If a number is out of range.
    """
    check_range("context", context, 1, MAX_TOKENS)
    check_range("batch_size", batch_size, 1, 1_000_000)
    check_choice("phase", phase, PHASES)
    rows = batch_size * (context if phase == "prefill" else 1)
    norm = elementwise(
        N_("norm"),
        rows,
        spec.hidden_dim,
        flops_each=NORM_FLOPS,
        num_operands=2,
        item_bytes=item_bytes,
    )
    head = matmul(N_("head"), rows, spec.hidden_dim, spec.vocab_size, item_bytes)
    attention = _attention(spec, context, batch_size, phase, item_bytes)
    return (norm, *attention, *_feed_forward(spec, rows, item_bytes), head)


def _attention(
    spec: ModelSpec, context: int, batch_size: int, phase: Phase, item_bytes: float
) -> tuple[Operation, ...]:
    num_queries = context if phase == "prefill" else 1
    rows = batch_size * num_queries
    sizes = {
        "num_keys": _num_keys(spec, context),
        "num_heads": spec.num_heads,
        "num_kv_heads": spec.num_kv_heads,
        "key_dim": spec.head_dim,
        "value_dim": spec.head_dim,
        "item_bytes": item_bytes,
        "batch_size": batch_size,
        "num_queries": num_queries,
    }
    if spec.latent is not None:
        return (
            *_latent(spec, spec.latent, sizes, rows, phase),
            *_index(spec, spec.latent.query_rank, sizes | {"num_keys": context}, rows),
        )
    keys = spec.num_kv_heads * spec.head_dim
    queries = spec.num_heads * spec.head_dim
    projected = queries * (1 + spec.attention_gate) + 2 * keys
    rotated = elementwise(
        N_("rotary positions"), rows, queries + keys,
        flops_each=ROTATE_FLOPS, num_operands=2, item_bytes=item_bytes,
    )  # fmt: skip
    return (
        matmul(N_("queries, keys, values"), rows, spec.hidden_dim, projected, item_bytes),
        *([] if spec.learned_positions else [rotated]),
        _pairs(N_("attention"), ATTENTION_BYTES, sizes),
        matmul(N_("attention output"), rows, queries, spec.hidden_dim, item_bytes),
    )


def _num_keys(spec: ModelSpec, context: int) -> int:
    """Return the tokens that a query attends to, at most, where all layers agree on it."""
    if spec.indexer is not None:
        return min(context, spec.indexer.top_k)
    all_windowed = spec.num_windowed_layers == spec.num_attention_layers
    return min(context, spec.window or context) if all_windowed else context


def _latent(
    spec: ModelSpec,
    latent: LatentAttention,
    sizes: dict[str, Number],
    rows: int,
    phase: Phase,
) -> tuple[Operation, ...]:
    """Return latent attention: spread out in prefill, in the compressed width in decode."""
    item_bytes, heads = float(sizes["item_bytes"]), spec.num_heads
    compressed, width = latent.kv_rank + latent.rope_dim, latent.nope_dim + latent.rope_dim
    queries = (
        [
            matmul(N_("queries, compressed"), rows, spec.hidden_dim, latent.query_rank, item_bytes),
            matmul(N_("queries"), rows, latent.query_rank, heads * width, item_bytes),
        ]
        if latent.query_rank
        else [matmul("queries", rows, spec.hidden_dim, heads * width, item_bytes)]
    )
    if phase == "decode":
        dims = {"key_dim": compressed, "value_dim": latent.kv_rank}
        attention = _pairs(N_("attention"), LATENT_BYTES, sizes | dims)
    else:
        dims = {"key_dim": width, "value_dim": latent.value_dim, "num_kv_heads": heads}
        attention = _pairs(N_("attention"), ATTENTION_BYTES, sizes | dims)
    spread = heads * (latent.nope_dim + latent.value_dim)
    return (
        *queries,
        matmul(N_("keys and values, compressed"), rows, spec.hidden_dim, compressed, item_bytes),
        matmul(N_("keys and values"), rows, latent.kv_rank, spread, item_bytes),
        attention,
        matmul(N_("attention output"), rows, heads * latent.value_dim, spec.hidden_dim, item_bytes),
    )


def _index(
    spec: ModelSpec, query_rank: int, sizes: dict[str, Number], rows: int
) -> tuple[Operation, ...]:
    """Return what picks the tokens: it scores all of them, with one key for all its heads."""
    indexer, item_bytes = spec.indexer, float(sizes["item_bytes"])
    if indexer is None:
        return ()
    heads, width = indexer.num_heads, indexer.head_dim
    scored = sizes | {"num_heads": heads, "key_dim": width, "value_dim": 0}
    return (
        matmul(N_("index queries"), rows, query_rank, heads * width, item_bytes),
        matmul(N_("index keys and weights"), rows, spec.hidden_dim, width + heads, item_bytes),
        _pairs(N_("index scores"), LATENT_BYTES, scored),
    )


def _pairs(name: str, moved: Formula, sizes: dict[str, Number]) -> Operation:
    return Operation(
        name=name,
        flops=item(name, ATTENTION_FLOPS, sizes, unit="FLOPs", kind="exact", source=MOVED),
        moved=item(name, moved, sizes, unit="bytes", kind="bound", source=MOVED),
    )


def _feed_forward(spec: ModelSpec, rows: int, item_bytes: float) -> tuple[Operation, ...]:
    added = elementwise(
        N_("residual sum"), rows, spec.hidden_dim,
        flops_each=1, num_operands=3, item_bytes=item_bytes,
    )  # fmt: skip
    if spec.mixture is not None and spec.num_expert_layers:
        router = matmul(N_("router"), rows, spec.hidden_dim, spec.mixture.num_experts, item_bytes)
        shared = 3 * spec.mixture.num_shared * spec.mixture.expert_dim
        always = matmul(N_("shared experts"), rows, spec.hidden_dim, shared, item_bytes)
        experts = _experts(spec, spec.mixture, rows, item_bytes)
        return (added, router, experts, *([always] if shared else []))
    columns = spec.ffn_dim * (2 if spec.gated else 1)
    bent = elementwise(
        N_("SwiGLU") if spec.gated else "GELU", rows, spec.ffn_dim,
        flops_each=SWIGLU_FLOPS if spec.gated else GELU_FLOPS,
        num_operands=3 if spec.gated else 2,
        item_bytes=item_bytes,
    )  # fmt: skip
    up = N_("gate and up") if spec.gated else N_("up")
    return (
        added,
        matmul(up, rows, spec.hidden_dim, columns, item_bytes),
        bent,
        matmul(N_("down"), rows, spec.ffn_dim, spec.hidden_dim, item_bytes),
    )


def _experts(spec: ModelSpec, mixture: Mixture, rows: int, item_bytes: float) -> Operation:
    sizes: dict[str, Number] = {
        "item_bytes": item_bytes,
        "num_tokens": rows,
        "num_experts": mixture.num_experts,
        "experts_per_token": mixture.experts_per_token,
        "num_matrices": 3 if spec.gated else 2,
        "hidden_dim": spec.hidden_dim,
        "expert_dim": mixture.expert_dim,
    }
    return Operation(
        name=N_("experts"),
        flops=item("experts", EXPERT_FLOPS, sizes, unit="FLOPs", kind="exact", source=MOVED),
        moved=item(
            "experts", EXPERT_BYTES, sizes,
            unit="bytes", source=MOVED, kind="estimated", band=(0.2, 0.0),
        ),
    )  # fmt: skip
