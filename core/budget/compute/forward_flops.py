"""The FLOPs of matrix products, component by component: forward and backward.

A multiply and an add are 2 FLOPs. Norms, activations, softmax and the embedding's look-ups are left
out, as in every published count: together they are some tenths of a per cent. Each rule equals what
torch's FlopCounterMode finds in `core.models` (tests/core/budget/compute/test_step_flops.py).
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from core.budget.check import check_range
from core.budget.item import GUESSED_WORK, Formula, Item, Number, as_guessed, counted, item, total
from core.budget.recipe import MAX_TOKENS
from core.budget.share import whole
from core.budget.weights.parameters import (
    CONVOLUTION,
    RECURRENT_INPUTS,
    RECURRENT_OUTPUT,
    local_sizes,
)
from core.language import N_
from core.models.spec import ModelSpec

PRODUCTS: Final = N_("2 FLOPs for each multiply and add; Kaplan et al. 2020, table 1")
LATENT: Final = N_("DeepSeek-V2 2024, section 2.1: projections through the compressed widths")
SCORES: Final = N_("queries times keys, then weights times values, for every pair of tokens")

CHUNKS: Final = N_("queries times keys, then weights times values, for each pair in a chunk")
PICKED: Final = N_("DeepSeek-V3.2, 2025, section 2.1: pairs with the tokens that the indexer picks")
STEPS: Final = N_("token by token, the least possible: kernels that work in chunks compute more")
INPUTS: Final = N_("Gemma 3n's own matrix products in each layer; sums and scalings left out")
INDEX: Final = N_("DeepSeek-V3.2, 2025, equation 1: the indexer's queries times its keys")

_PER_LAYER: Final = "2 * num_tokens * num_attention_layers"
PROJECTIONS: Final = Formula(
    f"{_PER_LAYER} * hidden_dim * head_dim * ((2 + has_gate) * num_heads + 2 * num_kv_heads)"
)
_LATENT_KEYS: Final = (
    "hidden_dim * (kv_rank + rope_dim) + kv_rank * num_heads * (nope_dim + value_dim)"
    " + num_heads * value_dim * hidden_dim"
)
LATENT_PROJECTIONS: Final = Formula(
    f"{_PER_LAYER} * (hidden_dim * query_rank + query_rank * num_heads * key_dim + {_LATENT_KEYS})"
)
LATENT_PLAIN_QUERIES: Final = Formula(
    f"{_PER_LAYER} * (hidden_dim * num_heads * key_dim + {_LATENT_KEYS})"
)
_HEADS: Final = "num_heads * (key_dim + value_dim)"
FULL_SCORES: Final = Formula(f"{_PER_LAYER} * seq_len * {_HEADS}")
CAUSAL_SCORES: Final = Formula(f"num_tokens * num_full_layers * (seq_len + 1) * {_HEADS}")
# Of a sequence's first `window` tokens each sees all before it, every later one `window` tokens.
WINDOW_SCORES: Final = Formula(
    f"num_tokens * num_windowed_layers * window * (2 * seq_len - window + 1) * {_HEADS} // seq_len"
)
# A chunk's tokens see from its start on: whole chunks of `window` tokens, then the rest.
CHUNK_SCORES: Final = Formula(
    f"num_tokens * num_windowed_layers * (num_chunks * window * (window + 1) + rest * (rest + 1))"
    f" * {_HEADS} // seq_len"
)
INDEX_PROJECTIONS: Final = Formula(
    f"{_PER_LAYER}"
    " * (query_rank * index_heads * index_dim + hidden_dim * (index_dim + index_heads))"
)
_INDEX_HEADS: Final = "index_heads * index_dim"
FULL_INDEX: Final = Formula(f"{_PER_LAYER} * seq_len * {_INDEX_HEADS}")
CAUSAL_INDEX: Final = Formula(f"num_tokens * num_attention_layers * (seq_len + 1) * {_INDEX_HEADS}")
FEED_FORWARD: Final = Formula(
    "2 * num_tokens * num_dense_layers * num_matrices * hidden_dim * ffn_dim"
)
_EXPERT: Final = "num_matrices * hidden_dim * expert_dim"
EXPERTS: Final = Formula(f"2 * num_tokens * num_expert_layers * experts_per_token * {_EXPERT}")
SHARED_EXPERTS: Final = Formula(f"2 * num_tokens * num_expert_layers * num_shared * {_EXPERT}")
ROUTER: Final = Formula(
    "2 * num_tokens * num_expert_layers * hidden_dim * (num_experts + num_shared_gates)"
)
RECURRENT: Final = {
    kind: Formula(f"2 * num_tokens * num_recurrent_layers * ({inputs} + {RECURRENT_OUTPUT})")
    for kind, inputs in RECURRENT_INPUTS.items()
}
CONVOLUTIONS: Final = Formula(f"2 * num_tokens * num_recurrent_layers * {CONVOLUTION}")
# Token by token each head's state is written and read; the delta rules also read it to correct it.
STATES: Final = Formula(
    "2 * num_tokens * num_recurrent_layers * mixer_dim * state_dim * num_products"
)
LAYER_INPUTS: Final = Formula(
    "2 * num_tokens * (num_layers * (3 * hidden_dim * layer_input_dim"
    " + hidden_dim * (2 * laurel_rank + num_streams ** 2 + 2 * num_streams))"
    " + 2 * (num_streams - 1) * hidden_dim ** 2)"
)
HEAD: Final = Formula("2 * num_tokens * hidden_dim * vocab_size")
JOIN: Final = Formula("2 * num_tokens * 2 * hidden_dim * hidden_dim")
PREDICTION: Final = N_(
    "DeepSeek-V3 2024, section 2.2: one more block over the joined hidden state and embedding of "
    "each token, and the shared head again; in training alone, and in no budget of memory"
)


def forward_flops(spec: ModelSpec, num_tokens: int, seq_len: int, *, causal: bool = False) -> Item:
    """Return the FLOPs of one forward pass over sequences of `seq_len`, one child a component.

    `num_tokens` are those of all sequences. `causal` counts only the pairs of tokens that the
    causal mask and the windows let through, as a kernel that skips the rest; otherwise it is the
    whole square in every layer, as PaLM's MFU and FlopCounterMode do.

    Raises:
        ValueError: If a length is not positive or beyond reason.
    """
    check_range("num_tokens", num_tokens, 1, MAX_TOKENS**2)
    check_range("seq_len", seq_len, 1, MAX_TOKENS)
    sizes = flop_sizes(spec) | {"num_tokens": num_tokens, "seq_len": seq_len}
    parts = [_projections(spec, sizes), *_scores(spec, sizes, causal=causal)]
    parts += _index(spec, sizes, causal=causal)
    parts += _recurrent(spec, sizes)
    parts += _feed_forward(spec, sizes)
    if spec.layer_inputs is not None:
        name = N_("per-layer inputs")
        parts.append(item(name, LAYER_INPUTS, sizes, unit="FLOPs", kind="bound", source=INPUTS))
    parts.append(_counted(N_("head"), HEAD, sizes))
    return as_guessed(total(N_("forward"), parts, source=PRODUCTS), spec, GUESSED_WORK)


def training_forward(
    spec: ModelSpec, num_tokens: int, seq_len: int, *, causal: bool = False
) -> Item:
    """Return the FLOPs of a forward pass of training: with multi-token prediction if there is."""
    forward = forward_flops(spec, num_tokens, seq_len, causal=causal)
    if not spec.num_mtp_layers:
        return forward
    more = _prediction(spec, num_tokens * spec.num_mtp_layers, seq_len, causal=causal)
    whole_pass = total(forward.name, [*forward.children, more], source=PRODUCTS)
    return as_guessed(whole_pass, spec, GUESSED_WORK)


def _prediction(spec: ModelSpec, num_tokens: int, seq_len: int, *, causal: bool) -> Item:
    """Return the FLOPs of blocks that predict further tokens, over all tokens of all of them."""
    experts = spec.mixture and replace(spec.mixture, num_dense_layers=0, alternating=False)
    block = ModelSpec(
        name=spec.name, num_layers=1, hidden_dim=spec.hidden_dim, num_heads=spec.num_heads,
        num_kv_heads=spec.num_kv_heads, head_dim=spec.head_dim, ffn_dim=spec.ffn_dim,
        vocab_size=spec.vocab_size, seq_len=spec.seq_len, gated=spec.gated, mixture=experts,
        latent=spec.latent, indexer=spec.indexer, attention_gate=spec.attention_gate,
    )  # fmt: skip
    sizes = {"num_tokens": num_tokens, "hidden_dim": spec.hidden_dim}
    parts = forward_flops(block, num_tokens, seq_len, causal=causal).children
    joined = _counted(N_("joining projection"), JOIN, sizes, PREDICTION)
    return total(N_("multi-token prediction"), [joined, *parts], source=PREDICTION)


def flop_sizes(spec: ModelSpec) -> dict[str, Number]:
    """Return what the formulas of this room call the sizes of a model."""
    latent = spec.latent
    return local_sizes(spec, whole(spec)) | {
        "num_windowed_layers": spec.num_windowed_layers,
        "num_full_layers": spec.num_attention_layers - spec.num_windowed_layers,
        "key_dim": latent.nope_dim + latent.rope_dim if latent else spec.head_dim,
        "value_dim": latent.value_dim if latent else spec.head_dim,
    }


def is_scores(part: Item) -> bool:
    """Return whether a component is attention's pairs of tokens, not products with weights."""
    return part.name in {"attention scores", "windowed scores"}


