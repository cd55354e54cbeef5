"""A model from the config.json that lies beside its weights on Hugging Face; nothing is fetched."""

import json
from collections.abc import Mapping, Sequence
from typing import Any, Final

from core.budget.catalogue.hf_families import (
    DEFAULTS,
    FAMILIES,
    LLAMA,
    READ,
    Config,
    Family,
    flag,
    optional_number,
    shown,
    whole_number,
    words,
)
from core.language import N_, _
from core.models.spec import Bias, LatentAttention, Mixture, ModelSpec

MAX_CHARS: Final = 100_000
KNOWN: Final = N_("config.json, laid out as transformers builds this family")
UNKNOWN: Final = N_(
    "config.json of a type that is not known here, counted as if laid out like Llama"
)
_DECODERS: Final = ("ForCausalLM", "LMHeadModel", "ForConditionalGeneration")
_NAME_MARKS: Final = " ._/-"
STORED: Final = ("quant_method", "bits", "group_size", "fmt", "load_in_4bit", "load_in_8bit")
"""What is kept of a file's quantization_config."""
_NUM_EXPERTS: Final = ("num_local_experts", "num_experts", "n_routed_experts")


def read_config(text: str) -> ModelSpec:
    """Return the model that the text of a config.json describes.

    Raises:
        ValueError: If the text is too long, no JSON, or `model_from_config` refuses it.
    """
    if len(text) > MAX_CHARS:
        raise ValueError(
            _("The text has {count} characters; a config.json has at most {most}.").format(
                count=f"{len(text):,}", most=f"{MAX_CHARS:,}"
            )
        )
    try:
        config = json.loads(text)
    except json.JSONDecodeError as error:
        raise ValueError(
            _("This is no JSON: line {line}, column {column}.").format(
                line=error.lineno, column=error.colno
            )
        ) from error
    except (RecursionError, ValueError) as error:
        raise ValueError(
            _("This JSON cannot be read: it is nested or long beyond reason.")
        ) from error
    return model_from_config(config)


def model_from_config(config: dict[str, Any]) -> ModelSpec:
    """Return the model that a Hugging Face config describes.

    Of a model that sees or hears too, its language part is taken.

    Raises:
        ValueError: If it is no description of a decoder, or a field is missing, of the wrong type,
            outside its range or contradicts another; the sentence names the field.
    """
    if not isinstance(config, dict):
        raise ValueError(  # noqa: TRY004  what a reader pastes is a value
            _("A config.json is an object in braces, not {value}.").format(value=shown(config))
        )
    config = language_part(config)
    names = words(config, "architectures")
    if flag(config, "is_encoder_decoder", default=False) or not all(
        name.endswith(_DECODERS) for name in names
    ):
        raise ValueError(
            _(
                "config.json describes {name}: only decoders, which end in ForCausalLM, "
                "are counted."
            ).format(name=shown(", ".join(names) or "is_encoder_decoder"))
        )
    family, defaults = layout_of(config)
    is_known = str(config.get("model_type")) in FAMILIES
    missing = {family.names[name]: value for name, value in defaults.items()}
    return _model({**missing, **_present(config)}, family, KNOWN if is_known else UNKNOWN)


def layout_of(config: Config) -> tuple[Family, Mapping[str, int]]:
    """Return the family of a config and what transformers takes where it leaves fields out."""
    kind = str(config.get("model_type"))
    return FAMILIES.get(kind, LLAMA), DEFAULTS.get(kind, DEFAULTS["llama"])


def _present(config: Config) -> Config:
    return {key: value for key, value in config.items() if value is not None}


def compact_config(text: str) -> str:
    """Return a config.json with only the fields that are read here, short enough for a link.

    Raises:
        ValueError: If `read_config` refuses the text.
    """
    read_config(text)
    config = language_part(json.loads(text))
    kept = {key: config[key] for key in READ if config.get(key) is not None}
    if isinstance(stored := kept.get("quantization_config"), dict):
        kept["quantization_config"] = {key: stored[key] for key in STORED if key in stored}
    return json.dumps(kept, separators=(",", ":"))


def language_part(config: dict[str, Any]) -> dict[str, Any]:
    """Return what describes the decoder: of a model that also sees, the part for text."""
    part = config.get("text_config")
    whole = {key: config.get(key) for key in ("architectures", "quantization_config")}
    return whole | part if isinstance(part, dict) else config


def _model(config: Config, family: Family, source: str) -> ModelSpec:
    sizes = _sizes(config, family)
    latent = read_latent(config)
    if latent is not None:
        sizes["head_dim"] = latent.nope_dim + latent.rope_dim
    window, num_windowed = read_window(config, sizes["num_layers"], family.windowed)
    fields: dict[str, Any] = {"ffn_bias": _ffn_bias(config, family), **family.layout, **sizes}
    name = str(config.get("_name_or_path") or config.get("model_type") or "config.json")
    plain = "".join(mark for mark in name if mark.isalnum() or mark in _NAME_MARKS)
    return ModelSpec(
        name=plain[:60] or "config.json",
        tied=flag(config, "tie_word_embeddings", family.tied),
        attention_bias=_attention_bias(config, family),
        learned_positions=sizes["seq_len"] if family.learned_positions else 0,
        window=window,
        num_windowed_layers=num_windowed,
        mixture=read_mixture(config, sizes["num_layers"]),
        latent=latent,
        source=source,
        guessed=source == UNKNOWN,
        **fields,
    )


def _sizes(config: Config, family: Family) -> dict[str, int]:
    keys = family.names
    needed = ("num_layers", "hidden_dim", "num_heads", "vocab_size", "seq_len")
    sizes = {name: whole_number(config, keys[name]) for name in needed}
    heads, hidden = sizes["num_heads"], sizes["hidden_dim"]
    sizes["num_kv_heads"] = optional_number(config, keys["num_kv_heads"], heads)
    if (
        config.get(keys["head_dim"]) is None
        and hidden % heads
        and config.get("kv_lora_rank") is None
    ):
        raise ValueError(
            _(
                "{hidden} channels cannot be shared out to {heads} heads, and config.json has "
                "no head_dim."
            ).format(hidden=hidden, heads=heads)
        )
    sizes["head_dim"] = optional_number(config, keys["head_dim"], max(1, hidden // heads))
    sizes["ffn_dim"] = _ffn_dim(config, keys["ffn_dim"], hidden)
    return sizes


def _ffn_dim(config: Config, key: str, hidden: int) -> int:
    if key == "n_inner":
        return optional_number(config, key, 4 * hidden)
    if config.get(key) is None and config.get("moe_intermediate_size") is not None:
        return whole_number(config, "moe_intermediate_size")
    return whole_number(config, key)


def _attention_bias(config: Config, family: Family) -> Bias:
    if config.get("kv_lora_rank") is not None:
        return "none"
    on = (
        flag(config, family.bias_key, family.bias_default)
        if family.bias_key
        else family.bias_default
    )
    return family.bias if on else "none"


def _ffn_bias(config: Config, family: Family) -> bool:
    key = family.ffn_bias_key
    return flag(config, key, family.bias_default) if key else False


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
