"""The fields of a config.json: what each family of models calls them, and what it leaves out.

What a config.json does not say is fixed in the code of transformers 5.23, against whose modules
every row is tested.
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
        windowed: Which layers have the window when the file has no `layer_types`: "all", "pattern"
            (all but the last of every `pattern`, or as `sliding_window_pattern` says), "late"
            (from `max_window_layers` on), "chunks" (Llama 4: `attention_chunk_size` and
            `no_rope_layers`) or "none".
        pattern: Layers of which the last one has no window.
        learned_positions: Whether there is a table of positions.
        qk_norm_key: The field that switches norms of queries and keys on; "" if fixed.
        num_shared: Shared experts when the file does not say.
        expert_bias: Whether experts and router have biases.
        correction_bias: Whether the router has a trained number for each expert.
        missing: What transformers takes for other fields that the file leaves out.
    """

    names: Mapping[str, str] = field(default_factory=lambda: _LLAMA_NAMES)
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
_DELTA: Final = {
    "linear_conv_kernel_dim": 4,
    "linear_key_head_dim": 128,
    "linear_value_head_dim": 128,
    "linear_num_key_heads": 16,
    "linear_num_value_heads": 32,
    "full_attention_interval": 4,
}
_QWEN3_EXPERTS: Final = {
    "moe_intermediate_size": 512,
    "shared_expert_intermediate_size": 512,
}
_MIXTRAL: Final = {"num_experts": 8, "num_experts_per_tok": 2}
_LATENT: Final = {
    "kv_lora_rank": 512,
    "qk_nope_head_dim": 128,
    "qk_rope_head_dim": 64,
    "v_head_dim": 128,
}
_DEEPSEEK_V3: Final = Family(
    bias_key="",
    ffn_bias_key="",
    missing={
        **_LATENT,
        "num_experts": 256,
        "num_experts_per_tok": 8,
        "moe_intermediate_size": 2048,
        "n_shared_experts": 1,
        "first_k_dense_replace": 3,
    },
)
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
    "mixtral": Family(bias_key="", ffn_bias_key="", windowed="all", missing=_MIXTRAL),
    "qwen2": _QWEN2,
    "qwen3": _QWEN3,
    "qwen3_moe": Family(
        layout={"qk_norm": True},
        ffn_bias_key="",
        windowed="late",
        missing={"num_experts": 128, "num_experts_per_tok": 8, "moe_intermediate_size": 768},
    ),
    "phi3": Family(bias_key="", ffn_bias_key="", windowed="all"),
    "gemma": Family(tied=True, ffn_bias_key=""),
    "gemma2": Family(
        layout={"norms_per_layer": 4}, tied=True, ffn_bias_key="", windowed="pattern", pattern=2
    ),
    "gemma3_text": Family(
        layout={"norms_per_layer": 4, "qk_norm": True},
        tied=True,
        ffn_bias_key="",
        windowed="pattern",
        pattern=6,
    ),
    "deepseek_v2": Family(
        bias_key="",
        ffn_bias_key="",
        missing={
            **_LATENT,
            "num_experts": 64,
            "moe_intermediate_size": 1407,
            "n_shared_experts": 2,
        },
    ),
    "deepseek_v3": _DEEPSEEK_V3,
    "deepseek_v32": Family(
        bias_key="",
        ffn_bias_key="",
        missing={
            **_DEEPSEEK_V3.missing,
            "index_n_heads": 64,
            "index_head_dim": 128,
            "index_topk": 2048,
        },
    ),
    "gpt_oss": Family(
        layout={"sinks": True},
        bias_default=True,
        ffn_bias_key="",
        windowed="pattern",
        pattern=2,
        expert_bias=True,
        missing={"num_experts": 128, "num_experts_per_tok": 4},
    ),
    "llama4_text": Family(
        names=_LLAMA_NAMES | {"ffn_dim": "intermediate_size_mlp", "window": "attention_chunk_size"},
        ffn_bias_key="",
        windowed="chunks",
        num_shared=1,
        missing={"num_experts": 16, "num_experts_per_tok": 1},
    ),
    "glm4_moe": Family(
        bias="qkv",
        ffn_bias_key="",
        qk_norm_key="use_qk_norm",
        missing={
            "num_experts": 128,
            "num_experts_per_tok": 8,
            "moe_intermediate_size": 1408,
            "n_shared_experts": 1,
            "first_k_dense_replace": 1,
        },
    ),
    "olmo2": Family(layout={"qk_norm": True, "qk_norm_over": "all heads"}, ffn_bias_key=""),
    "ministral": Family(bias_key="", ffn_bias_key="", windowed="all"),
    "ernie4_5": Family(bias_key="use_bias", ffn_bias_key="use_bias", tied=True),
    "helium": Family(bias="qkv"),
    "granitemoe": Family(ffn_bias_key="", missing=_MIXTRAL),
    "seed_oss": Family(bias="qkv", bias_default=True, missing={"mlp_bias": False}),
    "glm": Family(bias="qkv", bias_default=True, ffn_bias_key=""),
    "glm4": Family(layout={"norms_per_layer": 4}, bias="qkv", bias_default=True, ffn_bias_key=""),
    "hunyuan_v1_dense": Family(layout={"qk_norm": True}),
    "exaone4": Family(
        layout={"qk_norm": True}, bias_key="", ffn_bias_key="", windowed="pattern", pattern=4
    ),
    "arcee": Family(layout={"gated": False}),
    "nemotron": Family(layout=_LAYER_NORM),
    "cohere": Family(
        layout={"norm": "layer", "norms_per_layer": 1, "qk_norm_over": "all heads"},
        tied=True,
        ffn_bias_key="",
        qk_norm_key="use_qk_norm",
    ),
    "cohere2": Family(
        layout={"norm": "layer", "norms_per_layer": 1},
        tied=True,
        ffn_bias_key="",
        windowed="pattern",
        pattern=4,
    ),
    "stablelm": Family(
        layout={"norm": "layer", "norm_bias": True},
        bias_key="use_qkv_bias",
        bias="qkv",
        ffn_bias_key="",
    ),
    "apertus": Family(
        layout={"gated": False, "qk_norm": True, "num_activation_params": 2}, ffn_bias_key=""
    ),
    "ernie4_5_moe": Family(
        bias_key="use_bias",
        ffn_bias_key="use_bias",
        tied=True,
        correction_bias=True,
        missing={
            "num_experts": 64,
            "num_experts_per_tok": 6,
            "moe_intermediate_size": 1536,
            "n_shared_experts": 2,
            "first_k_dense_replace": 1,
        },
    ),
    "qwen2_moe": Family(
        bias_key="qkv_bias",
        bias="qkv",
        bias_default=True,
        ffn_bias_key="",
        windowed="late",
        missing={
            "num_experts": 60,
            "num_experts_per_tok": 4,
            "moe_intermediate_size": 1408,
            "shared_expert_intermediate_size": 5632,
        },
    ),
    "olmoe": Family(
        layout={"qk_norm": True, "qk_norm_over": "all heads"},
        ffn_bias_key="",
        missing={"num_experts": 64, "num_experts_per_tok": 8},
    ),
    "qwen3_next": Family(
        layout={"qk_norm": True, "attention_gate": True},
        ffn_bias_key="",
        missing={**_DELTA, **_QWEN3_EXPERTS, "num_experts": 512, "num_experts_per_tok": 10},
    ),
    "qwen3_5_text": Family(
        layout={"qk_norm": True, "attention_gate": True}, ffn_bias_key="", missing=_DELTA
    ),
    "qwen3_5_moe_text": Family(
        layout={"qk_norm": True, "attention_gate": True},
        ffn_bias_key="",
        missing={**_DELTA, **_QWEN3_EXPERTS, "num_experts": 256, "num_experts_per_tok": 8},
    ),
    "nemotron_h": Family(
        layout={"gated": False, "norms_per_layer": 1},
        missing={
            "mamba_num_heads": 128,
            "mamba_head_dim": 64,
            "ssm_state_size": 128,
            "n_groups": 8,
            "conv_kernel": 4,
        },
    ),
    "granitemoehybrid": Family(
        ffn_bias_key="",
        missing={
            "mamba_num_heads": 128,
            "ssm_state_size": 256,
            "n_groups": 1,
            "conv_kernel": 4,
            "expand": 2,
        },
    ),
    "falcon_h1": Family(
        missing={
            "mamba_num_heads": 128,
            "ssm_state_size": 256,
            "n_groups": 1,
            "conv_kernel": 4,
            "mamba_d_ssm": 1024,
            "mamba_rms_norm": False,
        },
    ),
    "lfm2": Family(
        layout={"qk_norm": True},
        tied=True,
        bias_key="",
        ffn_bias_key="",
        missing={"conv_L_cache": 3},
    ),
    "lfm2_moe": Family(
        layout={"qk_norm": True},
        tied=True,
        bias_key="",
        ffn_bias_key="",
        missing={
            "conv_L_cache": 3,
            "num_experts": 32,
            "num_experts_per_tok": 4,
            "moe_intermediate_size": 1792,
            "first_k_dense_replace": 2,
        },
    ),
    "gemma3n_text": Family(
        layout={"norms_per_layer": 4, "qk_norm": True},
        tied=True,
        ffn_bias_key="",
        windowed="pattern",
        pattern=5,
        missing={
            "vocab_size_per_layer_input": 262_144,
            "hidden_size_per_layer_input": 256,
            "altup_num_inputs": 4,
            "laurel_rank": 64,
            "num_kv_shared_layers": 15,
        },
    ),
    "kimi_linear": Family(
        missing={
            "linear_num_heads": 32,
            "linear_head_dim": 128,
            "linear_conv_kernel_dim": 4,
            "num_experts": 256,
            "num_experts_per_tok": 8,
            "moe_intermediate_size": 1024,
            "n_shared_experts": 1,
            "first_k_dense_replace": 1,
            **_LATENT,
        },
    ),
    "minicpm3": Family(
        tied=True,
        missing={
            "kv_lora_rank": 256,
            "q_lora_rank": 768,
            "qk_nope_head_dim": 64,
            "qk_rope_head_dim": 32,
        },
    ),
}
"""`model_type` -> its layout. Any other type is counted as if it were laid out like Llama."""
SAME_AS: Final[Mapping[str, str]] = {
    "kimi_k2": "deepseek_v3",
    "qwen2_vl": "qwen2",
    "qwen2_vl_text": "qwen2",
    "qwen2_5_vl": "qwen2",
    "qwen2_5_vl_text": "qwen2",
    "qwen3_5": "qwen3_5_text",
    "qwen3_5_moe": "qwen3_5_moe_text",
    "gemma3": "gemma3_text",
    "gemma3n": "gemma3n_text",
}
"""A `model_type` -> the one whose layout its architecture, or its text part, has."""
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
    "exaone4": {"num_kv_heads": 32, "window": 4096},
    "cohere2": {"window": 4096},
    "qwen3_next": {"num_kv_heads": 2, "head_dim": 256},
    "qwen3_5_text": {"num_kv_heads": 4, "head_dim": 256},
    "qwen3_5_moe_text": {"num_kv_heads": 2, "head_dim": 256},
    "nemotron_h": {"num_kv_heads": 8, "head_dim": 128},
    "falcon_h1": {"num_kv_heads": 8},
    "lfm2": {"num_kv_heads": 8},
    "lfm2_moe": {"num_kv_heads": 8},
    "ernie4_5_moe": {"num_kv_heads": 4},
    "qwen2_moe": {"num_kv_heads": 16},
    "gemma3n_text": {"num_heads": 8, "num_kv_heads": 2, "head_dim": 256, "window": 512},
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
        ("apertus", 131_072, 65_536),
        ("ernie4_5_moe", 103_424, 131_072),
        ("qwen2_moe", 151_936, 32_768),
        ("olmoe", 50_304, 4096),
        ("qwen3_next", 151_936, 32_768),
        ("qwen3_5_text", 248_320, 32_768),
        ("qwen3_5_moe_text", 248_320, 32_768),
        ("nemotron_h", 131_072, 4096),
        ("granitemoehybrid", 32_000, 2048),
        ("falcon_h1", 128_000, 8192),
        ("lfm2", 65_536, 128_000),
        ("lfm2_moe", 65_536, 128_000),
        ("gemma3n_text", 262_400, 32_768),
        ("kimi_linear", 163_840, 1_048_576),
        ("minicpm3", 73_448, 32_768),
    )
}
"""`model_type` -> what transformers 5.23 takes where the file has no such field."""
OTHER_NAMES: Final[Mapping[str, tuple[str, ...]]] = {
    "num_hidden_layers": ("n_layers", "num_layers", "n_layer"),
    "hidden_size": ("d_model", "n_embd", "dim"),
    "num_attention_heads": ("n_heads", "num_heads", "n_head"),
    "num_key_value_heads": ("n_kv_heads", "num_kv_heads", "n_head_kv"),
    "head_dim": ("attention_head_dim", "kv_channels"),
    "intermediate_size": ("ffn_hidden_size", "ffn_dim", "d_ff", "n_inner"),
    "max_position_embeddings": (
        *("model_max_length", "max_seq_len", "max_sequence_length"),
        *("seq_length", "n_positions", "n_ctx"),
    ),
    "tie_word_embeddings": ("tie_embedding", "use_embedding_sharing"),
    "hidden_act": ("mlp_hidden_act", "hidden_activation", "activation_function"),
    "layer_types": ("layers_block_type",),
    "sliding_window_pattern": ("layer_switch",),
    "num_experts": ("num_local_experts", "n_routed_experts", "moe_num_experts", "num_moe_experts"),
    "num_experts_per_tok": (
        *("num_experts_per_token", "moe_k", "moe_topk", "moe_top_k"),
        *("top_k_experts", "num_selected_experts"),
    ),
    "moe_intermediate_size": ("expert_intermediate_size", "moe_ffn_hidden_size"),
    "n_shared_experts": ("num_shared_experts", "num_shared_expert", "moe_num_shared_experts"),
    "shared_intermediate_size": ("moe_shared_expert_intermediate_size",),
    "first_k_dense_replace": ("moe_layer_start_index", "num_dense_layers"),
    "num_nextn_predict_layers": ("mtp_num_hidden_layers", "mtp_num_layers", "num_mtp_modules"),
    "mamba_num_heads": ("mamba_n_heads",),
    "mamba_head_dim": ("mamba_d_head",),
    "ssm_state_size": ("mamba_d_state",),
    "n_groups": ("mamba_n_groups",),
    "conv_kernel": ("mamba_d_conv",),
    "expand": ("mamba_expand",),
    "use_conv_bias": ("mamba_conv_bias",),
    "full_attn_idxs": ("attn_layer_indices",),
}
"""A field -> what others call it."""
LAYER_INPUTS: Final = (
    *("hidden_size_per_layer_input", "vocab_size_per_layer_input"),
    *("altup_num_inputs", "laurel_rank"),
)
"""What Gemma 3n adds to each layer: width, rows, streams, rank."""
READ: Final = (
    *("model_type", "_name_or_path"),
    *dict.fromkeys(key for family in (LLAMA, FAMILIES["gpt2"]) for key in family.names.values()),
    *("tie_word_embeddings", "hidden_act"),
    *("attention_bias", "mlp_bias", "use_bias", "use_qkv_bias", "qkv_bias"),
    *("use_qk_norm", "qk_norm", "attn_output_gate"),
    *("sliding_window", "use_sliding_window", "max_window_layers", "sliding_window_pattern"),
    *("layer_types", "hybrid_override_pattern", "full_attention_interval", "full_attn_idxs"),
    *("attention_chunk_size", "no_rope_layers", "no_rope_layer_interval"),
    *("num_experts", "num_experts_per_tok", "moe_intermediate_size", "n_shared_experts"),
    *("shared_expert_intermediate_size", "shared_intermediate_size", "intermediate_size_mlp"),
    *("interleave_moe_layer_step", "moe_layers", "first_k_dense_replace", "decoder_sparse_step"),
    *("moe_layer_freq", "moe_layer_end_index", "moe_layer_interval", "mlp_only_layers"),
    *("q_lora_rank", "kv_lora_rank", "qk_nope_head_dim", "qk_rope_head_dim", "v_head_dim"),
    *("index_n_heads", "index_head_dim", "index_topk", "num_nextn_predict_layers"),
    *("linear_num_key_heads", "linear_key_head_dim", "linear_num_value_heads"),
    *("linear_value_head_dim", "linear_conv_kernel_dim", "linear_num_heads", "linear_head_dim"),
    *("linear_attn_config", "mamba_num_heads", "mamba_head_dim", "ssm_state_size", "n_groups"),
    *("conv_kernel", "expand", "mamba_d_ssm", "mamba_rms_norm", "use_conv_bias"),
    *("mamba_proj_bias", "conv_L_cache", "conv_dim", "conv_bias"),
    *("block_ff_dim", "block_auto_adjust_ff_dim", "block_ffn_dim_multiplier", "block_multiple_of"),
    *LAYER_INPUTS,
    *("num_kv_shared_layers", "mlp_layer_types", "quantization_config"),
)
"""The fields that count parameters, caches and FLOPs, under their first names."""
