"""The operations of a model: FLOPs, bytes moved, and how often each runs in one pass."""

from dataclasses import replace
from typing import Final

from core.budget.check import check_choice, check_range
from core.budget.compute.forward_flops import STATES, flop_sizes
from core.budget.compute.intensity import MOVED, PHASES, Operation, Phase, elementwise, matmul
from core.budget.item import Formula, Number, counted, estimated, item
from core.budget.recipe import MAX_TOKENS
from core.budget.weights.parameters import RECURRENT_INPUTS
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
STATE_BYTES: Final = Formula("2 * 4 * num_chunks * mixer_dim * state_dim")
CHUNK: Final = 64  # tokens of a prompt between which a kernel keeps the states where it computes
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
    """Return the operations of all blocks, then the head; equal ones once, with how often they run.

    Of a block's norms and residual sums one each is counted: kernels fuse the others with their
    neighbours. The same ratios hold in training's forward pass, a prefill of the whole batch.
    "prefill" reads all tokens at once, "decode" writes one more after `context`; `item_bytes` are
    those of a number in memory.

    Raises:
        ValueError: If a number is out of range.
    """
    check_range("context", context, 1, MAX_TOKENS)
    check_range("batch_size", batch_size, 1, 1_000_000)
    check_choice("phase", phase, PHASES)
    num_queries = context if phase == "prefill" else 1
    rows = batch_size * num_queries
    num_recurrent = len(spec.recurrent.layers) if spec.recurrent else 0
    norm = elementwise(
        N_("norm"), rows, spec.hidden_dim,
        flops_each=NORM_FLOPS, num_operands=2, item_bytes=item_bytes,
    )  # fmt: skip
    head = matmul(N_("head"), rows, spec.hidden_dim, spec.vocab_size, item_bytes)
    attention = _attention(spec, context, batch_size, phase, item_bytes)
    added = elementwise(
        N_("residual sum"), rows, spec.hidden_dim,
        flops_each=1, num_operands=3, item_bytes=item_bytes,
    )  # fmt: skip
    return (
        *_in_layers(spec.num_layers, norm),
        *attention,
        *_in_layers(num_recurrent, *_recurrent(spec, batch_size, num_queries, item_bytes)),
        *_in_layers(spec.num_layers, added),
        *_in_layers(spec.num_dense_layers, *_feed_forward(spec, rows, item_bytes)),
        *_in_layers(spec.num_expert_layers, *_experts(spec, spec.mixture, rows, item_bytes)),
        head,
    )


def _in_layers(times: int, *operations: Operation) -> tuple[Operation, ...]:
    return tuple(replace(each, times=times) for each in operations) if times else ()


def _attention(
    spec: ModelSpec, context: int, batch_size: int, phase: Phase, item_bytes: float
) -> tuple[Operation, ...]:
    num_queries = context if phase == "prefill" else 1
    rows = batch_size * num_queries
    sizes = {
        "num_keys": min(context, spec.indexer.top_k) if spec.indexer else context,
        "num_heads": spec.num_heads,
        "num_kv_heads": spec.num_kv_heads,
        "key_dim": spec.head_dim,
        "value_dim": spec.head_dim,
        "item_bytes": item_bytes,
        "batch_size": batch_size,
        "num_queries": num_queries,
    }
    if spec.latent is not None:
        return _in_layers(
            spec.num_attention_layers,
            *_latent(spec, spec.latent, sizes, rows, phase),
            *_index(spec, spec.latent.query_rank, sizes | {"num_keys": context}, rows),
        )
    keys = spec.num_kv_heads * spec.head_dim
    queries = spec.num_heads * spec.head_dim
    columns = queries * (1 + spec.attention_gate) + 2 * keys
    rotated = elementwise(
        N_("rotary positions"), rows, queries + keys,
        flops_each=ROTATE_FLOPS, num_operands=2, item_bytes=item_bytes,
    )  # fmt: skip
    projected = matmul(N_("queries, keys, values"), rows, spec.hidden_dim, columns, item_bytes)
    window = min(context, spec.window or context)
    windowed = spec.num_windowed_layers if window < context else 0
    full = _pairs(N_("attention"), ATTENTION_BYTES, sizes)
    narrow = _pairs(N_("sliding-window attention"), ATTENTION_BYTES, sizes | {"num_keys": window})
    output = matmul(N_("attention output"), rows, queries, spec.hidden_dim, item_bytes)
    num_layers = spec.num_attention_layers
    return (
        *_in_layers(num_layers, projected, *([] if spec.learned_positions else [rotated])),
        *_in_layers(num_layers - windowed, full),
        *_in_layers(windowed, narrow),
        *_in_layers(num_layers, output),
    )


