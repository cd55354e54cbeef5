"""At what rate devices multiply stored weights: the data sheets' peaks, and what cannot be."""

from dataclasses import replace

import pytest

from core.budget.catalogue.devices import DEVICES, custom_device
from core.budget.serving.peaks import (
    NATIVE,
    multiplies_natively,
    native_peak,
    product_peak,
    serving_peak,
)
from core.budget.serving.plan import ServingPlan
from core.budget.weights.stored import STORED
from tests.core.budget.refusals import refused

H100, B200 = DEVICES["h100-sxm"], DEVICES["b200"]


def test_weights_of_32_bits_have_the_peak_of_float32_and_those_of_few_bits_that_of_16():
    assert product_peak(H100, "float32") == 67e12
    assert product_peak(H100, "bfloat16") == product_peak(H100, "nvfp4") == 989.4e12
    typed = custom_device(memory=1e11, flops_per_second=1e14, bandwidth=1e12)
    refused("custom device has no known peak for float32; choose", product_peak, typed, "float32")


def test_native_products_have_the_peak_of_the_stored_format():
    for device, fmt, tera in (
        (H100, "fp8_block128", 1978.9),
        (H100, "fp8_tensor", 1978.9),
        (H100, "bfloat16", 989.4),
        (H100, "float32", 67),
        (B200, "mxfp8_e4m3", 4500),
        (B200, "mxfp4", 9000),
        (B200, "nvfp4", 9000),
        (DEVICES["rtx-4090"], "float8_e4m3fn", 330.3),
        (DEVICES["mi355x"], "mxfp4", 10_066),
    ):
        assert native_peak(device, fmt) == tera * 1e12, (device.name, fmt)
        plan = ServingPlan(weight_format=fmt)
        assert serving_peak(device, plan) == product_peak(device, fmt), fmt
        assert serving_peak(device, replace(plan, compute="native")) == tera * 1e12, fmt


def test_blocks_of_few_codes_need_units_that_apply_their_scales():
    """Blackwell multiplies MXFP8, MXFP4 and NVFP4, CDNA 4 the MX formats, Hopper none of them."""
    for key, able in (("b200", (True, True, True)), ("mi355x", (True, True, False)),
                      ("h100-sxm", (False, False, False))):  # fmt: skip
        formats = ("mxfp8_e4m3", "mxfp4", "nvfp4")
        assert tuple(multiplies_natively(DEVICES[key], each) for each in formats) == able, key
    assert set(NATIVE) < set(STORED)


def test_what_is_turned_into_16_bits_everywhere_is_refused_with_what_would_do():
    for fmt in ("int4_group128", "nf4", "nf4_double_quant", "int8_group128"):
        refused(rf"\(B200 neither\) multiplies {fmt} as .* weight-only", native_peak, B200, fmt)
    refused(
        r"H100 SXM does not multiply nvfp4 as it is stored; B200, B300 SXM, GB200 \(one GPU\), "
        r"RTX 5080, RTX 5090 do",
        native_peak, H100, "nvfp4",
    )  # fmt: skip
    refused("weight_format is 'int3'; use one of: float64", native_peak, H100, "int3")
    with pytest.raises(ValueError, match="compute is 'warp'; use one of: weight-only, native"):
        ServingPlan(compute="warp")
