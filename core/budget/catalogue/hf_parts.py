"""The parts of a model that a config.json may have: experts, latent attention, windows.

Why apart: each part is a few fields that belong together; `hf_config` makes the model of them.
"""

from typing import Final

from core.budget.catalogue.hf_families import Family
from core.budget.catalogue.hf_fields import (
    Config,
    flag,
    optional_number,
    shown,
    whole_number,
    whole_numbers,
    words,
)
from core.language import _
from core.models.spec import Indexer, LatentAttention, Mixture

MTP: Final = ("num_nextn_predict_layers", "mtp_num_hidden_layers")
_NUM_EXPERTS: Final = ("num_local_experts", "num_experts", "n_routed_experts")


def read_mixture(config: Config, num_layers: int, family: Family) -> Mixture | None:
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
        num_shared=optional_number(config, "n_shared_experts", family.num_shared, low=0),
        num_dense_layers=_num_dense_layers(config, num_layers),
        alternating=_expert_step(config) > 1 and not config.get("moe_layers"),
        bias=family.expert_bias,
    )


def _refuse_unknown_layout(config: Config) -> None:
    for key in ("shared_expert_intermediate_size", "moe_layer_freq"):
        if config.get(key) not in (None, 1):
            raise ValueError(
                _(
                    "{key} in config.json is {value}: experts laid out that way cannot be "
                    "counted here."
                ).format(key=key, value=shown(config[key]))
            )


def _num_dense_layers(config: Config, num_layers: int) -> int:
    first = optional_number(config, "first_k_dense_replace", 0, low=0)
    step, layers = _expert_step(config), set(range(num_layers))
    dense = layers & {*whole_numbers(config, "mlp_only_layers")}
    if listed := whole_numbers(config, "moe_layers"):
        dense |= layers - {*listed}
    elif step > 1:
        dense |= layers - {*range(step - 1, num_layers, step)}
    return max(first, len(dense))


def _expert_step(config: Config) -> int:
    """Return which layers have experts: one in so many, the last of them."""
    step = optional_number(config, "decoder_sparse_step", 1)
    return max(step, optional_number(config, "interleave_moe_layer_step", 1))


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


def read_indexer(config: Config) -> Indexer | None:
    """Return what picks the tokens of latent attention; None where nothing does.

    Raises:
        ValueError: If a number is missing or cannot be.
    """
    if config.get("index_topk") is None or config.get("kv_lora_rank") is None:
        return None
    return Indexer(
        num_heads=whole_number(config, "index_n_heads"),
        head_dim=whole_number(config, "index_head_dim"),
        top_k=whole_number(config, "index_topk"),
    )


def read_mtp(config: Config) -> int:
    """Return the layers for multi-token prediction that the file has beside the model's."""
    return max(optional_number(config, key, 0, low=0) for key in MTP)


def read_window(config: Config, num_layers: int, windowed: str) -> tuple[int | None, int]:
    """Return the sliding window in tokens and how many layers have it: (None, 0) without one.

    Args:
        config: The file.
        num_layers: Layers of the model.
        windowed: Which layers have it when the file does not list them (`Family.windowed`).

    Raises:
        ValueError: If a number cannot be, or the list of layers has another length.
    """
    if windowed == "chunks":
        return _read_chunks(config, num_layers)
    window = optional_number(config, "sliding_window", 0, low=0)
    if not window or not flag(config, "use_sliding_window", default=windowed != "late"):
        return None, 0
    kinds = _kinds(config, num_layers)
    late = optional_number(config, "max_window_layers", num_layers, low=0)
    counted = {
        "all": num_layers,
        "every_other": (num_layers + 1) // 2,
        "five_of_six": num_layers - num_layers // _pattern(config),
        "late": max(0, num_layers - late),
        "none": 0,
    }[windowed]
    num_windowed = kinds.count("sliding_attention") if kinds else counted
    return (window, num_windowed) if num_windowed else (None, 0)


def _pattern(config: Config) -> int:
    return optional_number(config, "sliding_window_pattern", 6)


def _kinds(config: Config, num_layers: int) -> tuple[str, ...]:
    """Return the kind of each layer's attention; empty where the file lists none."""
    kinds = words(config, "layer_types")
    if kinds and len(kinds) != num_layers:
        raise ValueError(
            _(
                "layer_types in config.json lists {listed} layers, but the model has {layers}."
            ).format(listed=len(kinds), layers=num_layers)
        )
    return kinds


def _read_chunks(config: Config, num_layers: int) -> tuple[int | None, int]:
    """Return the chunk and how many layers have it: those with rotary positions, three in four."""
    chunk = optional_number(config, "attention_chunk_size", 0, low=0)
    full = num_layers // optional_number(config, "no_rope_layer_interval", 4)
    if listed := whole_numbers(config, "no_rope_layers"):  # 1 with rotary positions, 0 without
        full = listed.count(0)
    if kinds := _kinds(config, num_layers):
        full = num_layers - kinds.count("chunked_attention")
    return (chunk, num_layers - full) if chunk and full < num_layers else (None, 0)
