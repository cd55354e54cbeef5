"""as_strided: any sizes, strides and offset over one storage, as long as they stay inside."""

from core.language import _
from core.tensors.presets import counted
from core.tensors.strided_windows import NUM_ELEMENTS, Window, room_left
from core.tensors.trace import trace
from pages.shared.tabbed_page import Shown
from pages.tensors.indexing_and_sharing.maps import ALONE, aside, show_map


def strided(window: Window) -> Shown:
    """Draw the window over 16 elements."""
    code = f"x.as_strided({window.size}, {window.stride}, {window.offset})"
    ran = trace(code, {"x": counted((NUM_ELEMENTS,))})
    if ran.error is not None:
        raise ran.error
    part = show_map(ran, "strided", room=ALONE)
    layout = ran.steps[-1].outputs[0].layout
    used = set(layout.addresses().flatten().tolist())
    headline = _("`{code}` reads {elements} elements at {addresses} addresses and copies 0 B")
    left = room_left(NUM_ELEMENTS, window.size, window.stride, window.offset)
    notes = [
        _("The last one is stored at {last}; the storage goes on for {left} more. Beyond its end "
          "torch would refuse. Each slider ends where the ones above it leave no room.").format(
            last=layout.last_address, left=left),
        _("The offset counts from the beginning of the storage, also on a slice; left out, it is "
          "that of the tensor. Negative strides are not supported."),
    ]  # fmt: skip
    return Shown(
        headline=headline.format(code=code, elements=layout.numel, addresses=len(used)),
        part=part,
        notes=aside(notes),
        code=_snippet(code),
    )


def _snippet(code: str) -> str:
    return f"""
import torch

x = torch.arange({NUM_ELEMENTS}, dtype=torch.float32)
y = {code}
print(y)
print(y.numel(), "elements at", y.unique().numel(), "addresses")
"""
