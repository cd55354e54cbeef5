"""The reader's own tensor: a `.npy` file, or one tensor of a `.safetensors` file."""

from typing import Final

import streamlit as st

from core.dtypes.blocks.read_array import MAX_BYTES, read_array
from core.dtypes.blocks.read_safetensors import (
    BITS,
    StoredTensor,
    is_safetensors,
    list_tensors,
    main_tensor,
    read_stored,
)
from core.dtypes.blocks.sample_tensors import looked_at
from core.language import _
from pages.dtypes.quantization.chosen import PAGE, Chosen, sizes
from pages.shared.as_typed import as_typed
from pages.shared.settings import locked

_LOOK: Final = "from core.dtypes.blocks.sample_tensors import looked_at"
_READ_ARRAY: Final = "from core.dtypes.blocks.read_array import read_array"
_READ_TENSOR: Final = "from core.dtypes.blocks.read_safetensors import read_tensor"
_PATH: Final = "from pathlib import Path"
SMALL_BITS: Final = 8  # up to here a format is used with a scale, which lies in another tensor


def choose_upload() -> Chosen | None:
    """Show the upload and return its tensor; None until there is a file that can be read."""
    megabytes = MAX_BYTES // 10**6
    left, right = st.columns([3, 2])
    file = left.file_uploader(
        _("A .npy or .safetensors file of at most {size} MB").format(size=megabytes),
        key=f"{PAGE}_upload",
        max_upload_size=megabytes,
        disabled=locked(),
        help=_(
            "Too large? Save a part of one tensor: `numpy.save('part.npy', w[:512])` or "
            "`save_file({'w': w[:512].contiguous()}, 'part.safetensors')`."
        ),
    )
    if file is None:
        right.caption(_("Choose a file; until then a normal tensor is shown."))
        return None
    data = file.getvalue()
    read = _one_of_many if is_safetensors(file.name, data) else _only_one
    try:
        with right:
            return read(file.name, data)
    except ValueError as error:
        right.error(as_typed(str(error)))
        return None


def _only_one(name: str, data: bytes) -> Chosen:
    values = read_array(name, data)
    return Chosen(
        x=looked_at(values),
        shape=values.shape,
        code=f"looked_at(read_array({name!r}, Path({name!r}).read_bytes()))",
        imports=(_PATH, _READ_ARRAY, _LOOK),
    )


def _one_of_many(name: str, data: bytes) -> Chosen:
    """Show which tensors the file holds and return the chosen one."""
    tensors = list_tensors(name, data)
    tensor = st.selectbox(
        _("Tensor of the file ({count} in it)").format(count=len(tensors)),
        tensors,
        index=tensors.index(main_tensor(tensors)),
        key=f"{PAGE}_part",
        format_func=_label,
        disabled=locked(),
    )
    values = read_stored(name, data, tensor)
    return Chosen(
        x=looked_at(values),
        shape=values.shape,
        code=f"looked_at(read_tensor({name!r}, Path({name!r}).read_bytes(), {tensor.name!r}))",
        imports=(_PATH, _READ_TENSOR, _LOOK),
        stored_as=tensor.dtype if BITS[tensor.dtype] <= SMALL_BITS else "",
    )


def _label(tensor: StoredTensor) -> str:
    return f"{tensor.name} · {tensor.dtype} · {sizes(tensor.shape)}"
