"""How fast a device reads stored weights and multiplies them: widened first, or as they are stored.

Weight-only formats save memory and reading: their codes are turned into 16 bits before they are
multiplied. Native products take the codes themselves, and the activations rounded to as few bits;
attention scores, the router and the head stay in 16 bits.
"""

from collections.abc import Mapping
from typing import Final

from core.budget.catalogue.devices import DEVICES
from core.budget.cluster import DeviceSpec, peak_of
from core.budget.serving.plan import ServingPlan
from core.budget.weights.stored import bits_per_value, stored_format
from core.language import _

NATIVE: Final[Mapping[str, str]] = {
    "float8_e4m3fn": "fp8",
    "float8_e5m2": "fp8",
    "fp8_tensor": "fp8",
    "fp8_block128": "fp8",
    "mxfp8_e4m3": "fp8",
    "mxfp8_e5m2": "fp8",
    "mxfp4": "fp4",
    "nvfp4": "fp4",
    "nvfp4_one_level": "fp4",
}
"""Weight format -> the dtype of `DeviceSpec.peak` in which its codes are multiplied as they are."""

_SMALL_BLOCKS: Final = ("mxfp8_e4m3", "mxfp8_e5m2", "mxfp4", "nvfp4", "nvfp4_one_level")


def serving_peak(device: DeviceSpec, plan: ServingPlan) -> float:
    """Return the dense FLOP/s at which a plan's matrices are multiplied: its roof.

    Raises:
        ValueError: If the device's peak is not known, or it does not multiply the format natively.
    """
    if plan.compute == "native":
        return native_peak(device, plan.weight_format)
    return product_peak(device, plan.weight_format)


def serving_dtype(device: DeviceSpec, plan: ServingPlan) -> str:
    """Return the dtype in which a plan's matrices are multiplied: a key of `DeviceSpec.peak`."""
    bits = bits_per_value(plan.weight_format)
    if plan.compute == "native" and bits < 16:
        return NATIVE[plan.weight_format]
    wanted = ("bfloat16", "float16", "float32") if bits <= 16 else ("float32",)
    return next(dtype for dtype in wanted if device.peak.get(dtype))


def native_peak(device: DeviceSpec, weight_format: str) -> float:
    """Return the dense FLOP/s at which a device multiplies codes of a format as they are stored.

    Formats of 16 and 32 bits always are.

    Raises:
        ValueError: If the device, or every device, turns them into 16 bits first.
    """
    stored_format("weight_format", weight_format)
    if bits_per_value(weight_format) >= 16:
        return product_peak(device, weight_format)
    if multiplies_natively(device, weight_format):
        return device.peak[NATIVE[weight_format]]
    able = [each.name for each in DEVICES.values() if multiplies_natively(each, weight_format)]
    sentence = _(
        "{device} does not multiply {format} as it is stored; {able} do. Choose one of them, or "
        "weight-only compute."
    )
    if not able:
        sentence = _(
            "No device here ({device} neither) multiplies {format} as it is stored: its codes are "
            "turned into 16 bits first. Choose weight-only compute, or one of the formats {known}."
        )
    words = {"device": device.name, "format": weight_format}
    raise ValueError(sentence.format(**words, able=_(", ").join(able), known=_(", ").join(NATIVE)))


def multiplies_natively(device: DeviceSpec, weight_format: str) -> bool:
    """Return whether a device multiplies codes of fewer than 16 bits as they are stored.

    The scales of small blocks are applied by the units that multiply fp4, too; NVFP4's by NVIDIA's.
    """
    needed = [NATIVE.get(weight_format, ""), *(["fp4"] if weight_format in _SMALL_BLOCKS else [])]
    is_known = device.maker == "NVIDIA" or not weight_format.startswith("nvfp4")
    return is_known and all(device.peak.get(dtype, 0) > 0 for dtype in needed)


def product_peak(device: DeviceSpec, weight_format: str) -> float:
    """Return the dense FLOP/s at which weights of a format are multiplied once they are widened.

    Weights of 32 bits are multiplied in float32 without TF32, as torch does by itself.

    Raises:
        ValueError: If the device's peak is not known, or the format.
    """
    if bits_per_value(weight_format) <= 16:
        return sixteen_bit_peak(device)
    return peak_of(device, "fp32")


def known_bandwidth(device: DeviceSpec) -> float:
    """Return the bytes/s of a device's memory.

    Raises:
        ValueError: If they are not known.
    """
    if device.bandwidth > 0:
        return device.bandwidth
    raise ValueError(
        _("{device} has no known bandwidth; type one in, or measure it first.", device=device.name)
    )


def sixteen_bit_peak(device: DeviceSpec) -> float:
    """Return the dense FLOP/s in bfloat16, else float16, else float32.

    Codes of fewer bits are turned into 16 bits before they are multiplied.

    Raises:
        ValueError: If the device has none of them.
    """
    for dtype in ("bfloat16", "float16", "float32"):
        if device.peak.get(dtype, 0) > 0:
            return device.peak[dtype]
    raise ValueError(
        _("{device} has no FLOP/s in 16 or 32 bits; type one in, or measure it first.").format(
            device=device.name
        )
    )
