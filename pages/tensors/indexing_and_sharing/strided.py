"""as_strided: any sizes, strides and offset over one storage, as long as they stay inside."""

from typing import Final

import streamlit as st

from core.language import N_, _
from core.tensors.examples import counted, titles
from core.tensors.strided_windows import (
    MAX_LENGTH,
    NUM_ELEMENTS,
    WINDOWS,
    Window,
    largest_stride,
    room_left,
)
from core.tensors.trace import trace
from pages.shared.tabbed_page import Shown, Tab
from pages.shared.tensors.examples import offer_examples
from pages.tensors.indexing_and_sharing.inputs import ASK
from pages.tensors.indexing_and_sharing.maps import ALONE, aside, show_map


def choose_window() -> Window:
    """Show sliders for as_strided, each as long as the ones before leave it; return the window."""
    offer_examples(ASK, "window", titles(WINDOWS), _settings)
    size, stride, first = list[int](), list[int](), WINDOWS["windows"]
    for axis in (1, 0):
        left, right = st.columns(2)
        with left:
            length = ASK.slider(f"size{axis}", f"size[{axis}]", 1, MAX_LENGTH,
                                default=first.size[axis], step=1)  # fmt: skip
        most = largest_stride(NUM_ELEMENTS, length, size, stride)
        with right:
            step = ASK.slider(f"stride{axis}", f"stride[{axis}]", 0, most,
                              default=min(first.stride[axis], most), step=1)  # fmt: skip
        size.insert(0, length)
        stride.insert(0, step)
    most = room_left(NUM_ELEMENTS, size, stride)
    offset = ASK.slider("offset", "storage_offset", 0, most, default=0, step=1)
    (rows, columns), (down, across) = size, stride
    return Window(title={}, size=(rows, columns), stride=(down, across), offset=offset)


def _settings(key: str) -> dict[str, object]:
    window = WINDOWS[key]
    sizes = {f"size{axis}": length for axis, length in enumerate(window.size)}
    strides = {f"stride{axis}": step for axis, step in enumerate(window.stride)}
    return {**sizes, **strides, "offset": window.offset}


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


TAB: Final = Tab(label=N_("as_strided"), show=strided, choose=choose_window)
