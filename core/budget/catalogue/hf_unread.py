"""The fields of a config.json that change what is counted, but are not understood here."""

import re
from typing import Final

from core.budget.catalogue.hf_families import LAYER_INPUTS, READ
from core.budget.catalogue.hf_fields import Config
from core.budget.catalogue.hf_layers import Layers
from core.models.spec import Recurrent

_SIZES: Final = (
    "expert moe dense layer pattern head dim size rank lora width hidden block depth interval freq"
    " idx index num_ ^n_ _n_ mamba ssm conv linear kernel state delta recurr expand group kv query"
    " vocab embed attn attention window cross sparse ffn mlp gate norm bias shared mtp altup laurel"
)
"""Parts of names that speak of sizes."""
_NO_SIZES: Final = (
    # positions, scales and limits of numbers
    "rope rotary theta position length mup_ scal multiplier clip clamp limit beta_factor a_log"
    " eigval cap$ capping$ temperature fp32 dtype _eps epsilon model_base correct_scale logits"
    # starting values, training, dropout
    " init std dropout pdrop layerdrop drop_ _loss coef aux jitter gradient label mask renormalize"
    # what the router does with its scores
    " topk_ grouped_topk capacity scoring score n_group$ expert_group _prob norm_min"
    " use_expert_bias sparsity"
    # tokens, other parts of the model, files
    " _token token_id pad_ org_ pooling _media_ dense_list image video vision audio encoder"
    " _config$ version tie_ active_idx"
    # how it is computed
    " _act$ activation upcast cache chunk flash fused kernels$ overlap _implementation"
    " pretraining_tp ep_size ^return_ ^output_ norm_before_gate rescale time_step dt_"
    " bidirectional causal parallel_block parallel_embedding swiglu rmsnorm full_attn_mod"
    # how text is written
    " num_beam repeat_ngram return_sequences"
    # what follows from other fields, or belongs to multi-token prediction
    " qk_head_dim mtp_layers_block mamba_use_mlp mlp_expansion ^block_dim$ ^conv_dim_out$"
)
"""Parts of names of fields that change no count, though another part speaks of sizes."""
_STATES: Final = (
    *("ssm_state_size", "conv_L_cache", "linear_num_value_heads", "linear_num_heads"),
)


def not_understood(
    config: Config,
    layers: Layers | None = None,
    recurrent: Recurrent | None = None,
    *,
    has_unknown_window: bool = False,
) -> tuple[str, ...]:
    """Return the fields whose names speak of a size, and which nothing here reads.

    With what was read: those of its layers and windows too that could not be counted.

    Args:
        config: The file, its fields under their first names.
        layers: The kinds of its layers.
        recurrent: What keeps a fixed state in some of them.
        has_unknown_window: Whether it has a window, and which layers have it is not known.
    """
    found = [
        key
        for key, value in config.items()
        if key not in READ and value and _speaks_of_size(str(key), value)
    ]
    if layers is not None:
        if recurrent is None and not layers.listed:
            found += [key for key in _STATES if config.get(key)]
        inputs = [key for key in LAYER_INPUTS if config.get(key)]
        found += inputs if len(inputs) < len(LAYER_INPUTS) else []
        is_counted = recurrent is not None or not layers.where("recurrent")
        if layers.where("other") or not is_counted:
            found.append(layers.listed)
    if has_unknown_window:
        found.append("sliding_window")
    return tuple(found)


def _speaks_of_size(key: str, value: object) -> bool:
    if isinstance(value, str):
        return "pattern" in key or "block_type" in key
    if isinstance(value, dict):
        return key.endswith(("_config", "_cfg")) and bool(
            re.search("attn|ssm|moe|ffn|mlp|layer", key)
        )
    speaks = any(re.search(part, key) for part in _SIZES.split())
    return speaks and not any(re.search(part, key) for part in ("^_", *_NO_SIZES.split()))
