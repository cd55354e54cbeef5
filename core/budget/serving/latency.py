"""How long a prompt and each token of an answer take: the slower of reading and computing.

Reading the weights takes as long for one sequence as for many; computing grows with them.
So decoding for few readers waits for the memory, a long prompt for the compute units.
"""

from dataclasses import replace
from typing import Final

from core.budget.check import check_range
from core.budget.cluster import Cluster, DeviceSpec
from core.budget.compute.forward_flops import flop_sizes, forward_flops, is_pairs
from core.budget.item import (
    GUESSED_TIME,
    GUESSED_WORK,
    Formula,
    Item,
    Kind,
    Number,
    as_guessed,
    counted,
    estimated,
    item,
    total,
)
from core.budget.serving.decode_speeds import Band, decode_band, measured_fit
from core.budget.serving.kv_cache import kv_read
from core.budget.serving.peaks import known_bandwidth, product_peak, serving_dtype, serving_peak
from core.budget.serving.plan import ServingPlan
from core.budget.weights.parameters import share_counts
from core.budget.weights.stored import (
    quantized_weights,
    serving_share,
    stored_format,
    stored_weights,
)
from core.language import N_
from core.models.spec import ModelSpec

READING: Final = Formula("(weight_bytes + kv_bytes) / (mbu * bandwidth)")
COMPUTING: Final = Formula("flops / (tensor * mfu * flops_per_second)")
NATIVE_COMPUTING: Final = Formula(
    "(matrix_flops / native_flops_per_second + (flops - matrix_flops) / flops_per_second)"
    " / (tensor * mfu)"
)
LAUNCHES: Final = Formula("num_layers * launch_seconds")
JOINS: Final = Formula("num_layers * (launch_seconds + join_seconds)")
# Two sums over the devices in each layer, each over a ring, of 16-bit numbers.
ALL_REDUCES: Final = Formula(
    "num_layers * 2 * 2 * (tensor - 1) / tensor * num_tokens * hidden_dim * 2 / link"
)

_ROOFLINE: Final = N_("the slower of the two: Williams et al. 2009, Roofline")
NO_BAND: Final = Band(
    below=0.0,
    above=0.0,
    source=N_("roofline plus launches; no published measurements to compare with, so no band"),
)
_READ: Final = N_("share of the bandwidth learned from 31 speeds of gpt-fast on A100, or as chosen")
_COMPUTE: Final = N_("dense peak, in 32 bits for 32-bit weights, else in 16, times the MFU")
_NATIVE: Final = N_(
    "the layers' matrices at the dense peak of the format that they are stored in, scores, router "
    "and head at that of 16 bits, times the MFU"
)
_LAUNCH: Final = N_("learned from 31 speeds of gpt-fast on A100: what a layer costs at any size")
_RING: Final = N_("two all-reduces a layer: Shoeybi et al. 2019, Megatron-LM, section 3")

_TOKENS: Final = "num_full_layers * context + num_windowed_layers * min(context, window)"
SCORES: Final = Formula(f"2 * concurrency * ({_TOKENS}) * num_heads * (key_dim + value_dim)")
# In a chunk: the tokens from its start on.
CHUNKED_SCORES: Final = Formula(
    "2 * concurrency * (num_full_layers * context + num_windowed_layers"
    " * (context - (context - 1) // window * window)) * num_heads * (key_dim + value_dim)"
)
# Latent attention multiplies its queries into the compressed space and never unfolds the cache.
LATENT_SCORES: Final = Formula(
    f"2 * concurrency * ({_TOKENS}) * num_heads * (kv_rank + rope_dim + kv_rank)"
)
# The picked tokens in the compressed space, and the indexer's own scores of every token.
INDEXED_SCORES: Final = Formula(
    "2 * concurrency * num_attention_layers * (min(context, top_k) * num_heads"
    " * (kv_rank + rope_dim + kv_rank) + context * index_heads * index_dim)"
)
LAST_TOKEN: Final = Formula("2 * num_sequences * hidden_dim * vocab_size")
_SCORES: Final = N_("queries times keys, then weights times values, for every token in the cache")
_LATENT: Final = N_("DeepSeek-V2, 2024, section 2.1.2: projections absorbed while decoding")
_INDEXED: Final = N_("DeepSeek-V3.2, 2025, section 2.1: every token scored, the best attended to")
_LAST: Final = N_("only the last token of a prompt is turned into a next token")
_PASS: Final = N_("2 FLOPs for each multiply and add; norms and activations left out")

# If each token picks at random, an expert is left out by all of them with (1 - k/E) ** tokens.
EXPERTS_READ: Final = Formula(
    "ceil(expert_bytes * (1 - (1 - experts_per_token / num_experts) ** num_tokens))"
)
_WEIGHTS_READ: Final = N_(
    "every weight once for all tokens of the pass; of the tables only a few rows"
)
_PICKED: Final = N_("experts that at least one token picks, if all are picked equally often")


def prefill_latency(spec: ModelSpec, serving: ServingPlan, cluster: Cluster) -> Item:
    """Return the time to the first token of one prompt, when nobody waits before it.

    Raises:
        ValueError: If the device has no bandwidth, no 16-bit peak, or no link where one is needed.
    """
    num_tokens = serving.prompt_len
    read = weights_read(spec, serving, num_tokens)
    work = {"weight_bytes": read.amount, "kv_bytes": 0}
    work |= _flops(prefill_flops(spec, num_tokens))
    values = _speeds(spec, serving, cluster) | work | {"num_tokens": num_tokens}
    first = _latency("time to first token", serving, cluster.device, values, NO_BAND)
    return as_guessed(first, spec, GUESSED_TIME)


