"""The tensor map on this page, and what is said where a program is refused."""

from collections.abc import Mapping, Sequence
from typing import Final

import streamlit as st

from core.expressions import ExpressionError
from core.language import _
from core.tensors.trace import Trace, TracedTensor
from core.units import format_bytes
from pages.components.tensor_map.tensor_map import steps_of, tensor_map
from pages.shared.settings import presenting, unit_system
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
) -> None:
    """Draw a program at its last step; what the reader looks at stays in the browser.

    Args:
        ran: The program; nothing is drawn if it has no tensor.
        name: Of this map on the page.
        changed: Storage key -> addresses that are marked as written.
        index: Of the chosen element; else one whose places differ.
        room: Its height in pixels: as usual, and on a projector.
    """
    if not ran.tensors:
        return
    steps = steps_of(ran)
    (shown,) = [each for each in ran.tensors if each.key == steps[-1]["tensor"]]
    tensor_map(
        ran,
        key=ASK.key(f"{name}_map"),
        step=len(steps) - 1,
        index=index or _telling_index(shown.layout.shape),
        room=room[presenting()],
        file_name=name,
        on_choice=lambda _choice: None,
        changed=changed,
    )


def _telling_index(shape: Sequence[int]) -> tuple[int, ...]:
    """Return an index whose places differ, so that the strides can be told apart."""
    if 0 in shape:
        return ()
    last = len(shape) - 1
    return tuple(min(2 if axis == last else 1, length - 1) for axis, length in enumerate(shape))


def show_refusal(error: ExpressionError) -> None:
    """Show an error with its place, and torch's own words."""
    place = _("line {line}, column {column}").format(line=error.line, column=error.column + 1)
    with st.container(key=ASK.key("refused")):
        st.markdown(f":material/block: **{error.message}** ({place})")
        if error.torch_message:
            st.code(error.torch_message.strip(), language=None, wrap_lines=True)


def aside(notes: Sequence[str]) -> Sequence[str]:
    """Return what stands below a picture; on a projector there is no room for it."""
    return () if presenting() else notes


def size_text(num_bytes: int) -> str:
    """Return bytes in the reader's unit."""
    return format_bytes(num_bytes, unit_system())


def attributes(tensor: TracedTensor) -> str:
    """Return what a tensor says of itself, as the attributes are called."""
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
