"""The parts of a model that a config.json may have: experts, latent attention, fixed states."""

from typing import Final

from core.budget.catalogue.hf_families import LAYER_INPUTS, Family
from core.budget.catalogue.hf_fields import (
    Config,
    flag,
    optional_number,
    whole_number,
    whole_numbers,
    words,
)
from core.budget.catalogue.hf_layers import Layers
from core.language import _
from core.models.spec import Indexer, LatentAttention, LayerInputs, Mixture, Recurrent

_SHARED_WIDTHS: Final = ("shared_expert_intermediate_size", "shared_intermediate_size")


def read_mixture(config: Config, num_layers: int, layers: Layers, family: Family) -> Mixture | None:
    """Return the experts; None for a dense model.

    Raises:
        ValueError: If a number cannot be, or the layout is not one that can be counted.
    """
    has_experts = optional_number(config, "num_experts", 0, low=0) > 1  # of one nothing is chosen
    if not has_experts or (layers.are_single and not layers.where("moe")):
        return None
    ffn = optional_number(config, "intermediate_size", 0)
    width = optional_number(config, "moe_intermediate_size", ffn)
    if not width:
        whole_number(config, "moe_intermediate_size")  # says what is missing
    dense = layers.where("mlp") if layers.are_single else _dense_layers(config, num_layers)
    return Mixture(
        num_experts=whole_number(config, "num_experts"),
        experts_per_token=whole_number(config, "num_experts_per_tok"),
        expert_dim=width,
        num_shared=_num_shared(config, width, family),
        num_dense_layers=len(dense),
        alternating=_expert_step(config) > 1 and not config.get("moe_layers"),
        bias=family.expert_bias,
        shared_gate=optional_number(config, "shared_expert_intermediate_size", 0, low=0) > 0,
        correction_bias=family.correction_bias,
    )


def _num_shared(config: Config, expert_dim: int, family: Family) -> int:
    """Return how many experts every token passes: one of another width is so many of them."""
    key = next((name for name in _SHARED_WIDTHS if config.get(name)), None)
    if key is None:
        return optional_number(config, "n_shared_experts", family.num_shared, low=0)
    width = optional_number(config, key, 0, low=0)
    if width % expert_dim:
        raise ValueError(
            _(
                "{key} in config.json is {value}: experts laid out that way cannot be counted here."
            ).format(key=key, value=width)
        )
    return width // expert_dim


def _dense_layers(config: Config, num_layers: int) -> set[int]:
    first = min(optional_number(config, "first_k_dense_replace", 0, low=0), num_layers + 1)
    step, layers = _expert_step(config), set(range(num_layers))
    if kinds := words(config, "mlp_layer_types"):
        return {layer for layer, kind in enumerate(kinds) if kind == "dense"}
    dense = (layers & {*whole_numbers(config, "mlp_only_layers")}) | {*range(first)}
    if listed := whole_numbers(config, "moe_layers"):
        dense |= layers - {*listed}
    elif step > 1:
        dense |= layers - {*range(step - 1, num_layers, step)}
    if isinstance(config.get("moe_layer_freq"), list):  # 1 with experts, 0 without
        listed = whole_numbers(config, "moe_layer_freq")
        dense |= {layer for layer, has_experts in enumerate(listed) if not has_experts}
    last = config.get("moe_layer_end_index")
    if isinstance(last, int) and last >= 0:
        dense |= {*range(last + 1, num_layers)}
    return dense


def _expert_step(config: Config) -> int:
    """Return which layers have experts: one in so many, the last of them."""
    freq = config.get("moe_layer_freq")
    return max(
        optional_number(config, key, 1)
        for key in (
            *("decoder_sparse_step", "interleave_moe_layer_step", "moe_layer_interval"),
            *([] if isinstance(freq, list) else ["moe_layer_freq"]),
        )
    )


