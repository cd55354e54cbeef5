"""What keeps operations below the peak: the roofline, and copies over slower links."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final, cast

from core.budget.catalogue.devices import DEVICES
from core.budget.cluster import DeviceSpec
from core.budget.compute.block_operations import op_intensities
from core.budget.compute.intensity import (
    ITEM_BYTES,
    Operation,
    Phase,
    bound,
    examples,
    ridge,
    together,
)
from core.budget.compute.least_times import transfer_seconds
from core.budget.item import Item
from core.budget.weights.parameters import counts
from core.figures.budget.frames import (
    HEIGHT_PX,
    PRESENT_HEIGHT_PX,
    framed,
    intensity_words,
    log_axis,
    powers,
)
from core.figures.budget.least_times import Least, least_times_picture
from core.figures.picture import Drawing, Look, Picture
from core.language import N_, _, ngettext
from core.units import (
    format_count,
    format_flops,
    format_flops_per_second,
    format_percent,
    format_seconds,
)
from pages.plan.flops_and_time.inputs import (
    ASK,
    choose_dtype,
    dtype_name,
    in_python,
    known_peak,
    possible_dtype,
)
from pages.shared.plan.choices import stops
from pages.shared.plan.plan import Chosen, choose_plan
from pages.shared.settings import look, presenting
from pages.shared.tabbed_page import Chart, Shown, Tab

_NEAR_THE_EDGE: Final = 20  # times the left end: words to the left would leave the picture
_LEFT, _RIGHT = 0.05, 2e5  # FLOP/byte, the ends of the axis
_NEAR: Final = 1.6  # operations whose intensities differ by less share a label
_MOST_NAMES: Final = 2
_PLOT_SHARE: Final = 0.7  # of a picture's height: the rest is its legend and the lower axis
_BESIDE_PX: Final = 12


@dataclass(frozen=True, kw_only=True, slots=True)
class _Mark:
    """An operation below the roof."""

    name: str
    intensity: float
    share: float
    height: float
    memory_bound: bool


def roofline_picture(
    operations: Sequence[Operation], device: DeviceSpec, peak: float, look: Look
) -> Picture:
    """Return the roof of a device with a mark for each operation on it."""
    drawing, edge = Drawing(), float(ridge(peak, device.bandwidth).amount)
    marks = [_mark(each, device, peak, edge) for each in operations]
    found = [edge, *(mark.intensity for mark in marks)]
    ends = min(_LEFT, min(found) / 4), max(_RIGHT, max(found) * 4)
    _draw_roof(drawing, device, peak, ends, look)
    _draw_marks(drawing, marks, look)
    lowest = min(peak, *(mark.height for mark in marks)) / 8
    _draw_names(drawing, marks, edge, math.log10(peak * 4 / lowest), look)
    x = _powers_axis(_("arithmetic intensity (FLOP/byte)"), *ends, _intensity_tick)
    y = _powers_axis(_("attainable FLOP/s"), lowest, peak * 4, _rate_tick)
    table = {
        _("operation"): [mark.name for mark in marks],
        _("runs"): [f"{each.times:,}" for each in operations],
        _("FLOPs"): [f"{each.flops.amount:,.4g}" for each in operations],
        _("bytes moved"): [f"{each.moved.amount:,.4g}" for each in operations],
        _("arithmetic intensity (FLOP/byte)"): [f"{mark.intensity:,.4g}" for mark in marks],
        _("share of the peak, at most"): [format_percent(mark.share) for mark in marks],
    }
    waiting = [mark.name for mark in marks if mark.memory_bound]
    busy = [mark.name for mark in marks if not mark.memory_bound]
    alt = _(
        "Roofline of {device}, ridge point at {edge} FLOP/byte. Memory-bound: {waiting}. "
        "Compute-bound: {busy}.",
        device=device.name,
        edge=intensity_words(edge),
        waiting=_(", ").join(waiting) or "-",
        busy=_(", ").join(busy) or "-",
    )
    return Picture(figure=framed(drawing, look, x=x, y=y), alt=alt, table=table)


def _mark(operation: Operation, device: DeviceSpec, peak: float, edge: float) -> _Mark:
    intensity = operation.intensity.amount
    share = bound(operation, peak, device.bandwidth).amount
    return _Mark(
        name=_(operation.name),
        intensity=intensity,
        share=share,
        height=peak * share,
        memory_bound=intensity < edge,
    )


def _draw_roof(
    drawing: Drawing, device: DeviceSpec, peak: float, ends: tuple[float, float], look: Look
) -> None:
    edge = float(ridge(peak, device.bandwidth).amount)
    drawing.scatter(
        x=[ends[0], edge, ends[1]], y=[ends[0] * device.bandwidth, peak, peak], mode="lines",
        name=device.name, line={"color": look.color("text"), "width": 3}, hoverinfo="skip",
    )  # fmt: skip
    drawing.scatter(
        x=[edge, edge], y=[1, peak], mode="lines", showlegend=False, hoverinfo="skip",
        line={"color": look.color("reference"), "width": 2, "dash": "dot"},
    )  # fmt: skip
    drawing.note(
        x=math.log10(edge), y=math.log10(peak), yshift=14,
        text=f"{intensity_words(edge)} FLOP/byte",
        xanchor="left" if edge < _NEAR_THE_EDGE * ends[0] else "right",
    )  # fmt: skip


def _draw_marks(drawing: Drawing, marks: Sequence[_Mark], look: Look) -> None:
    for memory_bound, meaning, symbol, name in (
        (True, "backward", "circle", _("memory-bound")),
        (False, "forward", "diamond", _("compute-bound")),
    ):
        found = [mark for mark in marks if mark.memory_bound == memory_bound]
        drawing.scatter(
            x=[mark.intensity for mark in found], y=[mark.height for mark in found], mode="markers",
            name=name, marker={"color": look.color(meaning), "symbol": symbol, "size": 14},
            customdata=[
                _(
                    "{name}: {intensity} FLOP/byte, at most {share} of the peak",
                    name=mark.name,
                    intensity=intensity_words(mark.intensity),
                    share=format_percent(mark.share),
                )
                for mark in found
            ],
            hovertemplate="%{customdata}<extra></extra>",
        )  # fmt: skip


def _draw_names(
    drawing: Drawing, marks: Sequence[_Mark], edge: float, decades: float, look: Look
) -> None:
    """Name the marks, right of them and below the roof; those that stand together share a label."""
    line_px, most = (26, 1) if look.present else (20, _MOST_NAMES)
    px_each = (PRESENT_HEIGHT_PX if look.present else HEIGHT_PX) * _PLOT_SHARE / decades
    above = math.inf
    for group in reversed(_neighbours(marks, edge)):
        is_flat = group[0].intensity >= edge
        first = group[0 if is_flat else -1]
        place = math.log10(first.height) * px_each - is_flat * line_px
        above = min(place, above - line_px)
        more = f" +{len(group) - most}" if len(group) > most else ""
        drawing.note(
            x=math.log10(first.intensity), y=math.log10(first.height),
            text=_(", ").join(mark.name for mark in group[:most]) + more, xshift=_BESIDE_PX,
            yshift=above - math.log10(first.height) * px_each, xanchor="left",
        )  # fmt: skip


def _neighbours(marks: Sequence[_Mark], edge: float) -> list[list[_Mark]]:
    groups: list[list[_Mark]] = []
    for mark in sorted(marks, key=lambda mark: mark.intensity):
        first = groups[-1][0].intensity if groups else 0.0
        if groups and (mark.intensity < _NEAR * first or first >= edge):
            groups[-1].append(mark)
        else:
            groups.append([mark])
    return groups


def _powers_axis(
    title: str, low: float, high: float, written: Callable[[float], str]
) -> dict[str, object]:
    ends = [math.log10(low), math.log10(high)]
    ticks = powers(math.ceil(ends[0]), math.floor(ends[1]))
    return log_axis(ticks, written, title=title, range=ends)


def _intensity_tick(intensity: float) -> str:
    return format_count(intensity).replace(".0 ", " ") if intensity >= 10_000 else f"{intensity:,g}"


def _rate_tick(rate: float) -> str:
    return format_flops_per_second(rate).replace(".00 ", " ").replace(".0 ", " ")


KINDS: Final = {
    "prefill": N_("Prefill"),
    "decode": N_("Decode"),
    "examples": N_("Examples"),
    "copies": N_("Copies"),
}
SIZES: Final = tuple(sorted({*stops(64, 16_384), 887}))  # 887: compute-bound on an H100
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
class Below:
    """What stands below the roof, and in what it is computed: that makes the bytes of a number."""

    kind: str
    dtype: str
    operations: Sequence[Operation]


def choose() -> Chosen:
    """Show the inputs and return what they say; copies are of the model's weights."""
    kind = ASK.segmented("kind", _("Operations"), KINDS, default="decode")
    if kind == "copies":
        return choose_plan(("model", "device"), {})
    size = 0
    if kind == "examples":
        size = ASK.select_slider(
            "size", _("Matrix size n"), SIZES, default=1024, labels="{:,}".format
        )
        chosen = choose_plan((), {_("Devices"): ("device",)}, choose_dtype)
    else:
        of_plan = ("concurrency", "context_length", "model")
        chosen = choose_plan(of_plan, {_("Devices"): ("device",)}, choose_dtype)
    dtype, serving = possible_dtype(chosen.device.device, chosen.own), chosen.plan.serving
    item_bytes = ITEM_BYTES.get(dtype, 2)
    operations = (
        examples(size, item_bytes)
        if size
        else op_intensities(
            chosen.plan.spec,
            serving.context,
            batch_size=serving.concurrency,
            phase=cast("Phase", kind),
            item_bytes=item_bytes,
        )
    )
    return replace(chosen, own=Below(kind=kind, dtype=dtype, operations=operations))


