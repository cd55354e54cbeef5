"""The answer: the tensor of a step, its storage, and the way from an index to an address."""

from functools import partial
from typing import Final

import streamlit as st

from core.language import _
from core.tensors.layout import trace_index
from core.tensors.trace import TracedTensor
from core.units import format_bytes, format_exact
from pages.components.tensor_map.tensor_map import MAX_CELLS, can_be_drawn, steps_of, tensor_map
from pages.shared.settings import presenting, unit_system
from pages.shared.tabbed_page import Part, Shown
from pages.shared.tensors.place import chosen_place
from pages.shared.tensors.program import show_refusal
from pages.tensors.strides_and_views.elsewhere import links
from pages.tensors.strides_and_views.inputs import ASK, Case
from pages.tensors.strides_and_views.snippet import snippet
from pages.tensors.strides_and_views.why import verdict_sentence

ROOM: Final = 400  # pixels of the picture
PRESENT_ROOM: Final = 330


def storage(case: Case) -> Shown:
    """Show where the elements of every step lie."""
    ran = case.trace
    step, index = chosen_place(ASK, ran, len(steps_of(ran)) - 1)
    tensors = {tensor.key: tensor for tensor in ran.tensors}
    shown = tensors[steps_of(ran)[step]["tensor"]]
    if can_be_drawn(ran):
        tensor_map(
            ran,
            key=ASK.key("map"),
            step=step,
            index=index,
            room=PRESENT_ROOM if presenting() else ROOM,
            file_name="tensor",
            on_choice=partial(ASK.write, "at"),
        )
    else:
        st.info(
            _(
                "More than {count} elements are not drawn. Shapes, strides and bytes are those of "
                "the real calls; the tab Steps has them all."
            ).format(count=format_exact(MAX_CELLS))
        )
    if ran.error:
        show_refusal(ASK, ran.error)
    refused = _refused(case)
    return Shown(
        headline=refused or _headline(shown, index),
        beside_headline=_offer_why if refused and ran.refused_shape else None,
        part=Part(key=ASK.key("map"), file_name="tensor") if can_be_drawn(ran) else None,
        notes=[_inspection(shown)],
        below=None if presenting() else partial(links, case, shown, _address(shown, index)),
        code=snippet(case),
    )


def _refused(case: Case) -> str:
    """Return what ended the program, unless the reader looks at a step before.

    Of a view that is refused: the dimensions that forbid it.
    """
    ran = case.trace
    if ran.error is None or ASK.used("at"):
        return ""
    if ran.refused_shape is None:
        return ran.error.message
    (tensor,) = [each for each in ran.tensors if each.key == ran.refused_tensor]
    return verdict_sentence(tensor, ran.refused_shape)


def _offer_why() -> None:
    label = _("Why, and what to do")
    st.button(label, key=ASK.key("to_why"), on_click=lambda: ASK.set("tab", "why"))


def _address(shown: TracedTensor, index: tuple[int, ...]) -> int | None:
    """Return the address of an element; None where there is no such element."""
    layout = shown.layout
    if not layout.numel:
        return None
    jumps = trace_index(index, layout.shape, layout.stride)
    return layout.offset + sum(step.jump for step in jumps)


def _headline(shown: TracedTensor, index: tuple[int, ...]) -> str:
    layout = shown.layout
    if not layout.numel:
        return _("`{text}` has no element: shape {shape}").format(
            text=_short(shown.text), shape=layout.shape
        )
    steps = trace_index(index, layout.shape, layout.stride)
    terms = " + ".join([str(layout.offset), *(f"{step.index}·{step.stride}" for step in steps)])
    return _("Element [{index}] of `{text}` is stored at {sum} = {address} in its storage").format(
        text=_short(shown.text),
        index=", ".join(map(str, index)),
        sum=terms,
        address=_address(shown, index),
    )


def _short(text: str) -> str:
    return text if len(text) <= 40 else f"…{text[-38:]}"


def _inspection(tensor: TracedTensor) -> str:
    layout = tensor.layout
    return _(
        "shape {shape} · stride {stride} · offset {offset} · {dtype} · {numel} elements of "
        "{itemsize} bytes = {size} · contiguous: {contiguous}"
    ).format(
        shape=layout.shape,
        stride=layout.stride,
        offset=layout.offset,
        dtype=tensor.dtype,
        numel=format_exact(layout.numel),
        itemsize=layout.itemsize,
        size=format_bytes(layout.num_bytes, unit_system()),
        contiguous=_("yes") if layout.is_contiguous else _("no"),
    )
