"""How many parameters a model has, part by part, and how many of them one rank holds.

Each part is counted by rows: the text of a rule and when it applies. Its names are the fields of
`ModelSpec`, `Mixture` and `LatentAttention`; for one rank they are the rank's own heads, its own
columns of the feed-forward layer and its own rows of the vocabulary.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final, NamedTuple

from core.budget.item import GUESSED_WORK, Formula, Item, Number, as_guessed, item, total
from core.budget.share import Share, whole
from core.language import N_, _
from core.models.spec import (
    Indexer,
    LatentAttention,
    LayerInputs,
    Mixture,
    ModelSpec,
    Recurrent,
    RecurrentKind,
)

ACTIVE: Final = Formula("num_params - idle_experts - idle_rows")
IDLE_ROWS: Final = Formula("(num_rows - 1) * hidden_dim")
IDLE: Final = Formula(
    "num_expert_layers * (num_experts * (num_experts_in_all - experts_per_token)"
    " // num_experts_in_all) * num_matrices * hidden_dim * expert_dim"
)
IDLE_BIASES: Final = Formula(
    "num_expert_layers * (num_experts * (num_experts_in_all - experts_per_token)"
    " // num_experts_in_all) * (num_inner * expert_dim + hidden_dim)"
)
_SOURCE: Final = N_("one number for each weight of the architecture's matrices, biases and norms")
_TOKEN: Final = N_(
    "a token passes the experts that the router picks (Shazeer et al. 2017) and one row of a table "
    "that is only looked up"
)

PART_NAMES: Final[Mapping[str, str]] = {
    "token_embedding": N_("token embedding"),
    "layer_embeddings": N_("per-layer embeddings"),
    "positions": N_("learned positions"),
    "attention": N_("attention"),
    "recurrent": N_("recurrent layers"),
    "layer_inputs": N_("per-layer inputs"),
    "dense_ffn": N_("feed-forward layers"),
    "experts": N_("experts"),
    "router": N_("router"),
    "shared_experts": N_("shared experts"),
    "norms": N_("norms"),
    "final_norm": N_("final norm"),
    "head": N_("head"),
}

# Rows plus columns of the matrices: what Adafactor keeps in place of every square.
TABLE: Final = Formula("vocab_size + hidden_dim")
POSITIONS: Final = Formula("learned_positions + hidden_dim")
ATTENTION: Final = Formula(
    "num_attention_layers * (4 * hidden_dim"
    " + ((2 + has_gate) * num_heads + 2 * num_kv_heads) * head_dim)"
)
NARROW_QUERIES: Final = Formula(
    "num_attention_layers * (hidden_dim + 2 * query_rank + num_heads * (nope_dim + rope_dim))"
)
WIDE_QUERIES: Final = Formula(
    "num_attention_layers * (hidden_dim + num_heads * (nope_dim + rope_dim))"
)
LATENT: Final = Formula(
    "num_attention_layers * (hidden_dim + kv_rank + rope_dim"
    " + kv_rank + num_heads * (nope_dim + value_dim) + num_heads * value_dim + hidden_dim)"
)
DENSE: Final = Formula("num_dense_layers * num_matrices * (hidden_dim + ffn_dim)")
EXPERTS: Final = Formula(
    "num_expert_layers * (num_experts * num_matrices * (hidden_dim + expert_dim)"
    " + hidden_dim + num_experts_in_all + num_shared_gates * (hidden_dim + 1))"
)
EXPERT_BIASES: Final = Formula(
    "num_expert_layers * (3 * num_experts + 2 * expert_dim + hidden_dim + num_experts_in_all)"
)
INDEXER: Final = Formula(
    "num_attention_layers * (query_rank + index_heads * index_dim + 2 * hidden_dim"
    " + index_dim + index_heads)"
)
SHARED: Final = Formula("num_expert_layers * num_matrices * (hidden_dim + num_shared * expert_dim)")

RECURRENT: Final[Mapping[str, Formula]] = {
    kind: Formula(
        f"num_recurrent_layers * ({rule} + mixer_dim + hidden_dim + conv_dim * (1 + kernel))"
    )
    for kind, rule in {
        "gated delta": "4 * hidden_dim + conv_dim + mixer_dim + 2 * mixer_heads",
        "kimi delta": "6 * hidden_dim + conv_dim + mixer_heads"
        " + 4 * mixer_head_dim + 2 * mixer_dim",
        "mamba-2": "hidden_dim + conv_dim + mixer_dim + mixer_heads",
        "short convolution": "hidden_dim + 3 * conv_dim",
    }.items()
}
LAYER_INPUTS: Final = Formula(
    "num_layers * (2 * (layer_input_dim + hidden_dim) + 2 * (laurel_rank + hidden_dim)"
    " + hidden_dim + num_streams * (num_streams + 4))"
    " + layer_vocab_size + num_layers * layer_input_dim"
    " + hidden_dim + num_layers * layer_input_dim + 4 * (num_streams - 1) * hidden_dim"
)


@dataclass(frozen=True, kw_only=True, slots=True)
class ParameterCounts:
    """Parameters of a model, or of one rank's part of it.

    Attributes:
        token_embedding: One row for each token of the vocabulary.
        layer_embeddings: One more for each of them and each layer (Gemma 3n).
        positions: The learned position table.
        attention: Projections of queries, keys, values and output, with their biases.
        recurrent: What keeps a fixed state, with its convolution and its vectors.
        layer_inputs: Gemma 3n's matrices of AltUp, Laurel and each layer's own input.
        dense_ffn: Dense feed-forward layers, with their biases.
        experts: All routed experts.
        router: What picks the experts.
        shared_experts: Experts that every token passes.
        norms: Norms of the layers.
        final_norm: The norm before the head.
        head: The output matrix; 0 where it is the token embedding on the same rank.
        biases: Those of attention, recurrent layers, feed-forward and experts that are no matrices:
            biases, sinks; counted above too.
        idle_experts: Those of the experts that one token does not pass; counted above too.
    """

    token_embedding: int = 0
    layer_embeddings: int = 0
    positions: int = 0
    attention: int = 0
    recurrent: int = 0
    layer_inputs: int = 0
    dense_ffn: int = 0
    experts: int = 0
    router: int = 0
    shared_experts: int = 0
    norms: int = 0
    final_norm: int = 0
    head: int = 0
    biases: int = 0
    idle_experts: int = 0

    @property
    def matrices(self) -> int:
        """Weights of the layers' matrices, the router apart: what quantization makes small."""
        beside = self.recurrent + self.layer_inputs
        in_ffn = self.dense_ffn + self.experts + self.shared_experts
        return self.attention + beside + in_ffn - self.biases

    @property
    def layers(self) -> int:
        """Parameters of all layers."""
        return self.matrices + self.biases + self.router + self.norms

    @property
    def embeddings(self) -> int:
        """Parameters of the tables in which tokens and positions are looked up."""
        return self.token_embedding + self.layer_embeddings + self.positions

    @property
    def total(self) -> int:
        """All parameters; a tied head counts once."""
        return self.embeddings + self.layers + self.final_norm + self.head

    @property
    def active(self) -> int:
        """All but the idle experts: N of 6ND, which counts the tables that are looked up whole."""
        return self.total - self.idle_experts


