"""A model from the config.json that lies beside its weights on Hugging Face; nothing is fetched."""

import json
import re
from collections.abc import Mapping
from typing import Any, Final

from core.budget.catalogue.hf_families import (
    FAMILIES,
    LAYER_INPUTS,
    LLAMA,
    OTHER_NAMES,
    READ,
    SAME_AS,
    Family,
)
from core.budget.catalogue.hf_fields import (
    Config,
    flag,
    is_deep,
    optional_number,
    shown,
    whole_number,
    words,
)
from core.budget.catalogue.hf_layers import Layers, read_layers, read_window
from core.budget.catalogue.hf_parts import (
    read_indexer,
    read_latent,
    read_layer_inputs,
    read_mixture,
    read_recurrent,
)
from core.language import N_, _
from core.models.spec import Bias, ModelSpec, Recurrent

MAX_CHARS: Final = 100_000
MAX_LAYERS: Final = 10_000  # each is looked at
MAX_MULTIPLIER: Final = 1000
KNOWN: Final = N_("config.json, laid out as transformers builds this family")
UNKNOWN: Final = N_(
    "config.json of a type that is not known here, counted as if laid out like Llama"
)
_DECODERS: Final = ("ForCausalLM", "LMHeadModel", "ForConditionalGeneration")
_PARTS: Final = ("text_config", "thinker_config", "llm_config", "language_config", "text_model")
_OF_THE_WHOLE: Final = (
    *("model_type", "architectures", "quantization_config", "vision_config"),
    "tie_word_embeddings",
)
_NO_DECODER: Final = re.compile("vision|visual|audio|image|encoder|talker|quant")
_NUM_LAYERS: Final = (
    *("num_hidden_layers", *OTHER_NAMES["num_hidden_layers"]),
    *("layer_types", *OTHER_NAMES["layer_types"], "hybrid_override_pattern"),
)
_UNGATED: Final = frozenset({"relu2", "squared_relu", "xielu"})
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
    except (RecursionError, ValueError):
        config = text
    if config is text or is_deep(config):
        raise ValueError(_("This JSON cannot be read: it is nested or long beyond reason."))
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
    is_nested = _inner(config) is not None
    config = language_part(config)
    names = words(config, "architectures")
    if flag(config, "is_encoder_decoder", default=False) or not (
        is_nested or all(name.endswith(_DECODERS) for name in names)
    ):
        raise ValueError(
            _(
                "config.json describes {name}: only decoders, which end in ForCausalLM, "
                "are counted."
            ).format(name=shown(_(", ").join(names) or "is_encoder_decoder"))
        )
    family, defaults = layout_of(config)
    is_known = kind_of(config) in FAMILIES
    missing = {family.names[name]: value for name, value in defaults.items()}
    given = {key: value for key, value in config.items() if value is not None}
    missing = {**family.missing, **missing, **_listed(config), **given}
    return _model(missing, family, KNOWN if is_known else UNKNOWN)


def kind_of(config: Config) -> str:
    """Return the type whose layout a config has: its own, or that which its architecture names."""
    kind = str(config.get("model_type"))
    return SAME_AS.get(kind, kind)


def layout_of(config: Config) -> tuple[Family, Mapping[str, int]]:
    """Return the family of a config and what transformers takes where it leaves fields out.

    Key heads and a window that are null are not left out: there are as many as heads, or none.
    """
    family = FAMILIES.get(kind_of(config), LLAMA)
    missing = {
        name: value
        for name, value in family.defaults.items()
        if family.names[name] not in config
        or (name in _NEVER_NULL and config[family.names[name]] is None)
    }
    return family, missing


def _listed(config: Config) -> Config:
    """Return how many layers a file lists, where it does not say how many there are."""
    listed = config.get("layer_types") or config.get("hybrid_override_pattern") or ()
    return {"num_hidden_layers": len(listed)} if isinstance(listed, (list, str)) and listed else {}


