"""The bytes that a model keeps of earlier tokens: the KV cache of attention, and fixed states.

MHA, GQA and MQA keep a key and a value for each key head; latent attention keeps one compressed
vector and one rotary key for all heads, and beside it an indexer's key; a layer with a sliding
window keeps no more than it sees, one with chunks no more than a chunk. A recurrent layer keeps
the same few numbers for each sequence, however long that is.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Final

from core.budget.check import check_range
from core.budget.item import GUESSED_CACHE, Formula, Item, Number, as_guessed, counted, total
from core.budget.recipe import MAX_TOKENS
from core.budget.share import whole
from core.budget.weights.parameters import local_sizes
from core.budget.weights.stored import stored_format
from core.dtypes.blocks.block_formats import BlockFormat
from core.dtypes.number_formats.format import Format
from core.language import N_
from core.models.spec import ModelSpec

# Bits of one token in one layer. Every device of a tensor group holds the latent vector in whole.
_HEADS: Final = "2 * ceil(num_kv_heads / tensor)"
_BITS: Final = {
    "heads": f"{_HEADS} * head_dim * bits",
    "latent": "(kv_rank + rope_dim) * bits",
    "indexed": "(kv_rank + rope_dim + index_dim) * bits",
    "scales of heads": f"{_HEADS} * ceil(head_dim / block_size) * scale_bits",
    "scales of latent": "(ceil(kv_rank / block_size) + ceil(rope_dim / block_size)) * scale_bits",
    "scales of indexed": "(ceil(kv_rank / block_size) + ceil(rope_dim / block_size)"
    " + ceil(index_dim / block_size)) * scale_bits",
}
_WHOLE: Final = "num_full_layers * context"
_WINDOWED: Final = "num_windowed_layers * min(context, window)"
WHOLE: Final = {
    kind: Formula(f"ceil(concurrency * {_WHOLE} * {bits} / 8)") for kind, bits in _BITS.items()
}
WINDOWED: Final = {
    kind: Formula(f"ceil(concurrency * {_WINDOWED} * {bits} / 8)") for kind, bits in _BITS.items()
}
STATES: Final = {
    N_("states of the heads"): Formula(
        "concurrency * num_recurrent_layers * mixer_dim * state_dim * 4"
    ),
    N_("inputs of the convolutions"): Formula(
        "concurrency * num_recurrent_layers * conv_dim * (kernel - 1) * 2"
    ),
}

_STATE: Final = N_(
    "states in fp32, inputs of the convolutions in 16 bits: mamba_ssm_cache_dtype of vLLM"
)
_SOURCE: Final = {
    "heads": N_("a key and a value for each key head: Ainslie et al. 2023, GQA, section 2"),
    "latent": N_("one compressed vector and one rotary key: DeepSeek-V2, 2024, section 2.1"),
    "indexed": N_(
        "one compressed vector, one rotary key and the indexer's key: DeepSeek-V3.2, 2025, "
        "section 2.1"
    ),
}
_WINDOW: Final = N_(
    "a layer keeps the tokens that it sees: Jiang et al. 2023, Mistral 7B, section 2"
)
_CHUNK: Final = N_("a layer keeps its chunk, here a full one: Llama 4, 2025, config.json")
_RESERVED: Final = N_(
    "an engine that keeps one block table for all layers gives each as many blocks: Kwon et al. "
    "2023, PagedAttention, section 4"
)
_SCALES: Final = N_("one scale per block of a head's vector; what a whole tensor shares left out")

_NAMES: Final = {
    (False, False): N_("keys and values"),
    (False, True): N_("keys and values in windows"),
    (True, False): N_("scales"),
    (True, True): N_("scales in windows"),
}

AS_MADE = N_("as made")
NO_WINDOWS = N_("no windows")
MHA = N_("MHA")
MQA = N_("MQA")


def kv_cache_bytes_per_token(spec: ModelSpec, bits: int = 16) -> int:
    """Return what one more token adds to the cache, while no sliding window is full.

    >>> from core.budget.catalogue.models import MODELS
    >>> kv_cache_bytes_per_token(MODELS["llama-2-7b"])
    524288
    """
    check_range("bits", bits, 1, 64)
    one = {"num_full_layers": sum(kv_layers(spec)), "context": 1, "concurrency": 1, "tensor": 1}
    return int(WHOLE[_kind(spec)].of(_sizes(spec) | one | {"bits": bits}))


def kv_layers(spec: ModelSpec) -> tuple[int, int]:
    """Return how many layers keep keys and values of all tokens, and how many of a window's."""
    windowed = max(0, spec.num_windowed_layers - spec.num_kv_shared_windowed)
    return spec.num_attention_layers - spec.num_kv_shared_layers - windowed, windowed


