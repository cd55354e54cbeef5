"""The tensor map: a step's tensor as a grid, the storages as strips, a needle between them."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

import streamlit as st

from core.language import N_, _
from core.tensors.trace import Step, Trace, TracedStorage, TracedTensor
from core.units import format_bytes
from pages.components.part import FILE_WORDS, SVG, browser_part, translated
from pages.shared.settings import presenting, unit_system

MAX_CELLS: Final = 4096  # of one tensor, and elements of one storage, that are drawn
MAX_VALUE_CHARS: Final = 65_536  # of all values that are sent; a map that large writes none
_mount = browser_part(__file__, *SVG, "geometry.js", "draw.js", "many.js")
# Every word that the picture shows; its JavaScript holds none.
WORDS: Final = {
    "steps": N_("Steps of the program"),
    "picture": N_(
        "The tensor above its storage. Arrow keys move along the last two dimensions, Page Up and "
        "Page Down along the third from the end, brackets go to the step before and behind."
    ),
    "axis": N_("dimension {axis}: stride {stride}"),
    "axis_short": N_("dim {axis}"),
    "stride_short": N_("stride {stride}"),
    "storage": N_("storage {key} · {size}"),
    "offset": N_("offset {offset}"),
    "sum": N_("[{index}] is stored at {sum} = {address}"),
    "sum_value": N_("[{index}] = {value} is stored at {sum} = {address}"),
    "no_element": N_("This tensor has no element."),
    "back": "‹",
    "back_label": N_("The element before"),
    "next": "›",
    "next_label": N_("The next element"),
    "play": "▶",
    "pause": "❚❚",
    "play_label": N_("Walk through all elements"),
    **FILE_WORDS,
}
KINDS: Final = {
    "given": N_("given"),
    "view": N_("view · 0 bytes copied"),
    "same": N_("the same tensor"),
    "copy": N_("copy · {size}"),
    "new": N_("new · {size}"),
}


def can_be_drawn(trace: Trace) -> bool:
    """Whether every tensor and storage of a program is small enough to be drawn."""
    tensors = trace.tensors
    sizes = [tensor.layout.numel for tensor in tensors]
    sizes += [tensor.layout.storage_bytes // tensor.layout.itemsize for tensor in tensors]
    return bool(tensors) and max(sizes) <= MAX_CELLS


def tensor_map(  # noqa: PLR0913  what is shown, where, and who hears of a choice
    trace: Trace,
    steps: Sequence[Mapping[str, Any]],
    *,
    key: str,
    step: int,
    index: Sequence[int],
    room: int,
    file_name: str,
    on_choice: Callable[[str], None],
    changed: Mapping[str, Sequence[int]] | None = None,
) -> None:
    """Show the tensors of a program that is small enough to be drawn, a step at a time.

    `steps` are those of `steps_of`: the inputs count as the first. `index` is of the chosen
    element, empty for the first one. `on_choice` is called with "step:i,j"; `room` is the height of
    the picture in pixels; `changed` says which addresses of a storage are marked, in its elements.
    """
    data = {
        "tensors": {tensor.key: _tensor_row(tensor) for tensor in trace.tensors},
        "storages": _storage_rows(trace.storages, changed or {}),
        "steps": list(steps),
        "step": step,
        "index": list(index),
        "room": room,
        "file_name": file_name,
        "words": translated(WORDS),
        "present": presenting(),
    }

    def chosen() -> None:
        on_choice(str(st.session_state[key]["chosen"]))

    _mount(key=key, data=[data], height="content", on_chosen_change=chosen)


def telling_index(shape: Sequence[int]) -> tuple[int, ...]:
    """Return an index whose places differ, so that the strides can be told apart."""
    if 0 in shape:
        return ()
    last = len(shape) - 1
    return tuple(min(2 if axis == last else 1, length - 1) for axis, length in enumerate(shape))


def steps_of(trace: Trace) -> list[dict[str, Any]]:
    """Return what stands on the switches: one for each input, then one for each step."""
    given = [
        {"label": each.text, "kind": "given", "badge": _(KINDS["given"]), "tensor": each.key}
        for each in trace.inputs
    ]
    names = {keys[0]: name for name, keys in trace.variables.items() if keys}
    return given + [
        {
            "label": _label(step, names.get(output.key, "")),
            "kind": step.kind,
            "badge": _badge(step),
            "tensor": output.key,
        }
        for step in trace.steps
        for output in step.outputs[:1]
    ]


def _label(step: Step, name: str) -> str:
    """Return the last call of a chain, and the variable that keeps its result: "y = .view(6)"."""
    call = _last_call(step)
    return f"{name} = {call}" if name and step.kind != "same" else call


def _last_call(step: Step) -> str:
    """Return ".view(6)" of "x.t().view(6)"."""
    lines = step.text.split("\n")
    depth, text = 0, " ".join(line.strip() for line in lines)
    for place in reversed(range(len(text))):
        depth += (text[place] in ")]") - (text[place] in "([")
        if text[place] == "." and depth == 0 and not text[:place].endswith(("torch", "F")):
            return text[place:]
    return text


def _badge(step: Step) -> str:
    size = format_bytes(step.outputs[0].layout.storage_bytes, unit_system())
    return _(KINDS[step.kind]).format(size=size)


def _tensor_row(tensor: TracedTensor) -> dict[str, Any]:
    layout = tensor.layout
    return {
        "shape": list(layout.shape),
        "stride": list(layout.stride),
        "offset": layout.offset,
        "itemsize": layout.itemsize,
        "dtype": tensor.dtype,
        "storage": tensor.storage,
    }


def _storage_rows(
    storages: Sequence[TracedStorage], changed: Mapping[str, Sequence[int]]
) -> dict[str, dict[str, Any]]:
    """Return what is known of each storage; values as long as they are small together."""
    rows, num_chars = {}, 0
    for storage in storages:
        row = _storage_row(storage, changed.get(storage.key, ()))
        num_chars += sum(len(value) + len('"",') for value in row["values"])
        rows[storage.key] = row if num_chars <= MAX_VALUE_CHARS else row | {"values": []}
    return rows


def _storage_row(storage: TracedStorage, changed: Sequence[int]) -> dict[str, Any]:
    return {
        "key": storage.key,
        "num_bytes": storage.num_bytes,
        "size": format_bytes(storage.num_bytes, unit_system()),
        "itemsize": storage.itemsize,
        "dtype": storage.dtype,
        "values": [f"{value:.4g}" for value in storage.values],
        "changed": list(changed),
    }
