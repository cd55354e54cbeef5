"""Rows and columns of a model's matrices: what Adafactor keeps in place of every square."""

from typing import Final

from core.budget.catalogue.parameters import ParameterCounts, local_sizes
from core.budget.formula import Formula, Number
from core.budget.parallel.share import Share
from core.models.spec import ModelSpec

TABLE: Final = Formula("vocab_size + hidden_dim")
POSITIONS: Final = Formula("learned_positions + hidden_dim")
ATTENTION: Final = Formula(
    "num_layers * (4 * hidden_dim + 2 * (num_heads + num_kv_heads) * head_dim)"
)
NARROW_QUERIES: Final = Formula(
    "num_layers * (hidden_dim + 2 * query_rank + num_heads * (nope_dim + rope_dim))"
)
WIDE_QUERIES: Final = Formula("num_layers * (hidden_dim + num_heads * (nope_dim + rope_dim))")
LATENT: Final = Formula(
    "num_layers * (hidden_dim + kv_rank + rope_dim"
    " + kv_rank + num_heads * (nope_dim + value_dim) + num_heads * value_dim + hidden_dim)"
)
DENSE: Final = Formula("num_dense_layers * num_matrices * (hidden_dim + ffn_dim)")
EXPERTS: Final = Formula(
    "num_expert_layers * (num_experts * 3 * (hidden_dim + expert_dim)"
    " + hidden_dim + num_experts_in_all)"
)
SHARED: Final = Formula("num_expert_layers * 3 * (hidden_dim + num_shared * expert_dim)")


def rows_and_columns(spec: ModelSpec, share: Share, held: ParameterCounts) -> int:
    """Return the rows plus columns of every matrix; norms and biases count number by number."""
    sizes: dict[str, Number] = local_sizes(spec, share)
    rules = [*_tables(held), *_attention(spec), DENSE]
    if spec.mixture is not None:
        rules.append(EXPERTS)
        rules += [SHARED] if spec.mixture.num_shared else []
    vectors = held.norms + held.final_norm + held.biases
    return int(sum(rule.of(sizes) for rule in rules)) + vectors


def _tables(held: ParameterCounts) -> list[Formula]:
    tables = [TABLE] * (bool(held.token_embedding) + bool(held.head))
    return tables + [POSITIONS] * bool(held.positions)


def _attention(spec: ModelSpec) -> list[Formula]:
    if spec.latent is None:
        return [ATTENTION]
    return [NARROW_QUERIES if spec.latent.query_rank else WIDE_QUERIES, LATENT]