class Rule(NamedTuple):
    """One line of the count.

    Attributes:
        part: The field of `ParameterCounts` that it belongs to.
        name: What the reader sees.
        formula: How it is counted.
        applies: Whether the model, or the rank, has that at all.
        is_bias: Whether it counts biases of a matrix.
    """

    part: str
    name: str
    formula: Formula
    applies: Callable[[ModelSpec, Share], bool]
    is_bias: bool = False


def rules(spec: ModelSpec, share: Share) -> Iterator[Rule]:
    """Yield the lines that this rank has, in the order in which a token meets them."""
    return (rule for rule in _RULES if rule.applies(spec, share))


def _latent(spec: ModelSpec) -> bool:
    return spec.latent is not None


def _compressed(spec: ModelSpec) -> bool:
    return spec.latent is not None and spec.latent.query_rank > 0


def _dense(share: Share) -> bool:
    return share.num_dense_layers > 0


def _kind(*kinds: RecurrentKind) -> Callable[[ModelSpec, Share], bool]:
    def is_here(spec: ModelSpec, share: Share) -> bool:
        is_kind = spec.recurrent is not None and spec.recurrent.kind in kinds
        return is_kind and share.num_recurrent_layers > 0

    return is_here


def _with_inputs(spec: ModelSpec, _share: Share) -> bool:
    return spec.layer_inputs is not None


