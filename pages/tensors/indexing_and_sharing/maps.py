"""The tensor map on this page, the notes below it, and tables that open."""

from collections.abc import Callable, Mapping, Sequence
from typing import Final

import streamlit as st

from core.language import _
from core.tensors.trace import Trace, TracedTensor
from pages.components.tensor_map.tensor_map import steps_of, telling_index, tensor_map
from pages.shared.settings import presenting
from pages.shared.tabbed_page import Part
from pages.tensors.indexing_and_sharing.inputs import ASK

ROOM: Final = {False: 360, True: 320}  # pixels of the picture, on a projector less
ALONE: Final = {False: 440, True: 370}  # where only notes stand below it


def show_map(
    ran: Trace,
    name: str,
    *,
    changed: Mapping[str, Sequence[int]] | None = None,
    index: Sequence[int] = (),
    room: Mapping[bool, int] = ROOM,
    step: int = -1,
) -> Part | None:
    """Draw a program at a step, written addresses marked; None if it has no tensor."""
    if not ran.tensors:
        return None
    steps = steps_of(ran)
    (shown,) = [each for each in ran.tensors if each.key == steps[step]["tensor"]]
    part = Part(key=ASK.key(f"{name}_map"), file_name=name)
    tensor_map(
        ran,
        steps,
        key=part.key,
        step=step % len(steps),
        index=index or telling_index(shown.layout.shape),
        room=room[presenting()],
        file_name=name,
        on_choice=lambda _choice: None,
        changed=changed,
    )
    return part


def aside(notes: Sequence[str]) -> Sequence[str]:
    """Return what stands below a picture; on a projector there is no room for it."""
    return () if presenting() else notes


def all_cases(name: str, show: Callable[[], None]) -> None:
    """Offer a table of every case; `show` runs them when it is opened."""
    place = st.expander(
        _("All cases"), key=ASK.key(f"all_{name}"), icon=":material/table:", on_change="rerun"
    )
    if place.open:
        with place:
            show()


def attributes(tensor: TracedTensor) -> str:
    layout = tensor.layout
    return " · ".join(
        (
            f"shape {layout.shape}",
            f"ndim {layout.ndim}",
            f"numel {layout.numel}",
            f"dtype {tensor.dtype}",
            f"stride {layout.stride}",
            f"storage_offset {layout.offset}",
            f"is_contiguous {layout.is_contiguous}",
        )
    )
