"""A model from the config.json that lies beside its weights on Hugging Face; nothing is fetched."""

import json
from collections.abc import Mapping
from typing import Any, Final

from core.budget.catalogue.hf_families import DEFAULTS, FAMILIES, LLAMA, READ, SAME_AS, Family
from core.budget.catalogue.hf_fields import (
    Config,
    flag,
    optional_number,
    shown,
    whole_number,
    words,
)
from core.budget.catalogue.hf_parts import read_indexer, read_latent, read_mixture, read_window
from core.budget.catalogue.hf_stored import stored_format_of
from core.language import N_, _
from core.models.spec import Bias, ModelSpec

MAX_CHARS: Final = 100_000
KNOWN: Final = N_("config.json, laid out as transformers builds this family")
UNKNOWN: Final = N_(
    "config.json of a type that is not known here, counted as if laid out like Llama"
)
_DECODERS: Final = ("ForCausalLM", "LMHeadModel", "ForConditionalGeneration")
_OF_THE_WHOLE: Final = ("architectures", "quantization_config", "vision_config")
_NEVER_NULL: Final = ("vocab_size", "seq_len", "head_dim")
_MEANT_NULL: Final = ("sliding_window", "attention_chunk_size", "num_key_value_heads")
_NAME_MARKS: Final = " ._/-"
STORED: Final = (
    *("quant_method", "bits", "w_bit", "group_size", "q_group_size", "fmt"),
    *("load_in_4bit", "load_in_8bit", "zero_point", "sym", "desc_act", "version"),
    *("checkpoint_format", "modules_to_not_convert", "lm_head"),
    *("weight_block_size", "bnb_4bit_quant_type", "bnb_4bit_use_double_quant"),
)
"""What is kept of a file's quantization_config."""


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
    is_known = kind_of(config) in FAMILIES
    missing = {family.names[name]: value for name, value in defaults.items()}
    return _model({**missing, **_present(config)}, family, KNOWN if is_known else UNKNOWN)


def kind_of(config: Config) -> str:
    """Return the type whose layout a config has: its own, or that which its architecture names."""
    kind = str(config.get("model_type"))
    return SAME_AS.get(kind, kind)


def layout_of(config: Config) -> tuple[Family, Mapping[str, int]]:
    """Return the family of a config and what transformers takes where it leaves fields out.

    Key heads and a window that are null are not left out: there are as many as heads, or none.
    """
    kind = kind_of(config)
    family, defaults = FAMILIES.get(kind, LLAMA), DEFAULTS.get(kind, DEFAULTS["llama"])
    missing = {
        name: value
        for name, value in defaults.items()
        if family.names[name] not in config
        or (name in _NEVER_NULL and config[family.names[name]] is None)
    }
    return family, missing


def _present(config: Config) -> Config:
    return {key: value for key, value in config.items() if value is not None}


def compact_config(text: str) -> str:
    """Return a config.json with only the fields that are read here, short enough for a link.

    Raises:
        ValueError: If `read_config` refuses the text.
    """
    read_config(text)
    config = language_part(json.loads(text))
    kept = {
        key: config[key]
        for key in READ
        if key in config and (config[key] is not None or key in _MEANT_NULL)
    }
    if config.get("vision_config") is not None:
        kept["vision_config"] = {}
    if isinstance(stored := kept.get("quantization_config"), dict):
        kept["quantization_config"] = {key: stored[key] for key in STORED if key in stored}
    return json.dumps(kept, separators=(",", ":"))


def language_part(config: dict[str, Any]) -> dict[str, Any]:
    """Return what describes the decoder: of a model that also sees, the part for text."""
    part = config.get("text_config")
    whole = {key: config.get(key) for key in _OF_THE_WHOLE}
    return whole | part if isinstance(part, dict) else config


def _model(config: Config, family: Family, source: str) -> ModelSpec:
    sizes = _sizes(config, family)
    latent = read_latent(config)
    if latent is not None:
        sizes["head_dim"] = latent.nope_dim + latent.rope_dim
    window, num_windowed = read_window(config, sizes["num_layers"], family.windowed)
    fields: dict[str, Any] = {"ffn_bias": _ffn_bias(config, family), **family.layout, **sizes}
    if family.qk_norm_key:
        fields["qk_norm"] = flag(config, family.qk_norm_key, default=False)
    name = str(config.get("_name_or_path") or config.get("model_type") or "config.json")
    plain = "".join(mark for mark in name if mark.isalnum() or mark in _NAME_MARKS)
    return ModelSpec(
        name=plain[:60] or "config.json",
        quantized=stored_format_of(config),
        tied=flag(config, "tie_word_embeddings", family.tied),
        attention_bias=_attention_bias(config, family),
        learned_positions=sizes["seq_len"] if family.learned_positions else 0,
        window=window,
        num_windowed_layers=num_windowed,
        chunked=num_windowed > 0 and family.windowed == "chunks",
        mixture=read_mixture(config, sizes["num_layers"], family),
        latent=latent,
        indexer=read_indexer(config),
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
