"""The fields of a config.json: what each family of models calls them, and what it leaves out.

What a config.json does not say is fixed in the code of transformers 5.23, against whose modules
every row is tested.

Why apart: a new family is a row here, and `hf_config`, which makes a model of it, stays as it is.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Final

from core.models.spec import Bias

_LLAMA_NAMES: Final = MappingProxyType(
    {
        "num_layers": "num_hidden_layers",
        "hidden_dim": "hidden_size",
        "num_heads": "num_attention_heads",
        "num_kv_heads": "num_key_value_heads",
        "head_dim": "head_dim",
        "ffn_dim": "intermediate_size",
        "vocab_size": "vocab_size",
        "seq_len": "max_position_embeddings",
        "window": "sliding_window",
    }
)
_GPT2_NAMES: Final = MappingProxyType(
    {
        "num_layers": "n_layer",
        "hidden_dim": "n_embd",
        "num_heads": "n_head",
        "num_kv_heads": "n_head",
        "head_dim": "head_dim",
        "ffn_dim": "n_inner",
        "vocab_size": "vocab_size",
        "seq_len": "n_positions",
    }
)
_LAYER_NORM: Final = MappingProxyType({"norm": "layer", "norm_bias": True, "gated": False})


@dataclass(frozen=True, kw_only=True, slots=True)
class Family:
    """What is fixed for all models of a `model_type`.

    Attributes:
        names: Our name of a size -> theirs.
        layout: Fields of `ModelSpec` that are the same for all of them.
        tied: Whether the head is the embedding when the file does not say.
        bias_key: The field that switches the biases of attention on.
        bias: What it switches on.
        bias_default: Whether they are on when the file does not say.
        ffn_bias_key: The field that switches the biases of the feed-forward on; "" if fixed.
        windowed: Which layers have the window when the file has no `layer_types`: "all",
            "every_other", "five_of_six" (or as `sliding_window_pattern` says), "late" (from
            `max_window_layers` on), "chunks" (Llama 4: `attention_chunk_size` and
            `no_rope_layers`) or "none".
        learned_positions: Whether there is a table of positions.
        qk_norm_key: The field that switches norms of queries and keys on; "" if fixed.
        num_shared: Shared experts when the file does not say.
        expert_bias: Whether experts and router have biases.
    """

    names: Mapping[str, str] = field(default_factory=lambda: _LLAMA_NAMES)
    layout: Mapping[str, Any] = field(default_factory=dict)
    tied: bool = False
    bias_key: str = "attention_bias"
    bias: Bias = "all"
    bias_default: bool = False
    ffn_bias_key: str = "mlp_bias"
    windowed: str = "none"
    learned_positions: bool = False
    qk_norm_key: str = ""
    num_shared: int = 0
    expert_bias: bool = False


LLAMA: Final = Family()
_GPT2: Final = Family(
    names=_GPT2_NAMES,
    layout={**_LAYER_NORM, "ffn_bias": True},
    tied=True,
    bias_key="",
    bias_default=True,
    ffn_bias_key="",
    learned_positions=True,
)
_QWEN2: Final = Family(bias_key="", bias="qkv", bias_default=True, ffn_bias_key="", windowed="late")
_QWEN3: Final = Family(layout={"qk_norm": True}, ffn_bias_key="", windowed="late")
FAMILIES: Final[Mapping[str, Family]] = {
    "gpt2": _GPT2,
    "gpt_neox": Family(
        names=_LLAMA_NAMES | {"num_kv_heads": "num_attention_heads"},
        layout={**_LAYER_NORM, "ffn_bias": True},
        bias_default=True,
        ffn_bias_key="",
    ),
    "starcoder2": Family(
        layout=_LAYER_NORM,
        tied=True,
        bias_key="use_bias",
        bias_default=True,
        ffn_bias_key="use_bias",
        windowed="all",
    ),
    "llama": LLAMA,
    "smollm3": Family(tied=True),
    "granite": LLAMA,
    "mistral": Family(bias_key="", ffn_bias_key="", windowed="all"),
    "mixtral": Family(bias_key="", ffn_bias_key="", windowed="all"),
    "qwen2": _QWEN2,
    "qwen3": _QWEN3,
    "qwen3_moe": _QWEN3,
    "phi3": Family(bias_key="", ffn_bias_key="", windowed="all"),
    "gemma": Family(tied=True, ffn_bias_key=""),
    "gemma2": Family(
        layout={"norms_per_layer": 4}, tied=True, ffn_bias_key="", windowed="every_other"
    ),
    "gemma3_text": Family(
        layout={"norms_per_layer": 4, "qk_norm": True},
        tied=True,
        ffn_bias_key="",
        windowed="five_of_six",
    ),
    "deepseek_v2": Family(bias_key="", ffn_bias_key=""),
    "deepseek_v3": Family(bias_key="", ffn_bias_key=""),
    "deepseek_v32": Family(bias_key="", ffn_bias_key=""),
    "gpt_oss": Family(
        layout={"sinks": True},
        bias_default=True,
        ffn_bias_key="",
        windowed="every_other",
        expert_bias=True,
    ),
    "llama4_text": Family(
        names=_LLAMA_NAMES | {"ffn_dim": "intermediate_size_mlp", "window": "attention_chunk_size"},
        ffn_bias_key="",
        windowed="chunks",
        num_shared=1,
    ),
    "glm4_moe": Family(bias="qkv", ffn_bias_key="", qk_norm_key="use_qk_norm"),
    "olmo2": Family(layout={"qk_norm": True, "qk_norm_over": "all heads"}, ffn_bias_key=""),
    "ministral": Family(bias_key="", ffn_bias_key="", windowed="all"),
    "ernie4_5": Family(bias_key="use_bias", ffn_bias_key="use_bias", tied=True),
    "helium": Family(bias="qkv"),
    "granitemoe": Family(ffn_bias_key=""),
    "seed_oss": Family(bias_key="attention_bias", bias="qkv", bias_default=True, ffn_bias_key=""),
    "glm": Family(bias="qkv", bias_default=True, ffn_bias_key=""),
    "glm4": Family(layout={"norms_per_layer": 4}, bias="qkv", bias_default=True, ffn_bias_key=""),
    "hunyuan_v1_dense": Family(layout={"qk_norm": True}),
    "exaone4": Family(layout={"qk_norm": True}, bias_key="", ffn_bias_key=""),
    "arcee": Family(layout={"gated": False}),
    "nemotron": Family(layout=_LAYER_NORM),
    "cohere": Family(layout={"norm": "layer", "norms_per_layer": 1}, tied=True, ffn_bias_key=""),
    "cohere2": Family(layout={"norm": "layer", "norms_per_layer": 1}, tied=True, ffn_bias_key=""),
    "stablelm": Family(
        layout={"norm": "layer", "norm_bias": True},
        bias_key="use_qkv_bias",
        bias="qkv",
        ffn_bias_key="",
    ),
}
"""`model_type` -> its layout. Any other type is counted as if it were laid out like Llama."""
SAME_AS: Final[Mapping[str, str]] = {"kimi_k2": "deepseek_v3"}
"""A `model_type` that transformers does not have -> the one whose layout its architecture names."""
# Sizes that a family's own code fixes; elsewhere they follow from the width and the heads.
_FIXED: Final[Mapping[str, Mapping[str, int]]] = {
    "starcoder2": {"num_kv_heads": 2},
    "smollm3": {"num_kv_heads": 4},
    "mistral": {"num_kv_heads": 8, "window": 4096},
    "mixtral": {"num_kv_heads": 8},
    "ministral": {"num_kv_heads": 8, "window": 4096},
    "qwen3": {"head_dim": 128},
    "qwen3_moe": {"num_kv_heads": 4},
    "gemma": {"head_dim": 256},
    "gemma2": {"num_kv_heads": 4, "head_dim": 256, "window": 4096},
    "gemma3_text": {"num_heads": 8, "num_kv_heads": 4, "head_dim": 256, "window": 4096},
    "ernie4_5": {"num_kv_heads": 2, "head_dim": 128},
    "helium": {"head_dim": 128},
    "seed_oss": {"num_kv_heads": 8, "head_dim": 128},
    "glm": {"num_kv_heads": 2, "head_dim": 128},
    "glm4": {"num_kv_heads": 2, "head_dim": 128},
    "gpt_oss": {"num_kv_heads": 8, "head_dim": 64, "window": 128},
    "llama4_text": {"num_kv_heads": 8, "head_dim": 128, "window": 8192},
    "glm4_moe": {"num_kv_heads": 8},
}
DEFAULTS: Final[Mapping[str, Mapping[str, int]]] = {
    kind: {"vocab_size": vocab_size, "seq_len": seq_len, **_FIXED.get(kind, {})}
    for kind, vocab_size, seq_len in (
        ("gpt2", 50_257, 1024),
        ("gpt_neox", 50_432, 2048),
        ("starcoder2", 49_152, 4096),
        ("llama", 32_000, 2048),
        ("smollm3", 128_256, 32_768),
        ("granite", 32_000, 2048),
        ("mistral", 32_000, 131_072),
        ("mixtral", 32_000, 131_072),
        ("qwen2", 151_936, 32_768),
        ("qwen3", 151_936, 32_768),
        ("qwen3_moe", 151_936, 32_768),
        ("phi3", 32_064, 4096),
        ("gemma", 256_000, 8192),
        ("gemma2", 256_000, 8192),
        ("gemma3_text", 262_208, 131_072),
        ("deepseek_v2", 102_400, 2048),
        ("deepseek_v3", 129_280, 4096),
        ("deepseek_v32", 129_280, 163_840),
        ("gpt_oss", 201_088, 131_072),
        ("llama4_text", 202_048, 131_072),
        ("glm4_moe", 151_552, 131_072),
        ("olmo2", 50_304, 2048),
        ("ministral", 32_000, 131_072),
        ("ernie4_5", 103_424, 131_072),
        ("helium", 48_000, 4096),
        ("granitemoe", 32_000, 2048),
        ("seed_oss", 155_136, 524_288),
        ("glm", 151_552, 131_072),
        ("glm4", 151_552, 131_072),
        ("hunyuan_v1_dense", 290_943, 2048),
        ("exaone4", 102_400, 2048),
        ("arcee", 32_000, 4096),
        ("nemotron", 256_000, 4096),
        ("cohere", 256_000, 8192),
        ("cohere2", 256_000, 8192),
        ("stablelm", 50_304, 4096),
    )
}
"""`model_type` -> what transformers 5.23 takes where the file has no such field."""
READ: Final = (
    "model_type",
    "_name_or_path",
    *dict.fromkeys(key for family in (LLAMA, FAMILIES["gpt2"]) for key in family.names.values()),
    "tie_word_embeddings",
    "attention_bias",
    "mlp_bias",
    "use_bias",
    "use_qkv_bias",
    "sliding_window",
    "use_sliding_window",
    "max_window_layers",
    "layer_types",
    "sliding_window_pattern",
    "attention_chunk_size",
    "no_rope_layers",
    "no_rope_layer_interval",
    "use_qk_norm",
    "num_local_experts",
    "num_experts",
    "n_routed_experts",
    "num_experts_per_tok",
    "moe_intermediate_size",
    "n_shared_experts",
    "intermediate_size_mlp",
    "interleave_moe_layer_step",
    "moe_layers",
    "first_k_dense_replace",
    "decoder_sparse_step",
    "mlp_only_layers",
    "q_lora_rank",
    "kv_lora_rank",
    "qk_nope_head_dim",
    "qk_rope_head_dim",
    "v_head_dim",
    "index_n_heads",
    "index_head_dim",
    "index_topk",
    "num_nextn_predict_layers",
    "mtp_num_hidden_layers",
    "quantization_config",
)
"""The fields that count parameters, caches and FLOPs."""
