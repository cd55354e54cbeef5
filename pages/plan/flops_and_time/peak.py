"""How much of a device's peak is used: MFU of a measured speed, and what a roofline allows.

Why long: two tabs about one peak: what a speed makes of it, and what keeps operations below it.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Final, cast

from core.budget.compute.block_operations import op_intensities
from core.budget.compute.conventions import mfu_conventions
from core.budget.compute.intensity import (
    ITEM_BYTES,
    Operation,
    Phase,
    examples,
    ridge,
    together,
)
from core.budget.item import Item
from core.budget.recipe import TrainingRecipe
from core.figures.budget.flops_and_time.peak import mfu_picture, roofline_picture
from core.figures.budget.flops_frame import intensity_words
from core.language import N_, _, ngettext
from core.units import format_flops, format_percent
from pages.plan.flops_and_time.inputs import (
    ASK,
    Exact,
    choose_checkpointing,
    choose_context,
    choose_dtype,
    choose_the_model,
    decades,
    doublings,
    dtype_name,
    in_python,
    settings,
    tell_other_dtype,
)
from pages.shared.beside import Compared, shown, two_names
from pages.shared.plan.choices import ChosenDevice, ChosenModel, choose_device
from pages.shared.settings import look
from pages.shared.tabbed_page import Chart, Shown

TORCHTITAN: Final = 5762  # tokens/s of Llama 3.1 8B on one of 8 H100, docs/performance
CODE_OF_MFU: Final = """
from core.budget.catalogue.models import MODELS
from core.budget.catalogue.devices import DEVICES, custom_device, local_device
from core.budget.catalogue.hf_config import read_config
from core.budget.compute.conventions import mfu_conventions
from core.budget.recipe import TrainingRecipe
from core.machine import probe_machine

device = {device}
recipe = TrainingRecipe(seq_len={context}, checkpointing={checkpointing!r})
peak = device.peak[{dtype!r}]
for item in mfu_conventions({model}, recipe, {speed}, peak, sparsity={sparsity}):
    print(f"{{item.name:18}} {{item.amount:7.1%}} = {{item.formula}}")
"""
KINDS: Final = {
    "prefill": N_("Prefill"),
    "decode": N_("Decode"),
    "examples": N_("Examples"),
}
BATCHES: Final = doublings(1, 4096)
Maker = Callable[..., tuple[Operation, ...]]  # from `item_bytes`, the bytes of a number
SIZES: Final = tuple(sorted({*doublings(64, 16_384), 887}))  # 887: compute-bound on an H100
SPEEDS: Final = tuple(map(int, decades(2, 5)))  # tokens/s
CODE_OF_A_ROOF: Final = """
peak = {peak}  # FLOP/s of {device}, {dtype} without sparsity
bandwidth = {bandwidth}  # bytes/s of its memory
operations = [  # name, how often, FLOPs and bytes of one run
{rows}
]
ridge_point = peak / bandwidth
print(f"ridge point: {{ridge_point:,.1f}} FLOP/byte")
for name, _times, flops, num_bytes in operations:
    intensity = flops / num_bytes
    bound = "memory-bound" if intensity < ridge_point else "compute-bound"
    share = min(1, intensity / ridge_point)
    print(f"{{name:28}} {{intensity:10,.2f}} FLOP/byte, {{bound}}: at most {{share:.2%}}")

seconds = flops_in_all = 0.0
for _name, times, flops, num_bytes in operations:
    seconds += times * max(flops / peak, num_bytes / bandwidth)
    flops_in_all += times * flops
