"""In which format a config.json says that its weights are stored: its quantization_config."""

from typing import Any, Final

from core.budget.catalogue.hf_fields import Config

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
    method = stored.get("quant_method")
    if method in {"gptq", "awq"}:
        return _grouped(str(method), stored)
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
