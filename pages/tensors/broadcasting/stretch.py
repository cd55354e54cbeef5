"""Stride 0: a small operand that is read as a large one, on its own storage."""

from functools import partial
from typing import Final

import streamlit as st

from core.budget import Item
from core.budget.by_hand.tensor_rules import materialized_bytes, stored_bytes
from core.figures.tensors.broadcasting.bytes import bytes_picture
from core.language import _
from core.tensors.torch_answers import HOW, How, run_stretch
from core.tensors.trace import Step, TracedTensor
from core.units import format_exact
from pages.components.tensor_map.tensor_map import MAX_CELLS, can_be_drawn, tensor_map
from pages.shared.settings import look, presenting
from pages.shared.tabbed_page import Chart, Part, Shown
from pages.shared.tensors.place import chosen_place
from pages.shared.tensors.table_cells import size_text
from pages.tensors.broadcasting.inputs import ASK, Case
from pages.tensors.broadcasting.snippets import stretch_code

ROOM: Final = 340  # pixels of the picture
PRESENT_ROOM: Final = 260


def choose_how() -> How:
    """Ask how the operands become as large as the result."""
    return ASK.segmented(
        "how",
        _("Stretched by"),
        HOW,
        default="expand",
        help=_(
            "`expand` reads with stride 0, as broadcasting does; `repeat` writes every element."
        ),
    )


def stretch(chosen: Case, how: How) -> Shown:
    """Show the stretched operands on their storages, and what they would weigh written out.

    Raises:
        ValueError: If the shapes do not go together.
    """
    case = chosen.case
    is_alone = presenting() or how == "repeat"  # every copy needs room for its own storage
    ran = run_stretch(case, how, chosen.dtype, 1 if is_alone else len(case.operands))
    at, index = chosen_place(ASK, ran, len(ran.inputs))
    step = ran.steps[at % len(ran.steps)]  # a given tensor is told with what becomes of it
    tensors = {each.key: each for each in ran.tensors}
    charts, part = [], None
    if can_be_drawn(ran):
        part = Part(key=ASK.key("map"), file_name="stride-0")
        tensor_map(
            ran, key=part.key, step=at, index=index, file_name=part.file_name,
            room=PRESENT_ROOM if presenting() else ROOM,
            on_choice=partial(ASK.write, "at"),
        )  # fmt: skip
    else:
        st.caption(_too_large())
        charts = [Chart(picture=bytes_picture(case, look()), file_name="operand-bytes")]
    given, wide = tensors[step.inputs[0]], step.outputs[0]
    return Shown(
        headline=_headline(step, given),
        charts=charts,
        part=part,
        numbers=_numbers(given, wide),
        numbers_below=True,
        notes=[] if presenting() else [_given(given)],
        code=stretch_code(step, given),
    )


def _numbers(given: TracedTensor, wide: TracedTensor) -> list[tuple[str, Item]]:
    one, other = given.layout, wide.layout
    return [
        (_("Stored"), stored_bytes(given.text, one.numel, one.itemsize)),
        (_("Written out"), materialized_bytes(wide.text, other.numel, other.itemsize)),
    ]


def _given(given: TracedTensor) -> str:
    message = _("{name} itself has the shape {shape} and the strides {stride}; the stride of a "
                "length 1 is never used, and becomes 0 when it stretches.")  # fmt: skip
    layout = given.layout
    return message.format(name=given.text, shape=layout.shape, stride=layout.stride)


def _too_large() -> str:
    return _("Tensors of more than {count} elements are drawn as bars of bytes.").format(
        count=format_exact(MAX_CELLS)
    )


def _headline(step: Step, given: TracedTensor) -> str:
    wide = step.outputs[0].layout
    words = {"call": step.text, "stride": wide.stride, "stored": format_exact(given.layout.numel),
             "read": format_exact(wide.numel),
             "size": size_text(step.bytes_copied)}  # fmt: skip
    if step.kind == "copy":
        message = _("`{call}` copies {size}: {stored} elements become {read}, strides {stride}")
        return message.format(**words)
    message = _(
        "`{call}` has strides {stride}: {stored} stored elements read as {read}, {size} copied"
    )
    return message.format(**words)