def roofline(chosen: Chosen) -> Shown:
    """Show the operations below the roof of the device."""
    below, device = chosen.own, chosen.device.device
    operations, peak = below.operations, known_peak(device, below.dtype)
    if not device.bandwidth:
        raise ValueError(_("{device} has no known bandwidth").format(device=device.name))
    known = device.known_of(below.dtype, "bandwidth")
    share = together(operations, peak, device.bandwidth, known=known)
    edge = ridge(peak, device.bandwidth, kind=known)
    picture = roofline_picture(operations, device, peak, look())
    return Shown(
        headline=roofline_sentence(below, device, edge, share),
        charts=[Chart(picture=picture, file_name="roofline")],
        numbers=[(_("ridge point"), edge), (_("together"), share)],
        widths=(4, 1),
        notes=[*_elements_said(below), *_bytes_of_a_number(below.dtype)],
        code=_code_of(below, device, peak),
    )


def _code_of(below: Below, device: DeviceSpec, peak: float) -> str:
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
            "two such matrices; GELU is {gelu}. Their product is {product}.",
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


def roofline_sentence(below: Below, device: DeviceSpec, edge: Item, share: Item) -> str:
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
        kind=_(KINDS[below.kind]), waiting=waiting, count=len(below.operations), device=device.name,
        edge=f"{edge.amount:,.1f}" if 1 <= edge.amount < 1000 else intensity_words(edge.amount),
        share=format_percent(share.amount), size=f"{size:,}",
    )  # fmt: skip