def _recurrent(
    spec: ModelSpec, batch_size: int, num_queries: int, item_bytes: float
) -> tuple[Operation, ...]:
    if spec.recurrent is None:
        return ()
    kind, rows = spec.recurrent.kind, batch_size * num_queries
    sizes = flop_sizes(spec) | {
        "num_products": 2 if kind == "mamba-2" else 3,
        "num_tokens": rows,
        "num_recurrent_layers": 1,
        "num_chunks": batch_size * -(-num_queries // CHUNK),
    }
    columns = -(-int(Formula(RECURRENT_INPUTS[kind]).of(sizes)) // spec.hidden_dim)
    states = Operation(
        name=N_("states of the heads"),
        flops=item("states", STATES, sizes, unit="FLOPs", kind="bound", source=MOVED),
        moved=item("states", STATE_BYTES, sizes, unit="bytes", kind="bound", source=MOVED),
    )
    return (
        matmul(N_("recurrent projections"), rows, spec.hidden_dim, columns, item_bytes),
        elementwise(
            N_("convolutions"), rows, int(sizes["conv_dim"]),
            flops_each=2 * spec.recurrent.kernel, num_operands=2, item_bytes=item_bytes,
        ),
        *([states] if spec.recurrent.state_dim else []),
        matmul(
            N_("recurrent output"), rows, int(sizes["mixer_dim"]), spec.hidden_dim, item_bytes
        ),
    )  # fmt: skip


def _latent(
    spec: ModelSpec, latent: LatentAttention, sizes: dict[str, Number], rows: int, phase: Phase
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
        flops=counted(name, ATTENTION_FLOPS, sizes, MOVED, "FLOPs"),
        moved=item(name, moved, sizes, unit="bytes", kind="bound", source=MOVED),
    )


def _feed_forward(spec: ModelSpec, rows: int, item_bytes: float) -> tuple[Operation, ...]:
    columns = spec.ffn_dim * (2 if spec.gated else 1)
    bent = elementwise(
        N_("SwiGLU") if spec.gated else "GELU", rows, spec.ffn_dim,
        flops_each=SWIGLU_FLOPS if spec.gated else GELU_FLOPS,
        num_operands=3 if spec.gated else 2,
        item_bytes=item_bytes,
    )  # fmt: skip
    up = N_("gate and up") if spec.gated else N_("up")
    return (
        matmul(up, rows, spec.hidden_dim, columns, item_bytes),
        bent,
        matmul(N_("down"), rows, spec.ffn_dim, spec.hidden_dim, item_bytes),
    )


def _experts(
    spec: ModelSpec, mixture: Mixture | None, rows: int, item_bytes: float
) -> tuple[Operation, ...]:
    if mixture is None:
        return ()
    sizes: dict[str, Number] = {
        "item_bytes": item_bytes,
        "num_tokens": rows,
        "num_experts": mixture.num_experts,
        "experts_per_token": mixture.experts_per_token,
        "num_matrices": 3 if spec.gated else 2,
        "hidden_dim": spec.hidden_dim,
        "expert_dim": mixture.expert_dim,
    }
    columns = mixture.num_experts + mixture.shared_gate
    router = matmul(N_("router"), rows, spec.hidden_dim, columns, item_bytes)
    routed = Operation(
        name=N_("experts"),
        flops=counted("experts", EXPERT_FLOPS, sizes, MOVED, "FLOPs"),
        moved=estimated("experts", EXPERT_BYTES, sizes, MOVED, (0.2, 0.0)),
    )  # fmt: skip
    shared = int(sizes["num_matrices"]) * mixture.num_shared * mixture.expert_dim
    always = matmul(N_("shared experts"), rows, spec.hidden_dim, shared, item_bytes)
    return (router, routed, *([always] if shared else []))