def _shared(spec: ModelSpec, share: Share) -> bool:
    return spec.mixture is not None and spec.mixture.num_shared > 0 and share.num_expert_layers > 0


def _biased_experts(spec: ModelSpec, share: Share) -> bool:
    return spec.mixture is not None and spec.mixture.bias and share.num_expert_layers > 0


def _own_head(spec: ModelSpec, share: Share) -> bool:
    """Return whether the head is a matrix of its own here.

    A tied head is the embedding itself; on the last stage of a pipeline it is a copy of it.
    """
    return share.has_head and not (spec.tied and share.has_embedding)


# What the formulas of the recurrent layers call sizes: `_recurrent_sizes`.
RECURRENT_INPUTS: Final[Mapping[RecurrentKind, str]] = {
    "gated delta": "hidden_dim * (conv_dim + mixer_dim + 2 * mixer_heads)",
    "kimi delta": "hidden_dim * (conv_dim + mixer_heads)"
    " + 2 * mixer_head_dim * (hidden_dim + mixer_dim)",
    "mamba-2": "hidden_dim * (conv_dim + mixer_dim + mixer_heads)",
    "short convolution": "hidden_dim * 3 * conv_dim",
}
RECURRENT_OUTPUT: Final = "mixer_dim * hidden_dim"
CONVOLUTION: Final = "conv_dim * kernel"
_RECURRENT_VECTORS: Final[Mapping[RecurrentKind, str]] = {
    "gated delta": "2 * mixer_heads + mixer_head_dim",
    "kimi delta": "mixer_heads + mixer_dim + mixer_head_dim",
    "mamba-2": "3 * mixer_heads + is_normed * mixer_dim",
}
_FFN: Final = Formula("num_dense_layers * hidden_dim * ffn_dim")
EXPERT_BIAS: Final = Formula(
    "num_expert_layers * num_experts * (num_inner * expert_dim + hidden_dim)"
)
_RULES: Final = (
    Rule("token_embedding", N_("token embedding"), Formula("vocab_size * hidden_dim"),
         lambda _, share: share.has_embedding),
    Rule("layer_embeddings", N_("per-layer embeddings"),
         Formula("layer_vocab_size * num_layers * layer_input_dim"), _with_inputs),
    Rule("positions", N_("learned positions"), Formula("learned_positions * hidden_dim"),
         lambda spec, share: share.has_embedding and spec.learned_positions > 0),
    Rule("attention", N_("queries"),
         Formula("num_attention_layers * hidden_dim * num_heads * head_dim"),
         lambda spec, _: not _latent(spec)),
    Rule("attention", N_("queries"),
         Formula("num_attention_layers * hidden_dim * num_heads * (nope_dim + rope_dim)"),
         lambda spec, _: _latent(spec) and not _compressed(spec)),
    Rule("attention", N_("queries"),
         Formula("num_attention_layers * query_rank"
                 " * (hidden_dim + num_heads * (nope_dim + rope_dim))"),
         lambda spec, _: _compressed(spec)),
    Rule("attention", N_("gate of the attention output"),
         Formula("num_attention_layers * hidden_dim * num_heads * head_dim"),
         lambda spec, _: spec.attention_gate),
    Rule("attention", N_("keys and values"),
         Formula("num_attention_layers * hidden_dim * 2 * num_kv_heads * head_dim"),
         lambda spec, _: not _latent(spec)),
    Rule("attention", N_("keys and values"),
         Formula("num_attention_layers * (hidden_dim * (kv_rank + rope_dim)"
                 " + kv_rank * num_heads * (nope_dim + value_dim))"),
         lambda spec, _: _latent(spec)),
    Rule("attention", N_("attention output"),
         Formula("num_attention_layers * num_heads * head_dim * hidden_dim"),
         lambda spec, _: not _latent(spec)),
    Rule("attention", N_("attention output"),
         Formula("num_attention_layers * num_heads * value_dim * hidden_dim"),
         lambda spec, _: _latent(spec)),
    Rule("attention", N_("biases of queries, keys and values"),
         Formula("num_attention_layers * head_dim * (num_heads + 2 * num_kv_heads)"),
         lambda spec, _: spec.attention_bias != "none" and not _latent(spec), is_bias=True),
    Rule("attention", N_("biases of the attention output"),
         Formula("num_attention_layers * hidden_dim"),
         lambda spec, _: spec.attention_bias == "all", is_bias=True),
    Rule("attention", N_("attention sinks"), Formula("num_attention_layers * num_heads"),
         lambda spec, _: spec.sinks, is_bias=True),
    Rule("attention", N_("indexer"),
         Formula("num_attention_layers * (query_rank * index_heads * index_dim"
                 " + hidden_dim * index_dim + hidden_dim * index_heads)"),
         lambda spec, _: spec.indexer is not None),
    Rule("attention", N_("norm of the indexer"), Formula("num_attention_layers * 2 * index_dim"),
         lambda spec, _: spec.indexer is not None, is_bias=True),
    *(
        Rule("recurrent", N_("input projections"), Formula(f"num_recurrent_layers * ({inputs})"),
             _kind(kind))
        for kind, inputs in RECURRENT_INPUTS.items()
    ),
    Rule("recurrent", N_("output projection"),
         Formula(f"num_recurrent_layers * {RECURRENT_OUTPUT}"), _kind(*RECURRENT_INPUTS)),
    Rule("recurrent", N_("convolution"), Formula(f"num_recurrent_layers * {CONVOLUTION}"),
         _kind(*RECURRENT_INPUTS)),
    Rule("recurrent", N_("biases of the convolution"), Formula("num_recurrent_layers * conv_dim"),
         lambda spec, _: spec.recurrent is not None and spec.recurrent.conv_bias, is_bias=True),
    Rule("recurrent", N_("biases of the projections"),
         Formula("num_recurrent_layers * (projected_dim + hidden_dim)"),
         lambda spec, _: spec.recurrent is not None and spec.recurrent.bias, is_bias=True),
    *(
        Rule("recurrent", N_("decays, step sizes and norm"),
             Formula(f"num_recurrent_layers * ({vectors})"), _kind(kind), is_bias=True)
        for kind, vectors in _RECURRENT_VECTORS.items()
    ),
    Rule("layer_inputs", N_("projections of per-layer inputs"),
         Formula("num_layers * 3 * hidden_dim * layer_input_dim"), _with_inputs),
    Rule("layer_inputs", N_("AltUp"),
         Formula("num_layers * num_streams * (hidden_dim + num_streams * (1 + num_streams))"
                 " + 2 * (num_streams - 1) * hidden_dim ** 2"), _with_inputs),
    Rule("layer_inputs", N_("Laurel"), Formula("num_layers * 2 * hidden_dim * laurel_rank"),
         _with_inputs),
    Rule("dense_ffn", N_("gate projection"), _FFN,
         lambda spec, share: spec.gated and _dense(share)),
    Rule("dense_ffn", N_("up projection"), _FFN, lambda _, share: _dense(share)),
    Rule("dense_ffn", N_("down projection"), _FFN, lambda _, share: _dense(share)),
    Rule("dense_ffn", N_("biases of the feed-forward"),
         Formula("num_dense_layers * (num_inner * ffn_dim + hidden_dim)"),
         lambda spec, share: spec.ffn_bias and _dense(share), is_bias=True),
    Rule("dense_ffn", N_("parameters of the activation"),
         Formula("num_dense_layers * num_activation_params"),
         lambda spec, share: spec.num_activation_params > 0 and _dense(share), is_bias=True),
    Rule("experts", N_("experts"),
         Formula("num_expert_layers * num_experts * num_matrices * hidden_dim * expert_dim"),
         lambda _, share: share.num_expert_layers > 0),
    Rule("experts", N_("biases of the experts"), EXPERT_BIAS, _biased_experts, is_bias=True),
    Rule("router", N_("router"), Formula("num_expert_layers * hidden_dim * num_experts_in_all"),
         lambda _, share: share.num_expert_layers > 0),
    Rule("router", N_("biases of the router"), Formula("num_expert_layers * num_experts_in_all"),
         _biased_experts),
    Rule("router", N_("correction biases of the router"),
         Formula("num_expert_layers * num_experts_in_all"),
         lambda spec, share: spec.mixture is not None and spec.mixture.correction_bias
         and share.num_expert_layers > 0),
    Rule("router", N_("gate of the shared experts"), Formula("num_expert_layers * hidden_dim"),
         lambda spec, share: spec.mixture is not None and spec.mixture.shared_gate
         and share.num_expert_layers > 0),
    Rule("shared_experts", N_("shared experts"),
         Formula("num_expert_layers * num_shared * num_matrices * hidden_dim * expert_dim"),
         _shared),
    Rule("norms", N_("norms of the layers"),
         Formula("num_layers * norms_per_layer * hidden_dim * numbers_per_channel"),
         lambda spec, _: spec.norms_per_layer > 0),
    Rule("norms", N_("norms of per-layer inputs, AltUp and Laurel"),
         Formula("num_layers * 4 * hidden_dim + layer_input_dim"), _with_inputs),
    Rule("norms", N_("norms of queries and keys"), Formula("num_attention_layers * 2 * head_dim"),
         lambda spec, _: spec.qk_norm and not _latent(spec) and spec.qk_norm_over == "head"),
    Rule("norms", N_("norms of queries and keys"),
         Formula("num_attention_layers * (num_heads_in_all + num_kv_heads_in_all) * head_dim"),
         lambda spec, _: spec.qk_norm and not _latent(spec) and spec.qk_norm_over != "head"),
    Rule("norms", N_("norms of compressed queries, keys and values"),
         Formula("num_attention_layers * (query_rank + kv_rank)"),
         lambda spec, _: _latent(spec)),
    Rule("final_norm", N_("final norm"), Formula("hidden_dim * numbers_per_channel"),
         lambda _, share: share.has_head),
    Rule("head", N_("head"), Formula("vocab_size * hidden_dim"), _own_head),
)  # fmt: skip