def kv_cache(
    spec: ModelSpec,
    context: int,
    concurrency: int = 1,
    kv_format: str = "bfloat16",
    tensor: int = 1,
) -> Item:
    """Return the bytes of the cache on one device: codes and scales, full layers and windows apart.

    `context` is prompt and answer together. Blocks of `kv_format` run along a head's vector; a
    scale per channel is one per vector. With fewer key heads than `tensor` devices each holds one.

    Raises:
        ValueError: If a number or the format cannot be; the sentence names it.
    """
    check_range("context", context, 1, MAX_TOKENS)
    check_range("concurrency", concurrency, 1, 1_000_000)
    check_range("tensor", tensor, 1, 1024)
    fmt = stored_format("kv_format", kv_format)
    num_full, num_windowed = kv_layers(spec)
    values = _sizes(spec) | {
        "num_full_layers": num_full,
        "num_windowed_layers": num_windowed,
        "window": spec.window or context,
        "context": context,
        "concurrency": concurrency,
        "tensor": tensor,
        **_bits(spec, fmt),
    }
    kept = _CHUNK if spec.chunked else _WINDOW
    parts = tuple(_parts(_kind(spec), values, kept))
    whole = total("KV cache", parts, source=_SOURCE[_kind(spec)])
    return as_guessed(whole, spec, GUESSED_CACHE)


def kv_reserved(
    spec: ModelSpec,
    context: int,
    concurrency: int = 1,
    kv_format: str = "bfloat16",
    tensor: int = 1,
) -> Item:
    """Return the bytes that an engine reserves which keeps one block table for all layers.

    Each layer then has room for the whole context, whatever its window. The arguments are those of
    `kv_cache`; without windows both are the same.
    """
    whole = kv_cache(replace(spec, num_windowed_layers=0), context, concurrency, kv_format, tensor)
    return replace(whole, name=N_("KV cache as reserved"), source=_RESERVED)


def kv_read(
    spec: ModelSpec,
    context: int,
    concurrency: int = 1,
    kv_format: str = "bfloat16",
    tensor: int = 1,
) -> int:
    """Return the bytes of the cache that one more token reads on one device.

    It is the whole cache, but with an indexer only its keys and the tokens that it picks; layers
    that share keys and values read them again, and fixed states are read too. The arguments are
    those of `kv_cache`.
    """
    spec = replace(spec, num_kv_shared_layers=0, num_kv_shared_windowed=0)
    held = kv_cache(spec, context, concurrency, kv_format, tensor).amount
    held += sum(part.amount for part in recurrent_state(spec, concurrency, tensor))
    if spec.indexer is None:
        return int(held)
    plain = replace(spec, indexer=None)
    picked = replace(
        plain, window=spec.indexer.top_k, num_windowed_layers=spec.num_attention_layers
    )
    latent, read = (
        kv_cache(each, context, concurrency, kv_format, tensor).amount for each in (plain, picked)
    )
    return int(held - latent + read)


def recurrent_state(spec: ModelSpec, concurrency: int = 1, tensor: int = 1) -> tuple[Item, ...]:
    """Return the bytes of the fixed states on one device, if the model has any: an item or none.

    A head's state is kept in 32 bits, as the kernels of mamba_ssm and flash-linear-attention do
    (`mamba_ssm_cache_dtype`), the convolution's last inputs in 16.

    Raises:
        ValueError: If a number cannot be, or the heads cannot be shared out.
    """
    check_range("concurrency", concurrency, 1, 1_000_000)
    if spec.recurrent is None:
        return ()
    values = local_sizes(spec, replace(whole(spec), tensor=tensor)) | {"concurrency": concurrency}
    parts = [
        counted(name, rule, values, _STATE)
        for name, rule in STATES.items()
        if spec.recurrent.state_dim or name != "states of the heads"
    ]
    return (as_guessed(total(N_("recurrent state"), parts, source=_STATE), spec),)