share = flops_in_all / (peak * seconds)
print(f"one after the other: at most {{share:.3%}} of the peak")
"""


@dataclass(frozen=True, kw_only=True, slots=True)
class Measured:
    """What the reader measured: tokens/s of one device that trains a model with a dtype."""

    model: ChosenModel
    recipe: TrainingRecipe
    speed: int
    device: ChosenDevice
    dtype: str


def choose_measured() -> Measured:
    """Show the inputs and return what was measured."""
    speed = Exact(
        name="speed", label=_("Tokens/s per device"), typed=_("Tokens/s per device"), low=1,
        high=10_000_000, default=TORCHTITAN, stops=SPEEDS, written="{:,}".format,
    )  # fmt: skip
    model, place, context = choose_the_model(), speed.place(), choose_context()
    device = choose_device(ASK)
    with settings():
        tokens_per_second = speed.choose(place, step=100)
        checkpointing, dtype = choose_checkpointing(), choose_dtype(device.device)
    tell_other_dtype(device.device, dtype)
    recipe = TrainingRecipe(seq_len=context, checkpointing=checkpointing)
    return Measured(model=model, device=device, recipe=recipe, speed=tokens_per_second, dtype=dtype)


def mfu(measured: Measured) -> Shown:
    """Show the shares of the peak that people call MFU.

    Raises:
        ValueError: If nobody knows the peak.
    """
    shares = shares_of(measured)
    too_fast = _("More than 100 % cannot be: look at the speed, the dtype, the model, the device.")
    return Shown(
        headline=mfu_sentence(measured.speed, measured.device.device.name, measured.dtype, shares),
        charts=[Chart(picture=mfu_picture(shares, look()), file_name="mfu-conventions")],
        numbers=[(_(share.name), share) for share in shares[1:4]],
        widths=(4, 1),
        notes=[too_fast] if any(share.amount > 1 for share in shares) else [],
        code=_code_of_mfu(measured),
    )


def shares_of(measured: Measured) -> tuple[Item, ...]:
    """Return the shares of the peak that people call MFU.

    Raises:
        ValueError: If nobody knows the peak.
    """
    device = measured.device.device
    peak = device.peak.get(measured.dtype, 0.0)
    if not peak:
        raise ValueError(_("{device} has no known peak: MFU is n/a").format(device=device.name))
    sparsity = device.has_sparse_peak(measured.dtype)
    spec, speed = measured.model.spec, measured.speed
    return mfu_conventions(spec, measured.recipe, speed, peak, sparsity=sparsity)


def _code_of_mfu(measured: Measured) -> str:
    recipe, device = measured.recipe, measured.device
    return CODE_OF_MFU.format(
        device=device.code, context=recipe.seq_len, dtype=measured.dtype,
        checkpointing=recipe.checkpointing, model=measured.model.code,
        speed=measured.speed, sparsity=device.device.has_sparse_peak(measured.dtype),
    )  # fmt: skip


def two_shares(a: Sequence[Measured], b: Sequence[Measured]) -> Shown:
    """Show what two measured speeds make of their devices' peaks."""
    speeds = (*a, *b)
    return shown(*map(_side, speeds, two_names(*map(_words, speeds))))


def _words(measured: Measured) -> list[str]:
    """Return a measured speed word by word: what tells two of them apart."""
    return [
        measured.model.spec.name,
        dtype_name(measured.dtype),
        measured.device.device.name,
        _("{count} tokens/s").format(count=f"{measured.speed:,}"),
        _("{count} tokens").format(count=f"{measured.recipe.seq_len:,}"),
    ]


def _side(measured: Measured, name: str) -> Compared:
    rows = [(_(share.name), share) for share in shares_of(measured)[1:]]
    return Compared(name=name, rows=rows, code=_code_of_mfu(measured))


def mfu_sentence(speed: int, device: str, dtype: str, shares: Sequence[Item]) -> str:
    """Return the headline: one speed, and the shares of a peak that people call MFU."""
    by_name = {share.name: format_percent(share.amount) for share in shares}
    if "sparse peak" in by_name:
        text = _(
            "MFU {full} with full attention, {causal} causal, {sparse} against the sparse peak: "
            "{speed} tokens/s on {device} in {dtype}"
        )
    else:
        text = _(
            "MFU {full} with full attention, {causal} causal: {speed} tokens/s on {device} in "
            "{dtype}"
        )
    return text.format(
        speed=f"{speed:,}",
        device=device,
        dtype=dtype_name(dtype),
        full=by_name["full attention"],
        causal=by_name["causal attention"],
        sparse=by_name.get("sparse peak", ""),
    )


@dataclass(frozen=True, kw_only=True, slots=True)
class Below:
    """What stands below which roof.

    Attributes:
        kind: One of `KINDS`.
        device: Whose roof it is.
        dtype: What is computed in; it makes the peak, and the bytes of every number.
        operations: The operations.
    """

    kind: str
    device: ChosenDevice
    dtype: str
    operations: Sequence[Operation]


def choose_operations() -> Below:
    """Show the inputs and return what they say."""
    kind = ASK.segmented(
        "kind",
        _("Operations"),
        tuple(KINDS),
        default="decode",
        labels=lambda kind: _(KINDS[kind]),
    )
    make = _examples() if kind == "examples" else _block(cast("Phase", kind))
    with settings():
        device = choose_device(ASK)
        dtype = choose_dtype(device.device)
    tell_other_dtype(device.device, dtype)
    item_bytes = ITEM_BYTES.get(dtype, 2)
    return Below(kind=kind, device=device, dtype=dtype, operations=make(item_bytes=item_bytes))