def is_pairs(part: Item) -> bool:
    """Return whether a component is made of pairs of tokens, those of an indexer too."""
    return is_scores(part) or part.name == "index scores"


def _projections(spec: ModelSpec, sizes: Mapping[str, Number]) -> Item:
    name = N_("attention projections")
    if spec.latent is None:
        return _counted(name, PROJECTIONS, sizes)
    formula = LATENT_PROJECTIONS if spec.latent.query_rank else LATENT_PLAIN_QUERIES
    return _counted(name, formula, sizes, LATENT)


def _scores(spec: ModelSpec, sizes: dict[str, Number], *, causal: bool) -> list[Item]:
    whole_name, seq_len = N_("attention scores"), int(sizes["seq_len"])
    if not causal:
        return [_counted(whole_name, FULL_SCORES, sizes, SCORES)]
    if spec.indexer is not None:  # as if all layers had a window of so many tokens
        window = {
            "window": min(spec.indexer.top_k, seq_len),
            "num_windowed_layers": spec.num_attention_layers,
        }
        return [_counted(whole_name, WINDOW_SCORES, sizes | window, PICKED)]
    parts = []
    if spec.num_windowed_layers < spec.num_attention_layers:
        parts.append(_counted(whole_name, CAUSAL_SCORES, sizes, SCORES))
    if spec.num_windowed_layers:
        parts.append(_windowed(spec, sizes, min(spec.window or MAX_TOKENS, seq_len)))
    return parts


