"""The fields of a config.json that change what is counted, but are not understood here."""

import re
from typing import Final

from core.budget.catalogue.hf_families import LAYER_INPUTS, LLAMA, READ, Family
from core.budget.catalogue.hf_fields import Config
from core.budget.catalogue.hf_layers import Layers
from core.models.spec import Recurrent

_SIZES: Final = re.compile(
    r"expert|moe|layer|pattern|head|dim|size|rank|mamba|ssm|conv|linear|shared|mtp|altup|laurel"
    r"|kernel|state|ffn|mlp|expand|block|window|width|hidden|interval|sparse|attn|attention|gate"
    r"|lora|query|vocab|embed|norm|bias|recurr|kv|index|delta|depth|num_|^n_|_n_|idx|freq|cross"
)
"""Parts of names that speak of sizes."""
_NO_SIZES: Final = re.compile(
    r"rope|rotary|theta|yarn|token_id|dropout|drop_|initial|_init|init_|std|dtype|_eps|epsilon|_loss"
    r"|coef|_prob|scal|multiplier|cap(ping)?$|temperature|temp$|cache|version|position|chunk_size"
    r"|_act$|activation|topk_|n_group$|expert_group|norm_topk|scoring|score|pretraining_tp|^output_"
    r"|^return_|gradient|time_step|fp32|_implementation|flash|fused|kernels$|label|prun|tie_|chunk"
    r"|clip|_config$|^transformers|image|video|vision|audio|mup_|_token|renormalize|sampl|alpha"
    r"|beam|decoder_start|problem|reorder|keep|clamp|_limit|limit$|sinkhorn|correct_scale|active_idx"
    r"|aux|pdrop|use_expert_bias|a_log|eigval|jitter|logits|overlap|norm_before_gate|norm_min|sparsity|model_base|seq_aux|qk_head_dim|mtp_layers_block|beta_factor"
    r"|mask|bos|eos|pad_|prefix|suffix|use_mamba_kernels|rescale|^rms_norm$|router_dtype"
    r"|bidirectional|causal|layer_norm$|attn_impl|dt_|_stage|layerdrop|num_return|length|ep_size"
    r"|cross_attention$|chunk|no_repeat|diversity|low_memory|typical|encoder|add_|summary"
)
"""Parts of names of fields that change no count, though another part speaks of sizes."""
_STATES: Final = (
    *("ssm_state_size", "conv_L_cache", "linear_num_value_heads", "linear_num_heads"),
)


def not_understood(
    config: Config,
    family: Family = LLAMA,
    layers: Layers | None = None,
    recurrent: Recurrent | None = None,
    window: int | None = None,
) -> tuple[str, ...]:
    """Return the fields whose names speak of a size, and which nothing here reads.

    With what was read: those of its layers and windows too that could not be counted.

    Args:
        config: The file, its fields under their first names.
        family: The layout that it is read by.
        layers: The kinds of its layers.
        recurrent: What keeps a fixed state in some of them.
        window: The window that was read.
    """
    found = [
        key
        for key, value in config.items()
        if key not in READ and value and _speaks_of_size(key, value)
    ]
    if layers is not None:
        if recurrent is None and not layers.listed:
            found += [key for key in _STATES if config.get(key)]
        inputs = [key for key in LAYER_INPUTS if config.get(key)]
        found += inputs if len(inputs) < len(LAYER_INPUTS) else []
        is_counted = recurrent is not None or not layers.where("recurrent")
        if layers.where("other") or not is_counted:
            found.append(layers.listed)
        is_used = window is not None or layers.listed or family is not LLAMA
        if config.get("sliding_window") and not is_used:
            found.append("sliding_window")
    return tuple(found)


def _speaks_of_size(key: str, value: object) -> bool:
    if isinstance(value, str):
        return "pattern" in key or "block_type" in key
    if isinstance(value, dict):
        return key.endswith(("_config", "_cfg")) and bool(
            re.search("attn|ssm|moe|ffn|mlp|layer", key)
        )
    return key[0] != "_" and bool(_SIZES.search(key)) and not _NO_SIZES.search(key)