def _examples() -> Maker:
    size = ASK.select_slider("size", _("Matrix size n"), SIZES, default=1024, labels="{:,}".format)
    return partial(examples, size)


def _block(phase: Phase) -> Maker:
    chosen = choose_the_model()
    batch = ASK.select_slider(
        "batch", _("Concurrent sequences"), BATCHES, default=1, labels="{:,}".format
    )
    context = choose_context()
    return partial(op_intensities, chosen.spec, context, batch_size=batch, phase=phase)


def roofline(below: Below) -> Shown:
    """Show the operations below the roof of the device.

    Raises:
        ValueError: If nobody knows the speeds of the device.
    """
    device, operations = below.device.device, below.operations
    peak = device.peak.get(below.dtype, 0.0)
    if not peak or not device.bandwidth:
        raise ValueError(_("{device} has no known speeds: no roof").format(device=device.name))
    known = device.known_of(below.dtype, "bandwidth")
    share = together(operations, peak, device.bandwidth, known=known)
    edge = ridge(peak, device.bandwidth, kind=known)
    picture = roofline_picture(operations, device, peak, look())
    return Shown(
        headline=roofline_sentence(below, edge, share),
        charts=[Chart(picture=picture, file_name="roofline")],
        numbers=[(_("ridge point"), edge), (_("together"), share)],
        widths=(4, 1),
        notes=[*_elements_said(below), *_bytes_of_a_number(below.dtype)],
        code=_code_of(below, peak),
    )


def _code_of(below: Below, peak: float) -> str:
    """Return Python that puts the same operations below the same roof."""
    device = below.device.device
    rows = "\n".join(
        f"    ({_(each.name)!r}, {each.times}, {each.flops.amount}, {each.moved.amount}),"
        for each in below.operations
    )
    return CODE_OF_A_ROOF.format(
        device=device.name, dtype=dtype_name(below.dtype), peak=in_python(peak),
        bandwidth=in_python(device.bandwidth), rows=rows,
    )  # fmt: skip


def _elements_said(below: Below) -> list[str]:
    """Return the FLOPs of operations on each number apart beside a product's, of the examples."""
    if below.kind != "examples":
        return []
    flops = {each.name: each.flops for each in below.operations}
    relu = flops["relu"]
    return [
        _(
            "Element by element: ReLU on {rows} × {columns} numbers is {relu}, and so is adding "
            "two such matrices; GELU is {gelu}. Their product is {product}."
        ).format(
            rows=f"{relu.values['rows']:,}",
            columns=f"{relu.values['columns']:,}",
            relu=format_flops(relu.amount),
            gelu=format_flops(flops["gelu"].amount),
            product=format_flops(flops["matrix times matrix"].amount),
        )
    ]


def _bytes_of_a_number(dtype: str) -> list[str]:
    """Return how many bytes a number takes, where it is not the usual two."""
    num_bytes = ITEM_BYTES.get(dtype, 2)
    if num_bytes == 2:
        return []
    text = ngettext(
        "In {dtype} every number in memory is taken to be {bytes} byte.",
        "In {dtype} every number in memory is taken to be {bytes} bytes.",
        math.ceil(num_bytes),
    )
    return [text.format(dtype=dtype_name(dtype), bytes=f"{num_bytes:g}")]


def roofline_sentence(below: Below, edge: Item, share: Item) -> str:
    """Return how many operations are memory-bound, the ridge point, and what all reach."""
    waiting = sum(each.intensity.amount < edge.amount for each in below.operations)
    text = _(
        "{kind}: {waiting} of {count} operations are memory-bound, together at most {share} of "
        "the peak; ridge point of {device}: {edge} FLOP/byte"
    )
    product, size = below.operations[-1], 0
    if below.kind == "examples":  # the last one's intensity grows as n
        text = _(
            "{kind}: {waiting} of {count} operations are memory-bound; ridge point of {device}: "
            "{edge} FLOP/byte, which a matmul reaches at n = {size}"
        )
        size = math.ceil(edge.amount / product.intensity.amount * product.flops.values["rows"])
    return text.format(
        kind=_(KINDS[below.kind]),
        waiting=waiting,
        count=len(below.operations),
        device=below.device.device.name,
        edge=f"{edge.amount:,.1f}" if 1 <= edge.amount < 1000 else intensity_words(edge.amount),
        share=format_percent(share.amount),
        size=f"{size:,}",
    )