def compact_config(text: str) -> str:
    """Return a config.json with only the fields that are read here, short enough for a link.

    Raises:
        ValueError: If `read_config` refuses the text.
    """
    read_config(text)
    config = language_part(json.loads(text))
    kept = {
        key: config[key]
        for key in dict.fromkeys((*READ, *not_understood(config)))
        if key in config and (config[key] is not None or key in _MEANT_NULL)
    }
    if config.get("vision_config") is not None:
        kept["vision_config"] = {}
    if isinstance(stored := kept.get("quantization_config"), dict):
        kept["quantization_config"] = {key: stored[key] for key in STORED if key in stored}
    return json.dumps(kept, separators=(",", ":"))


def language_part(config: dict[str, Any]) -> dict[str, Any]:
    """Return what describes the decoder, its fields under their first names.

    Of a model that also sees or hears it is the part for text.
    """
    found = config
    while (part := _inner(found)) is not None:
        whole = {key: found.get(key) for key in _OF_THE_WHOLE}
        found = whole | part
    return _first_names(found)


def _inner(config: Config, depth: int = 3) -> dict[str, Any] | None:
    if _has_layers(config):
        return config["text_config"] if isinstance(config.get("text_config"), dict) else None
    parts = {
        key: part
        for key, part in config.items()
        if isinstance(part, dict)
        and not _NO_DECODER.search(str(key))
        and (_has_layers(part) or (depth > 1 and _inner(part, depth - 1)))
    }
    named = [parts[key] for key in _PARTS if key in parts] or [*parts.values()]
    return named[0] if len(named) == 1 or parts.keys() & {*_PARTS} else None


def _has_layers(config: Config) -> bool:
    return any(config.get(key) is not None for key in _NUM_LAYERS)


def _first_names(config: dict[str, Any]) -> dict[str, Any]:
    """Return the config with one name for each thing; GPT-2's own names stay."""
    own = FAMILIES.get(kind_of(config), LLAMA).names.values()
    found = dict(config)
    for first, others in OTHER_NAMES.items():
        for other in others:
            if other in found and other not in own:
                value = found.pop(other)
                if found.get(first) is None:
                    found[first] = value
    return found


def _model(config: Config, family: Family, source: str) -> ModelSpec:
    guessed = source == UNKNOWN
    sizes = _sizes(config, family)
    num_layers = sizes["num_layers"]
    latent = read_latent(config)
    if latent is not None:
        sizes["head_dim"] = latent.nope_dim + latent.rope_dim
    layers = read_layers(config, num_layers)
    window, windowed = read_window(config, layers, num_layers, family)
    shared = optional_number(config, "num_kv_shared_layers", 0, low=0)
    recurrent = read_recurrent(config, layers, num_layers)
    fields: dict[str, Any] = {"ffn_bias": _ffn_bias(config, family), **family.layout, **sizes}
    if family.qk_norm_key:
        fields["qk_norm"] = flag(config, family.qk_norm_key, default=False)
    if guessed:
        fields |= _guessed_layout(config, layers)
    return ModelSpec(
        name=_name(config),
        quantized=stored_format_of(config),
        tied=flag(config, "tie_word_embeddings", family.tied),
        attention_bias=_attention_bias(config, family),
        learned_positions=sizes["seq_len"] if family.learned_positions else 0,
        window=window,
        num_windowed_layers=len(windowed),
        chunked=bool(windowed) and family.windowed == "chunks",
        mixture=read_mixture(config, num_layers, layers, family),
        latent=latent,
        indexer=read_indexer(config),
        without_attention=layers.without_attention,
        without_ffn=layers.without_ffn,
        recurrent=recurrent,
        num_kv_shared_layers=shared,
        num_kv_shared_windowed=sum(layer >= num_layers - shared for layer in windowed),
        layer_inputs=read_layer_inputs(config),
        num_mtp_layers=optional_number(config, "num_nextn_predict_layers", 0, low=0),
        source=source,
        guessed=guessed,
        not_counted=not_understood(
            config,
            layers,
            recurrent,
            has_unknown_window=guessed and _has_window(config) and not (window or layers.listed),
        ),
        **fields,
    )


def _name(config: Config) -> str:
    name = str(config.get("_name_or_path") or config.get("model_type") or "")
    plain = "".join(mark for mark in name if mark.isalnum() or mark in _NAME_MARKS)
    return plain[:60] or "config.json"


