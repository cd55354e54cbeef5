"""How each part of a model is counted: one row a part, the text of its rule and when it applies.

The names are the fields of `ModelSpec`, `Mixture` and `LatentAttention`; for one rank they are the
rank's own heads, its own columns of the feed-forward layer and its own rows of the vocabulary.
"""

from collections.abc import Callable, Iterator
from typing import Final, NamedTuple

from core.budget.item import Formula, Number
from core.budget.share import Share
from core.language import N_, _
from core.models.spec import LatentAttention, Mixture, ModelSpec


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
    return share.num_layers > share.num_expert_layers


def _shared(spec: ModelSpec, share: Share) -> bool:
    return spec.mixture is not None and spec.mixture.num_shared > 0 and share.num_expert_layers > 0


def _own_head(spec: ModelSpec, share: Share) -> bool:
    """Return whether the head is a matrix of its own here.

    A tied head is the embedding itself; on the last stage of a pipeline it is a copy of it.
    """
    return share.has_head and not (spec.tied and share.has_embedding)


_FFN: Final = Formula("num_dense_layers * hidden_dim * ffn_dim")
_RULES: Final = (
    Rule("token_embedding", N_("token embedding"), Formula("vocab_size * hidden_dim"),
         lambda _, share: share.has_embedding),
    Rule("positions", N_("learned positions"), Formula("learned_positions * hidden_dim"),
         lambda spec, share: share.has_embedding and spec.learned_positions > 0),
    Rule("attention", N_("queries"), Formula("num_layers * hidden_dim * num_heads * head_dim"),
         lambda spec, _: not _latent(spec)),
    Rule("attention", N_("queries"),
         Formula("num_layers * hidden_dim * num_heads * (nope_dim + rope_dim)"),
         lambda spec, _: _latent(spec) and not _compressed(spec)),
    Rule("attention", N_("queries"),
         Formula("num_layers * query_rank * (hidden_dim + num_heads * (nope_dim + rope_dim))"),
         lambda spec, _: _compressed(spec)),
    Rule("attention", N_("keys and values"),
         Formula("num_layers * hidden_dim * 2 * num_kv_heads * head_dim"),
         lambda spec, _: not _latent(spec)),
    Rule("attention", N_("keys and values"),
         Formula("num_layers * (hidden_dim * (kv_rank + rope_dim)"
                 " + kv_rank * num_heads * (nope_dim + value_dim))"),
         lambda spec, _: _latent(spec)),
    Rule("attention", N_("attention output"),
         Formula("num_layers * num_heads * head_dim * hidden_dim"),
         lambda spec, _: not _latent(spec)),
    Rule("attention", N_("attention output"),
         Formula("num_layers * num_heads * value_dim * hidden_dim"),
         lambda spec, _: _latent(spec)),
    Rule("attention", N_("biases of queries, keys and values"),
         Formula("num_layers * head_dim * (num_heads + 2 * num_kv_heads)"),
         lambda spec, _: spec.attention_bias != "none" and not _latent(spec), is_bias=True),
    Rule("attention", N_("biases of the attention output"), Formula("num_layers * hidden_dim"),
         lambda spec, _: spec.attention_bias == "all", is_bias=True),
    Rule("dense_ffn", N_("gate projection"), _FFN,
         lambda spec, share: spec.gated and _dense(share)),
    Rule("dense_ffn", N_("up projection"), _FFN, lambda _, share: _dense(share)),
    Rule("dense_ffn", N_("down projection"), _FFN, lambda _, share: _dense(share)),
    Rule("dense_ffn", N_("biases of the feed-forward"),
         Formula("num_dense_layers * (num_inner * ffn_dim + hidden_dim)"),
         lambda spec, share: spec.ffn_bias and _dense(share), is_bias=True),
    Rule("experts", N_("experts"),
         Formula("num_expert_layers * num_experts * num_matrices * hidden_dim * expert_dim"),
         lambda _, share: share.num_expert_layers > 0),
    Rule("router", N_("router"), Formula("num_expert_layers * hidden_dim * num_experts_in_all"),
         lambda _, share: share.num_expert_layers > 0),
    Rule("shared_experts", N_("shared experts"),
         Formula("num_expert_layers * num_shared * num_matrices * hidden_dim * expert_dim"),
         _shared),
    Rule("norms", N_("norms of the layers"),
         Formula("num_layers * norms_per_layer * hidden_dim * numbers_per_channel"),
         lambda spec, _: spec.norms_per_layer > 0),
    Rule("norms", N_("norms of queries and keys"), Formula("num_layers * 2 * head_dim"),
         lambda spec, _: spec.qk_norm and not _latent(spec)),
    Rule("norms", N_("norms of compressed queries, keys and values"),
         Formula("num_layers * (query_rank + kv_rank)"),
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
                "{tensor} tensor ranks cannot share {heads} heads; take a number that divides "
                "{heads}."
            ).format(tensor=share.tensor, heads=spec.num_heads)
        )
    return {
        "hidden_dim": spec.hidden_dim,
        "num_layers": share.num_layers,
        "num_dense_layers": share.num_layers - share.num_expert_layers,
        "num_expert_layers": share.num_expert_layers,
        "num_heads": spec.num_heads // share.tensor,
        "num_kv_heads": -(-spec.num_kv_heads // share.tensor),
        "head_dim": spec.head_dim,
        "ffn_dim": -(-spec.ffn_dim // share.tensor),
        "vocab_size": -(-spec.vocab_size // share.tensor),
        "learned_positions": spec.learned_positions,
        "norms_per_layer": spec.norms_per_layer,
        "numbers_per_channel": 2 if spec.norm == "layer" and spec.norm_bias else 1,
        "num_matrices": 3 if spec.gated else 2,
        "num_inner": 2 if spec.gated else 1,
        **(_expert_sizes(spec.mixture, share) if spec.mixture else {}),
        **(_latent_sizes(spec.latent) if spec.latent else {}),
    }


def _expert_sizes(mixture: Mixture, share: Share) -> dict[str, Number]:
    return {
        "num_experts": -(-mixture.num_experts // share.expert),
        "num_experts_in_all": mixture.num_experts,
        "experts_per_token": mixture.experts_per_token,
        "expert_dim": -(-mixture.expert_dim // share.tensor),
        "num_shared": mixture.num_shared,
    }


def _latent_sizes(latent: LatentAttention) -> dict[str, Number]:
    return {
        "query_rank": latent.query_rank,
        "kv_rank": latent.kv_rank,
        "nope_dim": latent.nope_dim,
        "rope_dim": latent.rope_dim,
        "value_dim": latent.value_dim,
    }