def _kind(spec: ModelSpec) -> str:
    if spec.latent is None:
        return "heads"
    return "latent" if spec.indexer is None else "indexed"


def _sizes(spec: ModelSpec) -> dict[str, Number]:
    if spec.latent is None:
        return {"num_kv_heads": spec.num_kv_heads, "head_dim": spec.head_dim}
    sizes: dict[str, Number] = {"kv_rank": spec.latent.kv_rank, "rope_dim": spec.latent.rope_dim}
    return sizes | ({"index_dim": spec.indexer.head_dim} if spec.indexer else {})


def _bits(spec: ModelSpec, fmt: Format | BlockFormat) -> dict[str, Number]:
    """Return the bits of a code, and for a block format the size of a block and its scale's."""
    if not isinstance(fmt, BlockFormat):
        return {"bits": fmt.bits}
    row = spec.head_dim if spec.latent is None else max(spec.latent.kv_rank, spec.latent.rope_dim)
    size = {"tensor": 0, "channel": row}.get(str(fmt.block_size), fmt.block_size)
    scale = {"block_size": int(size), "scale_bits": fmt.block_bits} if size else {}
    return {"bits": fmt.element.bits, **scale}


def _parts(kind: str, values: dict[str, Number], kept: str) -> Iterator[Item]:
    scaled = (f"scales of {kind}",) if "block_size" in values else ()
    for each in (kind, *scaled):
        is_scale = each != kind
        if values["num_full_layers"] or not values["num_windowed_layers"]:
            name, source = _NAMES[is_scale, False], _SCALES if is_scale else _SOURCE[kind]
            yield counted(name, WHOLE[each], values, source)
        if values["num_windowed_layers"]:
            name, source = _NAMES[is_scale, True], _SCALES if is_scale else kept
            yield counted(name, WINDOWED[each], values, source)


@dataclass(frozen=True, kw_only=True, slots=True)
class KVVariant:
    """A kind of attention in one format."""

    name: str
    num_kv_heads: int  # key heads; 0 with latent attention
    kv_format: str
    cache: Item


def kv_variants(spec: ModelSpec, context: int, kv_format: str) -> tuple[KVVariant, ...]:
    """Return the cache of one sequence: MHA, no windows, as made, MQA; 16 bits and the format.

    A model with latent attention is also shown with the heads that it would have without.

    Raises:
        ValueError: If the context or the format cannot be.
    """
    formats = dict.fromkeys(("bfloat16", kv_format))
    return tuple(
        KVVariant(
            name=name,
            num_kv_heads=0 if kind.latent else kind.num_kv_heads,
            kv_format=fmt,
            cache=kv_cache(kind, context, 1, fmt),
        )
        for name, kind in _kinds(spec)
        for fmt in formats
    )


def _kinds(spec: ModelSpec) -> list[tuple[str, ModelSpec]]:
    heads = spec
    if spec.latent is not None:
        heads = replace(spec, latent=None, indexer=None, head_dim=spec.latent.nope_dim)
    kinds = [(MHA, with_kv_heads(heads, heads.num_heads))]
    if spec.num_windowed_layers:
        kinds.append((NO_WINDOWS, replace(spec, num_windowed_layers=0)))
    kinds.append((AS_MADE, spec))
    kinds.append((MQA, with_kv_heads(heads, 1)))
    made = (spec.num_kv_heads, spec.latent)
    return [
        (name, kind)
        for name, kind in kinds
        if name in {AS_MADE, NO_WINDOWS} or (kind.num_kv_heads, kind.latent) != made
    ]


def with_kv_heads(spec: ModelSpec, num_kv_heads: int) -> ModelSpec:
    """Return the model with other key heads; latent attention has none and stays as it is.

    Raises:
        ValueError: If they do not divide the query heads.
    """
    return spec if spec.latent else replace(spec, num_kv_heads=num_kv_heads)