def read_recurrent(config: Config, layers: Layers, num_layers: int) -> Recurrent | None:
    """Return what keeps a fixed state: in the layers without attention, or beside it in all.

    None where nothing does, or where the file does not say of what sizes.

    Raises:
        ValueError: If a number is missing or cannot be.
    """
    where = layers.where("recurrent") if layers.listed else tuple(range(num_layers))
    if not where:
        return None
    if config.get("linear_num_value_heads") is not None and layers.listed:
        return Recurrent(
            kind="gated delta",
            layers=where,
            num_heads=whole_number(config, "linear_num_value_heads"),
            head_dim=whole_number(config, "linear_value_head_dim"),
            num_groups=whole_number(config, "linear_num_key_heads"),
            state_dim=whole_number(config, "linear_key_head_dim"),
            kernel=optional_number(config, "linear_conv_kernel_dim", 4),
        )
    if config.get("ssm_state_size") is not None:
        return _mamba(config, where)
    if config.get("conv_L_cache") is not None and layers.listed:
        bias = flag(config, "conv_bias", default=False)
        return Recurrent(
            kind="short convolution",
            layers=where,
            num_heads=whole_number(config, "hidden_size"),
            head_dim=1,
            kernel=whole_number(config, "conv_L_cache"),
            conv_bias=bias,
            bias=bias,
        )
    return _kimi_delta(config, where) if layers.listed else None


def _kimi_delta(config: Config, where: tuple[int, ...]) -> Recurrent | None:
    said = config.get("linear_attn_config")
    said = said if isinstance(said, dict) else {}
    named = {"num_heads": "linear_num_heads", "head_dim": "linear_head_dim"}
    sizes = {name: said.get(name, config.get(key)) for name, key in named.items()}
    if None in sizes.values():
        return None
    heads, width = (whole_number(sizes, name) for name in named)
    kernel = optional_number(config, "linear_conv_kernel_dim", 4)
    return Recurrent(
        kind="kimi delta",
        layers=where,
        num_heads=heads,
        head_dim=width,
        num_groups=heads,
        state_dim=width,
        kernel=optional_number(said, "short_conv_kernel_size", kernel),
    )


def _mamba(config: Config, where: tuple[int, ...]) -> Recurrent | None:
    if config.get("mamba_num_heads") is None:
        return None  # Mamba-1 has no heads
    heads, width = whole_number(config, "mamba_num_heads"), config.get("mamba_head_dim")
    if width in (None, "auto"):
        inner = optional_number(config, "expand", 2) * whole_number(config, "hidden_size")
        width = optional_number(config, "mamba_d_ssm", inner) // heads
    bias = any(flag(config, key, default=False) for key in ("mamba_proj_bias", "use_bias"))
    return Recurrent(
        kind="mamba-2",
        layers=where,
        num_heads=heads,
        head_dim=whole_number({"mamba_head_dim": width}, "mamba_head_dim"),
        num_groups=optional_number(config, "n_groups", 1),
        state_dim=whole_number(config, "ssm_state_size"),
        kernel=optional_number(config, "conv_kernel", 4),
        normed=flag(config, "mamba_rms_norm", default=True),
        conv_bias=flag(config, "use_conv_bias", default=True),
        bias=bias,
    )


def read_layer_inputs(config: Config) -> LayerInputs | None:
    """Return what Gemma 3n adds to each layer; None where any of it is missing.

    Raises:
        ValueError: If a number cannot be.
    """
    if not all(config.get(key) for key in LAYER_INPUTS):
        return None
    width, vocab_size, streams, rank = (whole_number(config, key) for key in LAYER_INPUTS)
    return LayerInputs(width=width, vocab_size=vocab_size, num_streams=streams, rank=rank)


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
        value_dim=optional_number(config, "v_head_dim", _value_dim(config)),
    )


def _value_dim(config: Config) -> int:
    """Return the width of a value where the file is silent: the heads share the channels."""
    return max(
        1, whole_number(config, "hidden_size") // whole_number(config, "num_attention_heads")
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
