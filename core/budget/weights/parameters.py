"""How many parameters a model has, part by part, and how many of them one rank holds.

Each part is counted by the rules of parameters.toml. Their names are the fields of
`ModelSpec`, `Mixture` and `LatentAttention`; for one rank they are the rank's own heads, its own
columns of the feed-forward layer and its own rows of the vocabulary.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from core.budget.item import GUESSED_WORK, Formula, Item, Number, as_guessed, counted, total
from core.budget.share import Share, whole
from core.budget.table import read_table
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


@dataclass(frozen=True, kw_only=True, slots=True)
class ParameterCounts:
    """Parameters of a model, or of one rank's part of it.

    Attributes:
        token_embedding: One row for each token of the vocabulary.
        layer_embeddings: One more for each of them and each layer (Gemma 3n).
        recurrent: What keeps a fixed state, with its convolution and its vectors.
        layer_inputs: Gemma 3n's matrices of AltUp, Laurel and each layer's own input.
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
        when: What must hold of the model and of the rank's part: see `_facts`.
    """

    part: str
    name: str
    formula: Formula
    when: frozenset[str]
    is_bias: bool = False


_TABLES: Final = read_table(__file__)
# What the formulas of the recurrent layers call sizes: `_recurrent_sizes`.
RECURRENT_INPUTS: Final[Mapping[RecurrentKind, str]] = _TABLES["recurrent_inputs"]
RECURRENT_OUTPUT: Final = "mixer_dim * hidden_dim"
CONVOLUTION: Final = "conv_dim * kernel"


def _rule(row: dict[str, Any]) -> Rule:
    when = frozenset(row.pop("when"))
    inputs = "".join(text for kind, text in RECURRENT_INPUTS.items() if kind in when)
    formula = Formula(row.pop("formula").format(inputs=inputs))
    return Rule(**{"part": "", "name": ""} | row, formula=formula, when=when)


_RULES: Final = tuple(map(_rule, _TABLES["rules"]))
_ROWS_AND_COLUMNS: Final = tuple(map(_rule, _TABLES["rows_and_columns"]))


def rules(spec: ModelSpec, share: Share) -> Iterator[Rule]:
    """Yield the lines that this rank has, in the order in which a token meets them."""
    facts = _facts(spec, share)
    return (rule for rule in _RULES if rule.when <= facts)


def _facts(spec: ModelSpec, share: Share) -> frozenset[str]:
    """Return what holds of a model and of a rank's part, in the words of parameters.toml."""
    facts = {
        "embedding": share.has_embedding,
        "head here": share.has_head,
        # a tied head is the embedding; on the last stage of a pipeline it is a copy of it
        "own head": share.has_head and not (spec.tied and share.has_embedding),
        "learned positions": spec.learned_positions > 0,
        "per-layer inputs": spec.layer_inputs is not None,
        "plain attention": spec.latent is None,
        "gate of attention": spec.attention_gate,
        "biases of queries": spec.attention_bias != "none",
        "biases of attention": spec.attention_bias == "all",
        "sinks": spec.sinks,
        "indexer": spec.indexer is not None,
        "dense": share.num_dense_layers > 0,
        "gate": spec.gated,
        "biases of feed-forward": spec.ffn_bias,
        "parameters of activation": spec.num_activation_params > 0,
        "norms": spec.norms_per_layer > 0,
        "norm of each head": spec.qk_norm and spec.qk_norm_over == "head",
        "norm of all heads": spec.qk_norm and spec.qk_norm_over != "head",
    }
    if spec.latent is not None:
        facts |= {"latent attention": True, "narrow queries": spec.latent.query_rank > 0}
        facts["wide queries"] = not facts["narrow queries"]
    if (recurrent := spec.recurrent) and share.num_recurrent_layers:
        facts |= {"recurrent": True, recurrent.kind: True, "biases of projections": recurrent.bias}
        facts["biases of convolution"] = recurrent.conv_bias
    if (mixture := spec.mixture) and share.num_expert_layers:
        facts |= {"experts": True, "shared experts": mixture.num_shared > 0}
        facts |= {"biases of experts": mixture.bias, "gate of shared experts": mixture.shared_gate}
        facts["correction biases"] = mixture.correction_bias
    return frozenset(fact for fact, holds in facts.items() if holds)


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
    return {"index_heads": indexer.num_heads, "index_dim": indexer.head_dim, "top_k": indexer.top_k}


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
    if "biases of experts" in _facts(spec, share):
        idle += int(IDLE_BIASES.of(sizes))
    return ParameterCounts(**parts, biases=biases, idle_experts=idle)


def count_parameters(spec: ModelSpec) -> Item:
    """Return the parameters as a tree: parts, then the rules that count them."""
    share = whole(spec)
    sizes = local_sizes(spec, share)
    lines: dict[str, list[Item]] = {}
    for rule in rules(spec, share):
        line = counted(rule.name, rule.formula, sizes, _SOURCE, "parameters")
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
    line = counted("active parameters", ACTIVE, values, _TOKEN, "parameters")
    return as_guessed(line, spec, GUESSED_WORK)


def rows_and_columns(spec: ModelSpec, share: Share, held: ParameterCounts) -> int:
    """Return the rows plus columns of every matrix; norms and biases count number by number."""
    facts, sizes = _facts(spec, share), local_sizes(spec, share)
    sums = (rule.formula.of(sizes) for rule in _ROWS_AND_COLUMNS if rule.when <= facts)
    return int(sum(sums)) + held.norms + held.final_norm + held.biases