def _has_window(config: Config) -> bool:
    """Return whether a file speaks of a window that is shorter than its context."""
    is_on = flag(config, "use_sliding_window", default=True)
    window = optional_number(config, "sliding_window", 0, low=0)
    return is_on and 0 < window < whole_number(config, "max_position_embeddings")


def _guessed_layout(config: Config, layers: Layers) -> dict[str, Any]:
    """Return what a file of unknown type says of its layout beside the sizes."""
    found: dict[str, Any] = {
        "qk_norm": any(flag(config, key, default=False) for key in ("qk_norm", "use_qk_norm")),
        "attention_gate": flag(config, "attn_output_gate", default=False),
        "gated": str(config.get("hidden_act")) not in _UNGATED,
    }
    return found | ({"norms_per_layer": 1} if layers.are_single else {})


def _sizes(config: Config, family: Family) -> dict[str, int]:
    keys = family.names
    needed = ("hidden_dim", "num_heads", "vocab_size", "seq_len")
    sizes = {"num_layers": whole_number(config, keys["num_layers"], high=MAX_LAYERS)}
    sizes |= {name: whole_number(config, keys[name]) for name in needed}
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
    if config.get("num_experts") == 0 and config.get("shared_intermediate_size"):
        key = "shared_intermediate_size"  # Granite 4: without experts it is what is shared
    elif config.get("block_ff_dim") is not None:
        key = "block_ff_dim"
    elif config.get(key) is None and config.get("moe_intermediate_size") is not None:
        key = "moe_intermediate_size"
    width = whole_number(config, key)
    if flag(config, "block_auto_adjust_ff_dim", default=False):  # LFM2, as Llama 1
        width = int(_multiplier(config) * int(2 * width / 3))
        width += -width % optional_number(config, "block_multiple_of", 256)
    return width


def _multiplier(config: Config) -> float:
    found = config.get("block_ffn_dim_multiplier", 1.0)
    if not isinstance(found, (int, float)) or not 0 < found < MAX_MULTIPLIER:
        raise ValueError(
            _("{key} in config.json is {value}; it must lie between {low} and {high}.").format(
                key="block_ffn_dim_multiplier", value=shown(found), low=0, high=MAX_MULTIPLIER
            )
        )
    return found


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


_GROUP: Final = 128  # inputs that share a scale in the formats of `core.dtypes`
_GROUPED: Final = {
    ("awq", 4): "int4_group128_affine",
    ("gptq", 4): "int4_group128",
    ("gptq", 8): "int8_group128",
}


def stored_format_of(config: Config) -> str:
    """Return the format of `core.dtypes` that is stored so; "" for 16 bits, or where none is.

    Sources: the quantization configs of transformers (GPTQ, AWQ, FP8, MXFP4, bitsandbytes).
    """
    stored = config.get("quantization_config")
    if not isinstance(stored, dict):
        return ""
    method = str(stored.get("quant_method"))
    if method in {"gptq", "awq"}:
        return _grouped(method, stored)
    if method == "fp8":
        blocks = stored.get("weight_block_size") == [_GROUP, _GROUP]
        return "fp8_block128" if blocks else "fp8_tensor"
    return "mxfp4" if method == "mxfp4" else _of_bitsandbytes(stored)


def _grouped(method: str, stored: dict[str, Any]) -> str:
    """Return the format of packed codes in groups; other groups are none of `core.dtypes`."""
    bits = stored.get("bits", stored.get("w_bit", 4 if method == "awq" else 0))
    group = stored.get("group_size", stored.get("q_group_size", _GROUP))
    return _GROUPED.get((method, bits), "") if bits in (4, 8) and group == _GROUP else ""


def _of_bitsandbytes(stored: dict[str, Any]) -> str:
    if stored.get("load_in_8bit") is True:
        return "int8_channel"
    if stored.get("load_in_4bit") is not True or stored.get("bnb_4bit_quant_type") != "nf4":
        return ""
    return "nf4_double_quant" if stored.get("bnb_4bit_use_double_quant") is True else "nf4"


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

    With what was read: those of its layers and windows too that could not be counted. Without
    `layers` the file alone is asked.
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
