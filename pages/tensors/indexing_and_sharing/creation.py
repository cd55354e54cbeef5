"""What makes a tensor: its storage, dtype and strides; and where it lives."""

from collections.abc import Sequence
from typing import Final

import streamlit as st

from core.language import N_, _
from core.tensors.creation import CREATIONS, Made, make
from core.tensors.devices import OnDevice, on_this_machine
from core.tensors.strided_windows import MAX_LENGTH
from pages.shared.charts import show_table
from pages.shared.settings import presenting
from pages.shared.tabbed_page import Shown, Tab
from pages.shared.tensors.table_cells import size_text
from pages.tensors.indexing_and_sharing.inputs import ASK
from pages.tensors.indexing_and_sharing.maps import aside, attributes, show_map

DEVICES: Final = "devices"
_SNIPPET: Final = """
import torch

{body}
storage = made.untyped_storage()
print(made.dtype, tuple(made.shape), made.stride(), storage.nbytes(), "B", made.is_contiguous())
"""
_DEVICES: Final = """
import torch

x, y = torch.zeros(32, 32), torch.zeros(32, 32)
m = torch.zeros(32, 32, device="meta")
print(x.device, x.untyped_storage().nbytes() + y.untyped_storage().nbytes(), "B")
print(x.to("cpu") is x)
try:
    x + m
except RuntimeError as error:
    print(error)
"""


def choose_call() -> Made | None:
    """Show what makes tensors, and the lengths; return what the call made, None for the devices."""
    names = {key: row.label or key for key, row in CREATIONS.items()}
    names[DEVICES] = _("Devices: CPU, GPU, meta")
    key = ASK.selectbox("call", _("Call"), tuple(names), default="zeros", labels=names.__getitem__)
    is_fixed = key == DEVICES or "{" not in CREATIONS[key].code
    rows = ASK.slider("height", _("Rows"), 1, MAX_LENGTH, default=2, step=1, disabled=is_fixed)
    columns = ASK.slider("width", _("Columns"), 1, MAX_LENGTH, default=3, step=1, disabled=is_fixed)
    return None if key == DEVICES else make(key, rows, columns)


def creation(made: Made | None) -> Shown:
    if made is None:
        return _devices()
    part = show_map(made.trace, "created")
    return Shown(
        headline=_headline(made), part=part, notes=aside(_notes(made)), code=_snippet(made)
    )


def _headline(made: Made) -> str:
    tensor = made.step.outputs[0]
    values = {
        "code": made.code.rpartition("\n")[2],
        "count": tensor.layout.numel,
        "dtype": tensor.dtype,
        "size": size_text(tensor.layout.storage_bytes),
        "stride": tensor.layout.stride,
        "values": ", ".join(f"{value:.4g}" for value in made.values),
    }
    if len(made.values) < 4:
        return _("`{code}` makes {size}: [{values}] in {dtype}").format(**values)
    message = _("`{code}` makes {size}: {count} elements of {dtype}, strides {stride}")
    if made.step.kind == "view":
        message = _("`{code}` shares {size}: {count} elements of {dtype}, strides {stride}")
    return message.format(**values)


def _notes(made: Made) -> list[str]:
    notes = [attributes(made.step.outputs[0])]
    if made.step.call == "torch.empty":
        notes.append(
            _("empty writes nothing: the numbers would be whatever the memory held. Here it is "
              "filled with NaN, as torch does where results must be deterministic.")
        )  # fmt: skip
    return notes


def _snippet(made: Made) -> str:
    *before, last = made.code.split("\n")
    return _SNIPPET.format(body="\n".join([*before, f"made = {last}"]))


def _devices() -> Shown:
    rows = _ran_rows()
    (mixed,) = [row for row in rows if row.code == "x + m"]
    # On a projector what failed has no room; the headline says what is refused.
    _show_rows([row for row in rows if not presenting() or not row.error or row is mixed])
    made = [row for row in rows if row.num_bytes and row.device == "cpu"]
    headline = _("{count} tensors of 32 × 32 take {num_bytes:,} B on the CPU; `x + m`: `{error}`")
    note = _(
        "A tensor lives on one device, the CPU unless you say otherwise. Operations between "
        "devices are refused; `.to` copies, and returns the tensor itself if it is there already. "
        "`meta` has shapes without data. The rows with cuda need a GPU."
    )
    return Shown(
        headline=headline.format(
            count=len(made),
            num_bytes=sum(row.num_bytes for row in made),
            error=mixed.error.partition(": ")[2],
        ),
        notes=aside([note]),
        code=_DEVICES,
    )


def _show_rows(rows: Sequence[OnDevice]) -> None:
    said = {_("What PyTorch says"): [f"`{row.error}`" if row.error else "" for row in rows]}
    show_table(
        {
            _("Line of code"): [f"`{row.code}`" for row in rows],
            _("Device"): [row.device or "–" for row in rows],
            _("Allocated"): ["–" if row.error else size_text(row.num_bytes) for row in rows],
        }
        | ({} if presenting() else said)
    )


@st.cache_data(max_entries=1, show_spinner=False)
def _ran_rows() -> tuple[OnDevice, ...]:
    return on_this_machine()


TAB: Final = Tab(label=N_("Creation and devices"), show=creation, choose=choose_call)
