"""The tensor of a step, its storage, and the way from an index to an address; the steps listed."""

from collections.abc import Sequence
from functools import partial
from operator import lt
from typing import Any, Final

import streamlit as st

from core.budget.catalogue.models import MODELS
from core.dtypes import FORMATS
from core.language import N_, _
from core.tensors.layout import LINE_BYTES, MAX_ADDRESSES, Layout, contiguous, trace_index
from core.tensors.rules import permute
from core.tensors.trace import Step, Trace, TracedTensor
from core.units import format_bytes, format_exact
from pages.components.bit_grid.bit_grid import hex_code
from pages.components.tensor_map.tensor_map import (
    MAX_CELLS,
    can_be_drawn,
    steps_of,
    telling_index,
    tensor_map,
)
from pages.shared.charts import show_table, table_csv
from pages.shared.page_links import show_link
from pages.shared.questions import Choice, predict_then_reveal
from pages.shared.settings import presenting, unit_system
from pages.shared.tabbed_page import Part, Shown, Tab
from pages.shared.tensors.program import show_printed, show_refusal
from pages.shared.tensors.table_cells import aten_columns, kind_text, size_text
from pages.tensors.strides_and_views.inputs import ASK, Case
from pages.tensors.strides_and_views.why import verdict_sentence

ROOM: Final = {False: 400, True: 330}  # pixels of the picture, on a projector less


def storage(case: Case) -> Shown:
    ran = case.trace
    steps = steps_of(ran)
    at, index, shown = _chosen_place(ran, [each["tensor"] for each in steps])
    step = ([None] * len(ran.inputs) + [each for each in ran.steps if each.outputs])[at]
    is_drawn = can_be_drawn(ran)
    if is_drawn:
        tensor_map(
            ran,
            steps,
            key=ASK.key("map"),
            step=at,
            index=index,
            room=ROOM[presenting()],
            file_name="tensor",
            on_choice=partial(ASK.write, "at"),
        )
    else:
        st.info(
            _(
                "More than {count} elements are not drawn. Shapes, strides and bytes are those of "
                "the real calls."
            ).format(count=format_exact(MAX_CELLS))
        )
        if ran.steps:
            _show_steps(ran.steps)
    show_printed(ran.printed)
    if ran.error:
        show_refusal(ASK, ran.error)
    refused = _refused(case)
    return Shown(
        headline=refused or _headline(shown, index, step),
        beside_headline=_offer_why if refused and ran.refused_shape else None,
        part=Part(key=ASK.key("map"), file_name="tensor") if is_drawn else None,
        notes=[_inspection(shown), *_reading_in_order(shown.layout)],
        below=None if presenting() else partial(_below, case, shown, index, is_drawn=is_drawn),
        code=_snippet(case),
    )


def _chosen_place(ran: Trace, shown: Sequence[str]) -> tuple[int, tuple[int, ...], TracedTensor]:
    """Return the step and the index that the setting `at` names, as far as they are there."""
    with st.container(key=f"bound_{ASK.key('at')}"):  # a field that nobody sees
        said = ASK.text("at", ASK.key("at"), max_chars=60)
    word, _colon, places = said.partition(":")
    is_there = word.isdecimal() and int(word) < len(shown)
    step = int(word) if is_there else len(shown) - 1
    tensor = next(each for each in ran.tensors if each.key == shown[step])
    shape = tensor.layout.shape
    index = tuple(int(place) for place in places.split(",") if place.isdecimal())
    fits = len(index) == len(shape) and all(map(lt, index, shape))
    return step, index if is_there and fits else telling_index(shape), tensor


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


def _address(layout: Layout, index: tuple[int, ...]) -> int:
    jumps = trace_index(index, layout.shape, layout.stride)
    return layout.offset + sum(step.jump for step in jumps)


def _headline(shown: TracedTensor, index: tuple[int, ...], step: Step | None) -> str:
    layout = shown.layout
    text = shown.text if len(shown.text) <= 40 else f"…{shown.text[-38:]}"
    if not layout.numel:
        return _("`{text}` has no element: shape {shape}").format(text=text, shape=layout.shape)
    steps = trace_index(index, layout.shape, layout.stride)
    terms = " + ".join([str(layout.offset), *(f"{step.index}·{step.stride}" for step in steps)])
    where = _("Element [{index}] of `{text}` is stored at {sum} = {address} in its storage").format(
        text=text, index=", ".join(map(str, index)), sum=terms, address=_address(layout, index)
    )
    if step is None or not (step.bytes_copied or step.bytes_hidden):
        return where
    if not step.bytes_hidden:
        return _("{where}, a copy of {size}").format(where=where, size=size_text(step.bytes_copied))
    message = _("{where}; on the way {hidden} were copied that no result keeps")
    return message.format(where=where, hidden=size_text(step.bytes_hidden))


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
        contiguous=_contiguous(layout),
    )


def _contiguous(layout: Layout) -> str:
    """Return whether it is contiguous, and in torch's format for images or volumes too."""
    name = "channels_last_3d" if layout.ndim == 5 else "channels_last"
    if not layout.is_channels_last:
        return _("yes") if layout.is_contiguous else _("no")
    return _("yes, and {format}").format(format=name) if layout.is_contiguous else name


