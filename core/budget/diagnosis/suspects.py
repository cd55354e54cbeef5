"""Which tensor of a training has exactly the size that an out-of-memory text asks for.

Candidates are the weights one by one and together, whole and sharded, and the activations of one
forward pass, each in the widths that training uses. The allocator asks the device for whole
segments, so each size is rounded by its rules before it is compared.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from core.budget.catalogue.models import MODELS
from core.budget.cluster import Cluster
from core.budget.diagnosis.out_of_memory import OutOfMemory, Told
from core.budget.item import Formula, Item, Number, counted
from core.budget.recipe import TrainingRecipe
from core.budget.training.caching_allocator import (
    LARGE,
    LARGE_SEGMENT,
    SMALL,
    SMALL_SEGMENT,
    segment_size,
)
from core.budget.weights.parameters import counts
from core.language import N_
from core.models.spec import ModelSpec

_MATRIX: Final = Formula("num_rows * num_columns * bytes_each")
_SHARD: Final = Formula("ceil(num_rows * num_columns / num_shards) * bytes_each")
_FLAT: Final = Formula("num_params * bytes_each")
_FLAT_SHARD: Final = Formula("ceil(num_params / num_shards) * bytes_each")
_ACTIVATION: Final = Formula("num_tokens * width * bytes_each")
_SCORES: Final = Formula("batch_size * num_heads * seq_len ** 2 * bytes_each")
_WIDTHS: Final = (2, 4)  # bytes of a number: 16 bits, fp32
_SOURCE: Final = N_("one number for each place of the tensor, rounded up as torch's allocator asks")

MATRIX, SHARD, WHOLE, PART, UNIT, SAVED = (
    N_("{tensor}, {width}"),
    N_("{tensor}, {width}, one of {shards} shards"),
    N_("all parameters together, {width}"),
    N_("all parameters together, {width}, one of {shards} shards"),
    N_("all parameters of one layer together, {width}: the flat parameter of an FSDP unit"),
    N_("{tensor} of {tokens} tokens, {width}"),
)
TENSORS: Final[Mapping[str, str]] = {
    "q": N_("the query or output matrix of a layer"),
    "kv": N_("the key or value matrix of a layer"),
    "qkv": N_("the joined query, key and value matrix of a layer"),
    "ffn": N_("a feed-forward matrix of a layer"),
    "gate_up": N_("the joined gate and up matrix of a layer"),
    "experts": N_("one matrix of all experts of a layer"),
    "vocab": N_("the token embedding or the head"),
    "hidden": N_("the residual stream"),
    "inner": N_("the inner activation of a feed-forward layer"),
    "two_inner": N_("gate and up of a feed-forward layer together"),
    "logits": N_("the logits"),
    "scores": N_("the attention scores"),
}


@dataclass(frozen=True, kw_only=True, slots=True)
class Suspect:
    """A tensor that would have asked for so much.

    Attributes:
        sentence: Message id of what it is; `tensor`, `width`, `shards` and `tokens` fill it.
        tensor: Key of `TENSORS`, or "".
        item: Its bytes, before they are rounded.
        asked: The bytes that the allocator asks the device for.
        width: Bytes of one number.
        num_shards: In how many parts it lies over the devices.
        num_tokens: Of an activation; 0 for weights.
    """

    sentence: str
    tensor: str
    item: Item
    asked: int
    width: int
    num_shards: int = 1
    num_tokens: int = 0


def find_suspects(
    told: OutOfMemory, spec: ModelSpec, recipe: TrainingRecipe, cluster: Cluster
) -> tuple[Suspect, ...]:
    """Return the tensors of exactly the requested size, the plainest first; none if none has it.

    Those of as many tokens as the model can take, but not the recipe, are the last.

    The CPU's allocator asks for the very bytes, the others for whole segments.
    """
    seen: set[tuple[str, str, int]] = set()
    found = []
    for suspect in (*_weights(spec, cluster), *_activations(spec, recipe)):
        asked = suspect.item.num_bytes if told.allocator == "cpu" else suspect.asked
        key = (suspect.tensor, suspect.sentence, suspect.item.num_bytes)
        if told.requested.agrees(asked) and key not in seen:
            seen.add(key)
            found.append(suspect)
    return tuple(sorted(found, key=lambda each: each.num_tokens not in (0, recipe.num_tokens)))


def most_in_segment(told: OutOfMemory) -> int:
    """Return the most bytes of the tensors that share a segment of this size, 0 of a tensor's own.

    Of such a segment the size tells no tensor.
    """
    if told.allocator == "cuda":
        for segment, most in ((SMALL_SEGMENT, SMALL), (LARGE_SEGMENT, LARGE)):
            if told.requested.agrees(segment):
                return most
    return 0


def suspects_elsewhere(
    told: OutOfMemory, recipe: TrainingRecipe, cluster: Cluster
) -> Mapping[str, Suspect]:
    """Return the models of the catalogue that have a tensor of the requested size, and which.

    A product of the same numbers stands once, under the first model that has it; weights stand
    before activations.
    """
    first: dict[str, tuple[str, Suspect]] = {}
    for spec in () if most_in_segment(told) else MODELS.values():
        for suspect in find_suspects(told, spec, recipe, cluster)[:1]:
            first.setdefault(suspect.item.substituted, (spec.name, suspect))
    return dict(sorted(first.values(), key=lambda found: found[1].num_tokens > 0))


def matrices(spec: ModelSpec) -> Mapping[str, tuple[int, int]]:
    """Return the shapes of the matrices that a layer of attention and feed-forward has."""
    hidden, head = spec.hidden_dim, spec.head_dim
    found = {"vocab": (spec.vocab_size, hidden)}
    if spec.latent is None:
        q, kv = spec.num_heads * head, spec.num_kv_heads * head
        found |= {"q": (q, hidden), "kv": (kv, hidden), "qkv": (q + 2 * kv, hidden)}
    if spec.num_dense_layers:
        found["ffn"] = (spec.ffn_dim, hidden)
        if spec.gated:
            found["gate_up"] = (2 * spec.ffn_dim, hidden)
    if mixture := spec.mixture:
        found["experts"] = (mixture.num_experts * mixture.expert_dim, hidden)
    return found


def _weights(spec: ModelSpec, cluster: Cluster) -> Iterator[Suspect]:
    shards = [1, *([cluster.num_devices] if cluster.num_devices > 1 else [])]
    for tensor, (rows, columns) in matrices(spec).items():
        for width in _WIDTHS:
            values = {"num_rows": rows, "num_columns": columns, "bytes_each": width}
            for number in shards:
                yield _weight(tensor, MATRIX, SHARD, (_MATRIX, _SHARD), values, number)
    held = counts(spec)
    in_layer = -(-held.layers // spec.num_layers)
    for width in _WIDTHS:
        values = {"num_params": in_layer, "bytes_each": width}
        yield _weight("", UNIT, UNIT, (_FLAT, _FLAT_SHARD), values, 1)
        for number in shards:
            values = {"num_params": held.total, "bytes_each": width}
            yield _weight("", WHOLE, PART, (_FLAT, _FLAT_SHARD), values, number)


def _weight(
    tensor: str, whole: str, part: str, rules: tuple[Formula, Formula],
    values: Mapping[str, Number], num_shards: int,
) -> Suspect:  # fmt: skip
    is_whole = num_shards == 1
    rule = rules[0] if is_whole else rules[1]
    sizes = values if is_whole else {**values, "num_shards": num_shards}
    size = counted(TENSORS.get(tensor, "tensor"), rule, sizes, _SOURCE)
    return Suspect(
        sentence=whole if is_whole else part, tensor=tensor, item=size,
        asked=segment_size(size.num_bytes), width=int(values["bytes_each"]), num_shards=num_shards,
    )  # fmt: skip


def _activations(spec: ModelSpec, recipe: TrainingRecipe) -> Iterator[Suspect]:
    inner = spec.mixture.expert_dim if spec.mixture else spec.ffn_dim
    widths = {
        "hidden": spec.hidden_dim, "inner": inner, "two_inner": 2 * inner,
        "logits": spec.vocab_size,
    }  # fmt: skip
    for tokens in dict.fromkeys((recipe.num_tokens, spec.seq_len)):
        for tensor, width in widths.items():
            for each in _WIDTHS:
                yield _activation(
                    tensor, tokens, _ACTIVATION,
                    {"num_tokens": tokens, "width": width, "bytes_each": each},
                )  # fmt: skip
    for each in _WIDTHS:
        values = {
            "batch_size": recipe.batch_size, "num_heads": spec.num_heads,
            "seq_len": recipe.seq_len, "bytes_each": each,
        }  # fmt: skip
        yield _activation("scores", recipe.num_tokens, _SCORES, values)


def _activation(tensor: str, tokens: int, rule: Formula, values: Mapping[str, Number]) -> Suspect:
    size = counted(TENSORS[tensor], rule, values, _SOURCE)
    return Suspect(
        sentence=SAVED, tensor=tensor, item=size, asked=segment_size(size.num_bytes),
        width=int(values["bytes_each"]), num_tokens=tokens,
    )  # fmt: skip


@dataclass(frozen=True, kw_only=True, slots=True)
class HeldStates:
    """Which states the allocated bytes would be.

    Attributes:
        item: Their bytes.
        num_shards: Over how many devices the fp32 ones lie.
        num_fp32: How many fp32 numbers for each parameter there are.
        in_16_bits: Whether the weights in 16 bits are there too, whole.
        gap: What of the allocated bytes is left over, relative to them.
    """

    item: Item
    num_shards: int
    num_fp32: int
    in_16_bits: bool
    gap: float


_STATES: Final = Formula("num_16_bit * num_params + num_fp32 * 4 * ceil(num_params / num_shards)")
_STATES_SOURCE: Final = N_(
    "whole weights in 16 bits, and fp32 numbers for each parameter: a copy of the weights, two "
    "moments of Adam, a gradient, a temporary of the optimizer's step"
)
_MOST_FP32: Final = 6
NEAR: Final = 0.01  # of the allocated bytes: more than the digits hide, less than one layer


def held_states(allocated: Told, spec: ModelSpec, num_devices: int) -> HeldStates | None:
    """Return the states whose bytes come nearest to what was allocated; None if none is near.

    States alone: where activations fill the memory nothing is near, and None is the answer.
    """
    num_params = counts(spec).total
    tried = []
    for num_shards in dict.fromkeys((1, num_devices)):
        for in_16_bits in (False, True):
            for num_fp32 in range(0 if in_16_bits else 1, _MOST_FP32 + 1):
                values = {
                    "num_16_bit": 2 * in_16_bits, "num_params": num_params,
                    "num_fp32": num_fp32, "num_shards": num_shards,
                }  # fmt: skip
                size = counted("states", _STATES, values, _STATES_SOURCE)
                gap = 1 - size.amount / max(allocated.num_bytes, 1)
                states = HeldStates(
                    item=size, num_shards=num_shards, num_fp32=num_fp32, in_16_bits=in_16_bits,
                    gap=gap,
                )  # fmt: skip
                tried.append(states)
    near = [each for each in tried if 0 <= each.gap <= NEAR]
    return min(near, key=lambda each: each.gap, default=None)
