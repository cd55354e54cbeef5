"""Experts, latent attention and sliding windows, as a config.json describes them."""

from collections.abc import Sequence
from typing import Final

from core.budget.catalogue.hf_fields import (
    Config,
    flag,
    optional_number,
    shown,
    whole_number,
    words,
)
from core.language import _
from core.models.spec import LatentAttention, Mixture

_NUM_EXPERTS: Final = ("num_local_experts", "num_experts", "n_routed_experts")


def read_mixture(config: Config, num_layers: int) -> Mixture | None:
    """Return the experts; None for a dense model.

    Raises:
        ValueError: If a number cannot be, or the layout is not one that can be counted.
    """
    key = next((name for name in _NUM_EXPERTS if config.get(name) is not None), None)
    if key is None or optional_number(config, key, 0, low=0) == 0:
        return None
    _refuse_unknown_layout(config)
    ffn = optional_number(config, "intermediate_size", 0)
    width = optional_number(config, "moe_intermediate_size", ffn)
    if not width:
        whole_number(config, "moe_intermediate_size")  # says what is missing
    return Mixture(
        num_experts=whole_number(config, key),
        experts_per_token=whole_number(config, "num_experts_per_tok"),
        expert_dim=width,
        num_shared=optional_number(config, "n_shared_experts", 0, low=0),
        num_dense_layers=_num_dense_layers(config, num_layers),
    )


def _refuse_unknown_layout(config: Config) -> None:
    for key in ("shared_expert_intermediate_size", "moe_layer_freq", "interleave_moe_layer_step"):
        if config.get(key) not in (None, 1):
            raise ValueError(
                _(
                    "{key} in config.json is {value}: experts laid out that way cannot be "
                    "counted here."
                ).format(key=key, value=shown(config[key]))
            )


def _num_dense_layers(config: Config, num_layers: int) -> int:
    first = optional_number(config, "first_k_dense_replace", 0, low=0)
    step = optional_number(config, "decoder_sparse_step", 1)
    listed = config.get("mlp_only_layers") or []
    if not isinstance(listed, Sequence) or not all(type(each) is int for each in listed):
        raise ValueError(
            _("{key} in config.json is {value}; it must be a list of whole numbers.").format(
                key="mlp_only_layers", value=shown(listed)
            )
        )
    dense = {each for each in listed if 0 <= each < num_layers}
    if step > 1:
        dense |= set(range(num_layers)) - set(range(step - 1, num_layers, step))
    return max(first, len(dense))


def read_latent(config: Config) -> LatentAttention | None:
    """Return the latent attention; None where there is none.

    Raises:
        ValueError: If a number is missing or cannot be, or it has biases.
    """
    if config.get("kv_lora_rank") is None:
        return None
    if flag(config, "attention_bias", default=False):
        raise ValueError(_("Latent attention with biases (attention_bias) cannot be counted here."))
    return LatentAttention(
        query_rank=optional_number(config, "q_lora_rank", 0, low=0),
        kv_rank=whole_number(config, "kv_lora_rank"),
        nope_dim=whole_number(config, "qk_nope_head_dim"),
        rope_dim=whole_number(config, "qk_rope_head_dim"),
        value_dim=whole_number(config, "v_head_dim"),
    )


def read_window(config: Config, num_layers: int, windowed: str) -> tuple[int | None, int]:
    """Return the sliding window in tokens and how many layers have it: (None, 0) without one.

    Args:
        config: The file.
        num_layers: Layers of the model.
        windowed: Which layers have it when the file does not list them (`Family.windowed`).

    Raises:
        ValueError: If a number cannot be, or the list of layers has another length.
    """
    window = optional_number(config, "sliding_window", 0, low=0)
    if not window or not flag(config, "use_sliding_window", default=windowed != "late"):
        return None, 0
    kinds = words(config, "layer_types")
    if kinds and len(kinds) != num_layers:
        raise ValueError(
            _(
                "layer_types in config.json lists {listed} layers, but the model has {layers}."
            ).format(listed=len(kinds), layers=num_layers)
        )
    late = optional_number(config, "max_window_layers", num_layers, low=0)
    counted = {
        "all": num_layers,
        "every_other": (num_layers + 1) // 2,
        "five_of_six": num_layers - num_layers // 6,
        "late": max(0, num_layers - late),
        "none": 0,
    }[windowed]
    num_windowed = kinds.count("sliding_attention") if kinds else counted
    return (window, num_windowed) if num_windowed else (None, 0)
