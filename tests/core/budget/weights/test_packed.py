"""AWQ and GPTQ: bytes of a linear layer's tensors as they are stored, and files as a whole."""

import json
from dataclasses import replace

import pytest

from core.budget.catalogue.hf_config import compact_config, read_config
from core.budget.catalogue.models import MODELS
from core.budget.weights.packed import Packed, packed_weights, read_packed
from core.budget.weights.parameters import counts
from tests.core.budget.catalogue.test_hf_config import LLAMA
from tests.core.budget.refusals import refused

LLAMA_2 = MODELS["llama-2-7b"]
AWQ = Packed(method="awq", bits=4, group_size=128)
GPTQ = Packed(method="gptq", bits=4, group_size=128)


def config(**fields):
    return json.dumps(LLAMA | {"quantization_config": fields})


def test_llama_2_7b_has_3_89_gb_in_both():
    """The published files have 3.89 and 3.90 GB; 32 layers of 4096 and 11,008 inputs."""
    awq, gptq = packed_weights(LLAMA_2, AWQ), packed_weights(LLAMA_2, GPTQ)
    assert awq.amount == 3_889_307_648
    assert gptq.amount - awq.amount == 32 * 4 * (6 * 4096 + 11_008)
    assert gptq.amount == 3_893_862_400


@pytest.mark.parametrize("bits", [2, 4, 8])
@pytest.mark.parametrize("group", [64, 128, -1])
def test_parts_are_the_tensors_of_every_linear_layer(bits, group):
    """qweight int32 [in * bits / 32, out], qzeros, scales, g_idx as they are allocated."""
    torch = pytest.importorskip("torch")
    spec = replace(LLAMA_2, num_layers=1)
    found = packed_weights(spec, Packed(method="gptq", bits=bits, group_size=group))
    stored = 0
    for rows, columns in [(4096, 4096)] * 4 + [(4096, 11_008)] * 2 + [(11_008, 4096)]:
        groups = 1 if group < 0 else rows // group
        tensors = (
            torch.empty(rows * bits // 32, columns, dtype=torch.int32, device="meta"),
            torch.empty(groups, columns * bits // 32, dtype=torch.int32, device="meta"),
            torch.empty(groups, columns, dtype=torch.float16, device="meta"),
            torch.empty(rows, dtype=torch.int32, device="meta"),
        )
        stored += sum(tensor.nbytes for tensor in tensors)
    assert found.amount - found.child("the rest").amount == stored
    assert found.child("the rest").amount == 2 * (counts(spec).total - counts(spec).matrices)


def test_a_config_is_read_with_names_of_today_and_old_ones_and_a_link_keeps_them():
    for text in (
        config(quant_method="awq", bits=4, group_size=64, zero_point=True, version="gemm"),
        config(quant_method="awq", w_bit=4, q_group_size=64),
    ):
        found = read_packed(text)
        assert found == Packed(method="awq", bits=4, group_size=64)
        assert read_packed(compact_config(text)) == found
    gptq = read_packed(config(quant_method="gptq", bits=3, sym=True, desc_act=True))
    assert gptq.name == "gptq 3-bit, 128"
    assert read_packed(config(quant_method="gptq", bits=8, group_size=-1)).name == "gptq 8-bit"


def test_other_methods_are_none_and_what_cannot_be_is_a_sentence():
    assert read_packed(config(quant_method="fp8")) is None
    assert read_packed(json.dumps(LLAMA)) is None
    refused(
        "bits in quantization_config is 5; use 2, 3, 4, 8",
        read_packed,
        config(quant_method="gptq", bits=5),
    )
    refused("bits in .* a whole number", read_packed, config(quant_method="gptq"))
    refused(
        "group_size in .* is 0; use -1, 1 or more",
        read_packed,
        config(quant_method="awq", group_size=0),
    )
    refused("stay wide", read_packed, config(quant_method="awq", modules_to_not_convert=["visual"]))
    refused("head is packed too", read_packed, config(quant_method="gptq", bits=4, lm_head=True))
    refused("not built like Llama", packed_weights, MODELS["mixtral-8x7b"], AWQ)


def test_a_quantization_config_says_in_which_format_a_model_is_released():
    awq, gptq, nf4 = (
        {"quant_method": "awq", "w_bit": 4, "q_group_size": 128},
        {"quant_method": "gptq", "bits": 4, "group_size": 128},
        {"quant_method": "bitsandbytes", "load_in_4bit": True, "bnb_4bit_quant_type": "nf4"},
    )
    cases = [
        (awq, "int4_group128_affine"), (awq | {"q_group_size": 64}, ""),
        (gptq, "int4_group128"), (gptq | {"bits": 8}, "int8_group128"), (gptq | {"bits": 3}, ""),
        (gptq | {"bits": [4]}, ""), (nf4, "nf4"),
        (nf4 | {"bnb_4bit_use_double_quant": True}, "nf4_double_quant"),
        ({"load_in_8bit": True}, "int8_channel"), ({"quant_method": "mxfp4"}, "mxfp4"),
        ({"quant_method": "fp8", "weight_block_size": [128, 128]}, "fp8_block128"),
        ({"quant_method": "fp8"}, "fp8_tensor"), ({"quant_method": "other"}, ""), ("mxfp4", ""),
    ]  # fmt: skip
    for fields, fmt in cases:
        text = json.dumps(LLAMA | {"quantization_config": fields})
        assert read_config(text).quantized == fmt == read_config(compact_config(text)).quantized, (
            fields
        )
    assert read_config(json.dumps(LLAMA)).quantized == ""
