"""How long a prompt and each token of an answer take: the slower of reading and computing.

Reading the weights takes as long for one sequence as for many; computing grows with them.
So decoding for few readers waits for the memory, a long prompt for the compute units.
"""

from typing import Final

from core.budget.check import check_range
from core.budget.cluster import Cluster, DeviceSpec
from core.budget.compute.training_time import peak_of
from core.budget.formula import Formula, Number
from core.budget.item import Item, item, total
from core.budget.serving.decode_speeds import bits_per_value, measured_fit
from core.budget.serving.kv_cache import kv_cache
from core.budget.serving.serving_flops import decode_flops, prefill_flops
from core.budget.serving.serving_plan import ServingPlan
from core.budget.serving.serving_reads import weights_read
from core.language import N_, _
from core.models.spec import ModelSpec

READING: Final = Formula("(weight_bytes + kv_bytes) / (mbu * bandwidth)")
COMPUTING: Final = Formula("flops / (tensor * mfu * flops_per_second)")
LAUNCHES: Final = Formula("num_layers * launch_seconds")
JOINS: Final = Formula("num_layers * (launch_seconds + join_seconds)")
# Two sums over the devices in each layer, each over a ring, of 16-bit numbers.
ALL_REDUCES: Final = Formula(
    "num_layers * 2 * 2 * (tensor - 1) / tensor * num_tokens * hidden_dim * 2 / link"
)

_ROOFLINE: Final = N_("the slower of the two: Williams et al. 2009, Roofline")
_READ: Final = N_("share of the bandwidth learned from 31 speeds of gpt-fast on A100, or as chosen")
_COMPUTE: Final = N_("dense peak, in 32 bits for 32-bit weights, else in 16, times the MFU")
_LAUNCH: Final = N_("learned from 31 speeds of gpt-fast on A100: what a layer costs at any size")
_RING: Final = N_("two all-reduces a layer: Shoeybi et al. 2019, Megatron-LM, section 3")


def prefill_seconds(spec: ModelSpec, serving: ServingPlan, cluster: Cluster) -> float:
    """Return the seconds to the first token of one prompt, when nobody waits before it.

    Raises:
        ValueError: If the device has no bandwidth, no 16-bit peak, or no link where one is needed.
    """
    return float(prefill_latency(spec, serving, cluster).amount)


def prefill_latency(spec: ModelSpec, serving: ServingPlan, cluster: Cluster) -> Item:
    """Return the time to the first token of one prompt, when nobody waits before it.

    Raises:
        ValueError: As `prefill_seconds`.
    """
    num_tokens = serving.prompt_len
    read = weights_read(spec, serving, num_tokens)
    flops = prefill_flops(spec, num_tokens)
    work = {"weight_bytes": read.amount, "kv_bytes": 0, "flops": flops.amount}
    return _latency("time to first token", spec, serving, cluster, num_tokens, work)


def decode_latency(
    spec: ModelSpec, serving: ServingPlan, cluster: Cluster, context: int | None = None
) -> Item:
    """Return the time for one more token of each sequence.

    Args:
        spec: The model.
        serving: Formats, lengths, sequences and shares of the peaks.
        cluster: The device and its links.
        context: Tokens that are read back for the new one; the middle of the answer if None,
            which is the mean over the answer.

    Raises:
        ValueError: As `prefill_seconds`.
    """
    seen = mean_context(serving) if context is None else context
    cache = kv_cache(spec, seen, serving.concurrency, serving.kv_format, serving.tensor)
    work = {
        "weight_bytes": weights_read(spec, serving, serving.concurrency).amount,
        "kv_bytes": cache.amount,
        "flops": decode_flops(spec, seen, serving.concurrency).amount,
    }
    return _latency("time per token", spec, serving, cluster, serving.concurrency, work)


def mean_context(serving: ServingPlan) -> int:
    """Return the tokens behind the middle token of the answer."""
    return serving.prompt_len + serving.output_len // 2


def product_peak(device: DeviceSpec, weight_format: str) -> float:
    """Return the dense FLOP/s at which weights of a format are multiplied.

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
        _("{device} has no known bandwidth; type one in, or measure it first.").format(
            device=device.name
        )
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


def _latency(
    name: str,
    spec: ModelSpec,
    serving: ServingPlan,
    cluster: Cluster,
    num_tokens: int,
    work: dict[str, Number],
) -> Item:
    values = _speeds(spec, serving, cluster) | work | {"num_tokens": num_tokens}
    roofline = (
        _seconds("reading", READING, values, _READ),
        _seconds("computing", COMPUTING, values, _COMPUTE),
    )
    parts = [total("reading or computing", roofline, source=_ROOFLINE, combine="max")]
    if serving.tensor == 1:
        parts.append(_seconds("launches", LAUNCHES, values, _LAUNCH))
    else:
        check_range("link", cluster.device.link, 1, 1e18)
        parts.append(_seconds("launches and joins", JOINS, values, _LAUNCH))
        parts.append(_seconds("all-reduces", ALL_REDUCES, values, _RING))
    return total(name, parts, source=_ROOFLINE)


def _speeds(spec: ModelSpec, serving: ServingPlan, cluster: Cluster) -> dict[str, Number]:
    """Return what the formulas are given, whatever the pass does."""
    device, learned = cluster.device, measured_fit()
    return {
        "num_layers": spec.num_layers,
        "hidden_dim": spec.hidden_dim,
        "tensor": serving.tensor,
        "mbu": serving.mbu,
        "mfu": serving.mfu,
        "bandwidth": known_bandwidth(device),
        "flops_per_second": product_peak(device, serving.weight_format),
        "launch_seconds": learned.launch_seconds,
        "join_seconds": learned.join_seconds,
        "link": device.link,
    }


def _seconds(name: str, formula: Formula, values: dict[str, Number], source: str) -> Item:
    return item(
        name,
        formula,
        values,
        unit="s",
        source=source,
        kind="estimated",
        band=measured_fit().band,
    )