def _windowed(spec: ModelSpec, sizes: dict[str, Number], window: int) -> Item:
    name = N_("windowed scores")
    if not spec.chunked:
        return _counted(name, WINDOW_SCORES, sizes | {"window": window}, SCORES)
    num_chunks, rest = divmod(int(sizes["seq_len"]), window)
    values = sizes | {"window": window, "num_chunks": num_chunks, "rest": rest}
    return _counted(name, CHUNK_SCORES, values, CHUNKS)


def _index(spec: ModelSpec, sizes: Mapping[str, Number], *, causal: bool) -> list[Item]:
    if spec.indexer is None:
        return []
    scores = CAUSAL_INDEX if causal else FULL_INDEX
    return [
        _counted(N_("index projections"), INDEX_PROJECTIONS, sizes, INDEX),
        _counted(N_("index scores"), scores, sizes, INDEX),
    ]


def _recurrent(spec: ModelSpec, sizes: Mapping[str, Number]) -> list[Item]:
    if spec.recurrent is None:
        return []
    kind = spec.recurrent.kind
    parts = [
        _counted(N_("recurrent projections"), RECURRENT[kind], sizes),
        _counted(N_("convolutions"), CONVOLUTIONS, sizes),
    ]
    if spec.recurrent.state_dim:
        values = {**sizes, "num_products": 2 if kind == "mamba-2" else 3}
        name = N_("states of the heads")
        parts.append(item(name, STATES, values, unit="FLOPs", kind="bound", source=STEPS))
    return parts


def _counted(
    name: str, formula: Formula, sizes: Mapping[str, Number], source: str = PRODUCTS
) -> Item:
    return counted(name, formula, sizes, source, "FLOPs")


def _feed_forward(spec: ModelSpec, sizes: Mapping[str, Number]) -> list[Item]:
    parts = []
    if spec.num_dense_layers:
        parts.append(_counted(N_("feed-forward"), FEED_FORWARD, sizes))
    if spec.mixture is None or not spec.num_expert_layers:
        return parts
    parts += [_counted(N_("experts"), EXPERTS, sizes), _counted(N_("router"), ROUTER, sizes)]
    if spec.mixture.num_shared:
        parts.append(_counted(N_("shared experts"), SHARED_EXPERTS, sizes))
    return parts
