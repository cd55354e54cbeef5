"""The fields of a config.json: what each family of models calls them, and what it leaves out."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from core.budget.table import read_table
from core.models.spec import Bias

_TABLES: Final = read_table(__file__)
_LLAMA_NAMES: Final[Mapping[str, str]] = _TABLES["llama_names"]
OTHER_NAMES: Final[Mapping[str, list[str]]] = _TABLES["other_names"]
"""A field -> what others call it."""
SAME_AS: Final[Mapping[str, str]] = _TABLES["same_as"]
"""A `model_type` -> the one whose layout its architecture, or its text part, has."""
READ: Final[tuple[str, ...]] = tuple(_TABLES["read"])
"""The fields that count parameters, caches and FLOPs, under their first names."""
LAYER_INPUTS: Final = (
    *("hidden_size_per_layer_input", "vocab_size_per_layer_input"),
    *("altup_num_inputs", "laurel_rank"),
)
"""What Gemma 3n adds to each layer: width, rows, streams, rank."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Family:
    """What is fixed for all models of a `model_type`.

    Attributes:
        names: Our name of a size -> theirs.
        layout: Fields of `ModelSpec` that are the same for all of them.
        tied: Whether the head is the embedding when the file does not say.
        bias_key: The field that switches the biases of attention on.
        bias_default: Whether they are on when the file does not say.
        ffn_bias_key: The field that switches the biases of the feed-forward on; "" if fixed.
        windowed: Which layers have the window when the file has no `layer_types`: "all", "pattern"
            (all but the last of every `pattern`, or as `sliding_window_pattern` says), "late"
            (from `max_window_layers` on), "chunks" (Llama 4: `attention_chunk_size` and
            `no_rope_layers`) or "none".
        qk_norm_key: The field that switches norms of queries and keys on; "" if fixed.
        num_shared: Shared experts when the file does not say.
        correction_bias: Whether the router has a trained number for each expert.
        missing: What transformers takes for other fields that the file leaves out.
        defaults: What it takes for sizes that the file leaves out, by our names.
    """

    names: Mapping[str, str]
    layout: Mapping[str, Any] = field(default_factory=dict)
    tied: bool = False
    bias_key: str = "attention_bias"
    bias: Bias = "all"
    bias_default: bool = False
    ffn_bias_key: str = "mlp_bias"
    windowed: str = "none"
    pattern: int = 0
    learned_positions: bool = False
    qk_norm_key: str = ""
    num_shared: int = 0
    expert_bias: bool = False
    correction_bias: bool = False
    missing: Mapping[str, Any] = field(default_factory=dict)
    defaults: Mapping[str, int] = field(default_factory=dict)


def _family(row: dict[str, Any]) -> Family:
    return Family(names={**_LLAMA_NAMES, **row.pop("names", {})}, **row)


FAMILIES: Final = {kind: _family(row) for kind, row in _TABLES["families"].items()}
"""`model_type` -> its layout. Any other type is counted as if it were laid out like Llama."""
LLAMA: Final = FAMILIES["llama"]