def local_sizes(spec: ModelSpec, share: Share) -> dict[str, Number]:
    """Return the sizes that one rank sees, by the names that the rules use.

    Raises:
        ValueError: If the heads cannot be split over the tensor ranks.
    """
    if spec.num_heads % share.tensor:
        raise ValueError(
            _(
                "{tensor} tensor-parallel ranks cannot share {heads} heads; take a number that "
                "divides {heads}."
            ).format(tensor=share.tensor, heads=spec.num_heads)
        )
    return {
        "hidden_dim": spec.hidden_dim,
        "num_layers": share.num_layers,
        "num_attention_layers": share.num_attention_layers,
        "num_dense_layers": share.num_dense_layers,
        "num_expert_layers": share.num_expert_layers,
        "num_recurrent_layers": share.num_recurrent_layers,
        "num_heads": spec.num_heads // share.tensor,
        "num_kv_heads": -(-spec.num_kv_heads // share.tensor),
        "num_heads_in_all": spec.num_heads,
        "num_kv_heads_in_all": spec.num_kv_heads,
        "head_dim": spec.head_dim,
        "ffn_dim": -(-spec.ffn_dim // share.tensor),
        "vocab_size": -(-spec.vocab_size // share.tensor),
        "learned_positions": spec.learned_positions,
        "norms_per_layer": spec.norms_per_layer,
        "numbers_per_channel": 2 if spec.norm == "layer" and spec.norm_bias else 1,
        "num_matrices": 3 if spec.gated else 2,
        "num_inner": 2 if spec.gated else 1,
        "has_gate": int(spec.attention_gate),
        "num_activation_params": spec.num_activation_params,
        **(_expert_sizes(spec.mixture, share) if spec.mixture else {}),
        **(_latent_sizes(spec.latent) if spec.latent else {}),
        **(_indexer_sizes(spec.indexer) if spec.indexer else {}),
        **(_recurrent_sizes(spec.recurrent, share) if spec.recurrent else {}),
        **(_layer_input_sizes(spec.layer_inputs) if spec.layer_inputs else {}),
    }


def _expert_sizes(mixture: Mixture, share: Share) -> dict[str, Number]:
    return {
        "num_experts": -(-mixture.num_experts // share.expert),
        "num_experts_in_all": mixture.num_experts,
        "experts_per_token": mixture.experts_per_token,
        "expert_dim": -(-mixture.expert_dim // share.tensor),
        "num_shared": mixture.num_shared,
        "num_shared_gates": int(mixture.shared_gate),
    }


def _latent_sizes(latent: LatentAttention) -> dict[str, Number]:
    return {
        "query_rank": latent.query_rank,
        "kv_rank": latent.kv_rank,
        "nope_dim": latent.nope_dim,
        "rope_dim": latent.rope_dim,
        "value_dim": latent.value_dim,
    }


def _indexer_sizes(indexer: Indexer) -> dict[str, Number]:
    return {
        "index_heads": indexer.num_heads,
        "index_dim": indexer.head_dim,
        "top_k": indexer.top_k,
    }


def _recurrent_sizes(recurrent: Recurrent, share: Share) -> dict[str, Number]:
    """Return the sizes of one rank's recurrent layers: its own heads, and groups of their keys."""
    heads, groups = recurrent.num_heads // share.tensor, -(-recurrent.num_groups // share.tensor)
    mixer_dim = heads * recurrent.head_dim
    conv_dim = mixer_dim + 2 * groups * recurrent.state_dim
    return {
        "mixer_heads": heads,
        "mixer_head_dim": recurrent.head_dim,
        "mixer_dim": mixer_dim,
        "state_dim": recurrent.state_dim,
        "conv_dim": conv_dim,
        "kernel": recurrent.kernel,
        "is_normed": int(recurrent.normed),
        "projected_dim": 3 * conv_dim if not recurrent.state_dim else conv_dim + mixer_dim + heads,
    }


def _layer_input_sizes(inputs: LayerInputs) -> dict[str, Number]:
    return {
        "layer_input_dim": inputs.width,
        "layer_vocab_size": inputs.vocab_size,
        "num_streams": inputs.num_streams,
        "laurel_rank": inputs.rank,
    }


def counts(spec: ModelSpec) -> ParameterCounts:
    """Return the parameters of the whole model.

    >>> from core.budget.catalogue.models import MODELS
    >>> counts(MODELS["llama-2-7b"]).total
    6738415616
    """
    return share_counts(spec, whole(spec))


def share_counts(spec: ModelSpec, share: Share) -> ParameterCounts:
    """Return the parameters that one rank holds, before any sharding over data ranks.

    Matrices and vocabulary are split over the tensor ranks, a vocabulary or width that does not
    divide is padded. Norms, router, indexer and the narrow matrices of latent attention are on
    every rank; a rank that would get less than one key head gets one.

    Raises:
        ValueError: If the heads cannot be split over the tensor ranks.
    """
    sizes = local_sizes(spec, share)
    parts: dict[str, int] = {}
    biases = 0
    for rule in rules(spec, share):
        amount = int(rule.formula.of(sizes))
        parts[rule.part] = parts.get(rule.part, 0) + amount
        biases += amount if rule.is_bias else 0
    idle = int(IDLE.of(sizes)) if share.num_expert_layers else 0
    if _biased_experts(spec, share):
        idle += int(IDLE_BIASES.of(sizes))
    return ParameterCounts(**parts, biases=biases, idle_experts=idle)


def count_parameters(spec: ModelSpec) -> Item:
    """Return the parameters as a tree: parts, then the rules that count them."""
    share = whole(spec)
    sizes = local_sizes(spec, share)
    lines: dict[str, list[Item]] = {}
    for rule in rules(spec, share):
        line = item(rule.name, rule.formula, sizes, unit="parameters", kind="exact", source=_SOURCE)
        lines.setdefault(rule.part, []).append(line)
    parts = [
        found[0] if len(found) == 1 else total(PART_NAMES[part], found, source=_SOURCE)
        for part, found in lines.items()
    ]
    return as_guessed(total("parameters", parts, source=_SOURCE), spec)


def left_out(spec: ModelSpec) -> Mapping[str, int]:
    """Return the parameters that one token does not pass, by the part that they belong to.

    Of the experts those that the router does not pick; of a table that is only looked up, all rows
    but the token's own. A tied table is the head too, and every token passes that.
    """
    found, tables = counts(spec), {"positions": (spec.learned_positions, spec.hidden_dim)}
    if not spec.tied:
        tables["token_embedding"] = (spec.vocab_size, spec.hidden_dim)
    if spec.layer_inputs is not None:
        width = spec.num_layers * spec.layer_inputs.width
        tables["layer_embeddings"] = (spec.layer_inputs.vocab_size, width)
    rows = {
        part: int(IDLE_ROWS.of({"num_rows": num_rows, "hidden_dim": width}))
        for part, (num_rows, width) in tables.items()
        if num_rows
    }
    return rows | ({"experts": found.idle_experts} if found.idle_experts else {})


def active_parameters(spec: ModelSpec) -> Item:
    """Return the parameters that one token passes."""
    idle = left_out(spec)
    experts = idle.get("experts", 0)
    values = {
        "num_params": counts(spec).total,
        "idle_experts": experts,
        "idle_rows": sum(idle.values()) - experts,
    }
    line = item("active parameters", ACTIVE, values, unit="parameters", kind="exact", source=_TOKEN)
    return as_guessed(line, spec, GUESSED_WORK)


def rows_and_columns(spec: ModelSpec, share: Share, held: ParameterCounts) -> int:
    """Return the rows plus columns of every matrix; norms and biases count number by number."""
    sums = [TABLE] * (bool(held.token_embedding) + bool(held.head)) + [DENSE]
    sums += [POSITIONS] * bool(held.positions)
    if spec.latent is None:
        sums.append(ATTENTION)
    else:
        sums += [NARROW_QUERIES if spec.latent.query_rank else WIDE_QUERIES, LATENT]
    if spec.mixture is not None:
        sums += [EXPERTS, SHARED] if spec.mixture.num_shared else [EXPERTS]
    sizes, vectors = local_sizes(spec, share), held.norms + held.final_norm + held.biases
    if _biased_experts(spec, share):  # a row of biases for each expert is a matrix
        sums.append(EXPERT_BIASES)
        vectors -= int(EXPERT_BIAS.of(sizes))
    if spec.indexer is not None:
        sums.append(INDEXER)
    if spec.recurrent is not None:
        sums.append(RECURRENT[spec.recurrent.kind])
    if spec.layer_inputs is not None:
        sums.append(LAYER_INPUTS)
    return int(sum(rule.of(sizes) for rule in sums)) + vectors