def _reading_in_order(layout: Layout) -> list[str]:
    """Return what the strides cost: memory comes in cache lines, not in elements."""
    if presenting() or not 0 < layout.numel <= MAX_ADDRESSES:
        return []
    message = _(
        "Read in its own order, it enters another cache line of {line} bytes {changes} times; "
        "{lines} lines hold it."
    )
    return [
        message.format(
            line=LINE_BYTES,
            changes=format_exact(layout.line_changes()),
            lines=format_exact(layout.lines_touched()),
        )
    ]


def _below(case: Case, shown: TracedTensor, index: tuple[int, ...], *, is_drawn: bool) -> None:
    """Show the links, and below them the steps as a table where the picture has them as chips."""
    with st.container(horizontal=True, key=ASK.key("elsewhere")):
        if index or not shown.layout.shape:
            _link_to_its_bits(case, shown, _address(shown.layout, index))
        _link_to_training_memory(case)
    if not is_drawn or not case.trace.steps:
        return
    table = st.expander(
        _("All steps"), key=ASK.key("all_steps"), icon=":material/table:", on_change="rerun"
    )
    if table.open:
        with table:
            _show_steps(case.trace.steps)


def _show_steps(steps: Sequence[Step]) -> None:
    """List layout, storage and bytes of each step, and what ran underneath: hidden copies."""
    layouts = [step.outputs[0].layout for step in steps]
    table: dict[str, Sequence[Any]] = {
        _("Expression"): [step.text.replace("\n", " ") for step in steps],
        _("Kind"): [kind_text(step.kind) for step in steps],
        _("Shape"): [str(layout.shape) for layout in layouts],
        _("Stride"): [str(layout.stride) for layout in layouts],
        _("Copied"): [size_text(step.bytes_copied) for step in steps],
    }
    if not presenting():  # a projector has no room for more
        table |= {
            _("Offset"): [layout.offset for layout in layouts],
            _("Storage"): [step.outputs[0].storage for step in steps],
            _("Contiguous"): list(map(_contiguous, layouts)),
        }
    show_table(table)
    st.download_button("CSV", table_csv(table), "steps.csv", "text/csv", key=ASK.key("csv"))
    rows = [(step, row) for step in steps for row in step.aten]
    st.markdown(_("**Underneath**: what autograd and compilers see. A `clone` is a copy."))
    calls = {_("Expression"): [step.call for step, _row in rows]}
    show_table(calls | aten_columns([row for _step, row in rows]))


def _link_to_its_bits(case: Case, shown: TracedTensor, address: int) -> None:
    (storage,) = [each for each in case.trace.storages if each.key == shown.storage]
    is_known = storage.dtype == shown.dtype and address < len(storage.values)
    if shown.dtype not in FORMATS or not is_known:
        return
    fmt, value = FORMATS[shown.dtype], storage.values[address]
    label = _("The bits of {value} in {dtype} →").format(value=f"{value:g}", dtype=fmt.name)
    code = hex_code(fmt, int(fmt.encode(value)))
    query = {"bits_tab": "grid", "bits_format": fmt.name, "bits_code": code}
    show_link("dtypes/bit_layouts", label, query)


def _link_to_training_memory(case: Case) -> None:
    preset = case.preset
    if preset is None or not preset.model:
        return
    query = {
        "plan_model": preset.model,
        "plan_batch": str(preset.batch),
        "plan_length": str(preset.seq),
    }
    label = _("What training {model} keeps at this size →").format(model=MODELS[preset.model].name)
    show_link("plan/training_memory", label, query)


def _snippet(case: Case) -> str:
    """Return code that does what the page did, up to the statement that was refused."""
    imports, _blank, body = (case.trace.script or "import torch\n\n").partition("\n\n")
    name = "result" if "result = " in body else "x"
    size = " * ".join(map(str, case.shape))
    made = f"torch.arange({size}).to(torch.{case.dtype}).view({case.shape})"
    if not case.has_data:
        made = f'torch.empty({case.shape}, dtype=torch.{case.dtype}, device="meta")'
    show = f"print(tuple({name}.shape), {name}.stride(), {name}.storage_offset())"
    return "\n".join([imports, "", f"x = {made}", body, show])


_INDEX = (1, 2)


def ask_after_transpose() -> None:
    """Ask where y[1, 2] lies if y = x.t(); the addresses are computed."""
    x = contiguous((4, 4))
    y = permute(x, (1, 0))
    before = sum(step.jump for step in trace_index(_INDEX, x.shape, x.stride))
    after = sum(step.jump for step in trace_index(_INDEX, y.shape, y.stride))
    choices = [
        Choice(
            _("At {address}, as x[1, 2]").format(address=before),
            _("So it would be if `t()` had moved the numbers. They stay where they are, and the "
              "strides change places."),
        ),
        Choice(_("At {address}").format(address=after)),
        Choice(
            _("In a new storage"),
            _("`t()` is a view: it makes a new tensor of the same storage, and copies nothing."),
        ),
    ]  # fmt: skip
    predict_then_reveal(
        ASK.key("after_transpose"),
        _(
            "x has the shape {shape} and the strides {stride}. Where in the storage does y[1, 2] "
            "lie after y = x.t()?"
        ).format(shape=x.shape, stride=x.stride),
        choices,
        _(
            "The strides of y are {stride}, so y[1, 2] is stored at 1·{first} + 2·{second} = "
            "{address}: where x[2, 1] is stored."
        ).format(stride=y.stride, first=y.stride[0], second=y.stride[1], address=after),
    )


TAB: Final = Tab(label=N_("Storage and strides"), show=storage, question=ask_after_transpose)
