"""The tab of the roofline: the operations of a block, or five standard examples, below a roof."""

from typing import Final, cast

from streamlit.delta_generator import DeltaGenerator

from core.budget.compute.block_operations import op_intensities
from core.budget.compute.intensity import PHASES, Operation, Phase, examples, ridge, together
from core.figures.budget.roofline_plot import roofline_alt, roofline_plot, roofline_table
from core.language import _
from core.units import format_percent
from pages.panels.budget.flops import places
from pages.panels.budget.flops.places import PAGE
from pages.shared import pickers
from pages.shared.charts import show_chart
from pages.shared.header import headline
from pages.shared.settings import presenting, theme_mode

KINDS: Final = (*PHASES, "examples")
BATCHES: Final = tuple(2**power for power in range(13))
SIZES: Final = (64, 128, 256, 512, 887, 1024, 2048, 4096, 8192, 16384)
CODE: Final = """
from core.budget.compute.block_operations import op_intensities
from core.budget.catalogue.models import MODELS
from core.budget.catalogue.devices import DEVICES, custom_device, local_device
from core.budget.catalogue.hf_config import read_config
from core.budget.compute.intensity import bound, examples, ridge
from core.machine import probe_machine

device = {device}
peak = device.peak[{dtype!r}]
print(f"{{device.name}} turns at {{ridge(peak, device.bandwidth).amount:,.1f}} FLOPs/byte")
for operation in {operations}:
    share = bound(operation, peak, device.bandwidth).amount
    print(f"{{operation.name:28}} {{operation.intensity.amount:10,.2f}} FLOPs/byte {{share:8.2%}}")
"""


def show_roofline(row: DeltaGenerator) -> str:
    """Show the tab and return the code of its number."""
    with row:
        kind = pickers.segmented(
            PAGE, "kind", _("Operations"), KINDS, default="decode", labels=kind_label
        )
        with places.aside() as box:
            if kind == "examples":
                operations, code = _examples()
            else:
                operations, code = _block(cast("Phase", kind))
            device = places.device()
        with places.settings(box):
            dtype = places.dtype_of(device.device)
    peak, bandwidth = device.device.peak.get(dtype, 0.0), device.device.bandwidth
    if not peak or not bandwidth:
        headline(_("{device} has no known speeds: no roof").format(device=device.device.name))
        return ""
    share, edge = together(operations, peak, bandwidth), ridge(peak, bandwidth)
    waiting = sum(each.intensity.amount < edge.amount for each in operations)
    headline(
        _(
            "{kind}: {waiting} of {count} operations wait for memory; {device} turns at {edge} "
            "FLOPs for each byte, all together reach at most {share} of its peak"
        ).format(
            kind=kind_label(kind),
            waiting=waiting,
            count=len(operations),
            device=device.device.name,
            edge=f"{edge.amount:,.1f}",
            share=format_percent(share.amount),
        )
    )
    picture, numbers = places.picture_and_numbers()
    with picture:
        show_chart(
            roofline_plot(operations, device.device, peak, theme_mode(), present=presenting()),
            key="flops_roofline_chart",
            alt=roofline_alt(operations, device.device, peak),
            table=roofline_table(operations, device.device, peak),
            file_name="roofline",
        )
    places.show_numbers(numbers, [(_("turns at"), edge), (_("together"), share)])
    return CODE.format(device=device.code, dtype=dtype, operations=code)


def kind_label(kind: str) -> str:
    """Return what the roofline shows, in words."""
    return {
        "prefill": _("Prefill of a block"),
        "decode": _("Decode of a block"),
        "examples": _("Five examples"),
    }[kind]


def _examples() -> tuple[tuple[Operation, ...], str]:
    size = pickers.select_slider(
        PAGE, "size", _("Rows and columns n"), SIZES, default=1024, labels=lambda n: f"{n:,}"
    )
    return examples(size), f"examples({size})"


def _block(phase: Phase) -> tuple[tuple[Operation, ...], str]:
    chosen = places.model()
    batch_size = pickers.select_slider(
        PAGE, "batch", _("Sequences at once"), BATCHES, default=1, labels=lambda n: f"{n:,}"
    )
    context = places.context()
    operations = op_intensities(chosen.spec, context, batch_size=batch_size, phase=phase)
    call = f"op_intensities({chosen.code}, {context}, batch_size={batch_size}, phase={phase!r})"
    return operations, call