def decode_latency(spec: ModelSpec, serving: ServingPlan, cluster: Cluster) -> Item:
    """Return the time for one more token of each sequence.

    It is that of the token in the middle of the answer, which is the mean over it.
    """
    seen = serving.prompt_len + serving.output_len // 2
    read = kv_read(spec, seen, serving.concurrency, serving.kv_format, serving.tensor)
    work = {
        "weight_bytes": weights_read(spec, serving, serving.concurrency).amount,
        "kv_bytes": read,
        **_flops(decode_flops(spec, seen, serving.concurrency)),
    }
    values = _speeds(spec, serving, cluster) | work | {"num_tokens": serving.concurrency}
    band = decode_band(serving, cluster.device)
    token = _latency("time per token", serving, cluster.device, values, band)
    return as_guessed(token, spec, GUESSED_TIME)


def _latency(
    name: str, serving: ServingPlan, device: DeviceSpec, values: dict[str, Number], band: Band
) -> Item:
    is_native = serving.compute == "native"
    formula, source = (NATIVE_COMPUTING, _NATIVE) if is_native else (COMPUTING, _COMPUTE)
    known = device.estimate(serving_dtype(device, serving))
    roofline = (
        _seconds("reading", READING, values, _READ, band, device.estimate("bandwidth")),
        _seconds("computing", formula, values, source, band, known),
    )
    parts = [total("reading or computing", roofline, source=_ROOFLINE, combine="max")]
    if serving.tensor == 1:
        parts.append(_seconds("launches", LAUNCHES, values, _LAUNCH, band))
    else:
        check_range("link", values["link"], 1, 1e18)
        parts.append(_seconds("launches and joins", JOINS, values, _LAUNCH, band))
        known = device.estimate("link")
        parts.append(_seconds("all-reduces", ALL_REDUCES, values, _RING, band, known))
    return total(name, parts, source=band.source)


def _flops(work: Item) -> dict[str, Number]:
    """Return the FLOPs of a pass, and those of them that multiply quantized matrices."""
    kept = {"head", "router", "states of the heads"}
    wide = [part for part in work.children if is_pairs(part) or part.name in kept]
    return {"flops": work.amount, "matrix_flops": work.amount - sum(part.amount for part in wide)}


def _speeds(spec: ModelSpec, serving: ServingPlan, cluster: Cluster) -> dict[str, Number]:
    device, learned = cluster.device, measured_fit()
    return {
        "num_layers": spec.num_layers,
        "hidden_dim": spec.hidden_dim,
        "tensor": serving.tensor,
        "mbu": serving.mbu,
        "mfu": serving.mfu,
        "bandwidth": known_bandwidth(device),
        "flops_per_second": product_peak(device, serving.weight_format),
        "native_flops_per_second": serving_peak(device, serving),
        "launch_seconds": learned.launch_seconds,
        "join_seconds": learned.join_seconds,
        "link": device.link_among(serving.tensor),
    }


def _seconds(
    name: str,
    formula: Formula,
    values: dict[str, Number],
    source: str,
    band: Band,
    kind: Kind = "estimated",
) -> Item:
    either = (band.below, band.above)
    return item(name, formula, values, unit="s", source=source, kind=kind, band=either)


def weights_read(spec: ModelSpec, serving: ServingPlan, num_tokens: int) -> Item:
    """Return the bytes of weights that one device reads in a pass over `num_tokens` tokens.

    Raises:
        ValueError: If the format is unknown, or the heads cannot be split over the devices.
    """
    found = share_counts(spec, serving_share(spec, serving.tensor))
    # A tied head is the table itself, and multiplying with it reads all of it.
    table = found.token_embedding if spec.tied else 0
    always = replace(found, token_embedding=table, layer_embeddings=0, positions=0, experts=0)
    parts = [*stored_weights(spec, always, serving.weight_format).children]
    if spec.mixture is not None and found.experts:
        fmt = stored_format("weight_format", serving.weight_format)
        values = {
            "expert_bytes": quantized_weights(found.experts, fmt).amount,
            "experts_per_token": spec.mixture.experts_per_token,
            "num_experts": spec.mixture.num_experts,
            "num_tokens": num_tokens,
        }
        experts = estimated("experts", EXPERTS_READ, values, _PICKED, (0.2, 0.0))
        parts.append(experts)
    return as_guessed(total("weights read", parts, source=_WEIGHTS_READ), spec)


def prefill_flops(spec: ModelSpec, prompt_len: int) -> Item:
    """Return the FLOPs of reading one prompt: causal attention, the head for its last token."""
    whole = forward_flops(spec, prompt_len, prompt_len, causal=True)
    values = flop_sizes(spec) | {"num_sequences": 1}
    head = counted("head", LAST_TOKEN, values, _LAST, "FLOPs")
    parts = [part for part in whole.children if part.name != "head"]
    return as_guessed(total("prefill FLOPs", (*parts, head), source=_PASS), spec, GUESSED_WORK)


def decode_flops(spec: ModelSpec, context: int, concurrency: int) -> Item:
    """Return the FLOPs of one more token for each of `concurrency` sequences."""
    pass_over = forward_flops(spec, concurrency, 1)
    parts = [part for part in pass_over.children if not is_pairs(part)]
    values: dict[str, Number] = flop_sizes(spec) | {
        "context": context,
        "window": spec.window or context,
        "concurrency": concurrency,
    }
    formula, source = (SCORES, _SCORES) if spec.latent is None else (LATENT_SCORES, _LATENT)
    if spec.chunked:
        formula = CHUNKED_SCORES
    if spec.indexer is not None:
        formula, source = INDEXED_SCORES, _INDEXED
    scores = counted("attention scores", formula, values, source, "FLOPs")
    return as_guessed(total("decode FLOPs", (*parts, scores), source=_PASS), spec, GUESSED_WORK)