BESIDE: Final = ("t4", "rtx-4090", "a100-80gb", "h100-sxm", "b200")
BYTES_EACH: Final = 2  # bf16
WAYS: Final = {
    "from the host": "backward",
    "from another device": "estimated",
    "from its own memory": "forward",
}
"""How bytes come to where they are used -> its colour."""
CODE_OF_A_TRANSFER: Final = """
num_params = {params}
num_bytes = 2 * num_params  # bf16
links = {{  # bytes/s of {device}: its data sheet
{links}
}}
for name, bytes_per_second in links.items():
    print(f"{{name:20}} {{num_bytes / bytes_per_second * 1e3:12,.2f}} ms")
"""


def transfer(chosen: Chosen) -> Shown:
    """Show the same bytes over the link to the host and from a device's memory."""
    spec, device = chosen.plan.spec, chosen.device
    num_bytes = BYTES_EACH * counts(spec).total
    beside = [DEVICES[key] for key in BESIDE if key != device.key]
    devices = [device.device, *(beside[-2:] if presenting() else beside)]
    times = {each.name: transfer_seconds(num_bytes, each) for each in devices}
    mine = {item.name: item for item in times[device.device.name]}
    picture = least_times_picture(bars_of(times), [], look())
    return Shown(
        headline=transfer_sentence(spec.name, num_bytes, device.device.name, mine),
        charts=[Chart(picture=picture, file_name="transfers")],
        numbers=[(_(name), item) for name, item in mine.items()],
        widths=(4, 1),
        notes=[
            _(
                "The link to the host is that fast from pinned memory alone: `x.pin_memory()`, "
                'then `x.to("cuda", non_blocking=True)`, which returns at once while the bytes '
                "move. From other memory they are first copied into a pinned buffer, and the call "
                "waits."
            )
        ],
        code=CODE_OF_A_TRANSFER.format(
            params=f"{counts(spec).total:_}",
            device=device.device.name,
            links="\n".join(
                f"    {_(name)!r}: {in_python(item.values['bytes_per_second'])},"
                for name, item in mine.items()
            ),
        ),
    )


def bars_of(times: Mapping[str, Sequence[Item]]) -> list[Least]:
    """Return the bars of each way, from a device's name to its transfers."""
    return [
        Least(
            name=_(way),
            color=color,
            seconds={
                name: float(item.amount)
                for name, items in times.items()
                for item in items
                if item.name == way
            },
        )
        for way, color in WAYS.items()
    ]


def transfer_sentence(model: str, num_bytes: int, device: str, times: Mapping[str, Item]) -> str:
    """Return how much longer the link to the host takes than the device's own memory."""
    host, own = times.get("from the host"), times.get("from its own memory")
    if host is None or own is None:
        return _("{device} has no known bandwidth").format(device=device)
    if host.amount == own.amount:
        text = _("{model} in 16 bits, {bytes}: {own}; {device} shares its memory with the host")
    else:
        text = _(
            "{model} in 16 bits, {bytes}: {host} over the link to the host, {own} from the "
            "memory of {device}: {times} × longer"
        )
    return text.format(
        model=model, bytes=look().format_bytes(num_bytes), host=format_seconds(host.amount),
        own=format_seconds(own.amount), device=device, times=f"{host.amount / own.amount:,.3g}",
    )  # fmt: skip


def roof_or_copies(chosen: Chosen) -> Shown:
    return roofline(chosen) if isinstance(chosen.own, Below) else transfer(chosen)


TAB: Final = Tab(label=N_("Roofline"), show=roof_or_copies)
