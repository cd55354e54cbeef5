"""The tensor that is quantized: a sample, a weight of a run, or the reader's own file."""

import hashlib
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

import numpy as np
import streamlit as st

from core.dtypes.blocks.read_array import MAX_BYTES, read_array
from core.dtypes.blocks.read_safetensors import (
    Role,
    is_safetensors,
    list_tensors,
    main_tensor,
    read_stored,
)
from core.dtypes.blocks.sample_tensors import SAMPLE_NAMES, looked_at, teaching_tensor
from core.dtypes.rounding import Floats
from core.language import N_, _, ngettext
from core.train.learning.tensors import MATRICES, newest_checkpoint, read_weight, runs_with_weights
from core.train.run.directory import runs_directory
from pages.server.background import jobs
from pages.shared.inputs import Inputs
from pages.shared.prose import as_typed
from pages.shared.settings import locked

NEWEST: Final = "newest"
RUN, UPLOAD = "run", "upload"
_TENSORS: Final = {
    "normal": N_("normal (weights)"),
    "heavy_tailed": N_("heavy-tailed (gradients)"),
    "with_outliers": N_("0.1 % outliers × 50"),
    "laplace": N_("Laplace"),
    "all_zero": N_("all zero"),
    "ramp": N_("ramps up to 957"),
    "one_nan": N_("one NaN"),
    RUN: N_("a weight of a run"),
    UPLOAD: N_("my own file"),
}
ROLE_WORDS: Final[Mapping[Role, str]] = {
    "codes": N_(
        "The values are what {dtype} says: a scale that the file keeps in another tensor is not "
        "applied."
    ),
    "packed": N_(
        "By its name this tensor holds packed codes: each {dtype} is several of them side by side, "
        "and their scales lie in another tensor. What is shown are those numbers, not weights."
    ),
    "scales": N_("By its name this tensor holds the scales ({dtype}) of another one, not weights."),
    "groups": N_("By its name this tensor says which group each input is in: no weights."),
}
_PLAIN: Final = {
    "normal": """rng = np.random.default_rng({seed})
x = rng.normal(0, 0.02, ({size}, {size})).astype(np.float32).astype(float)""",
    "heavy_tailed": """rng = np.random.default_rng({seed})
x = (0.02 * rng.standard_t(4, ({size}, {size}))).astype(np.float32).astype(float)""",
    "with_outliers": """rng = np.random.default_rng({seed})
x = rng.normal(0, 0.02, ({size}, {size}))
x = np.where(rng.random(x.shape) < 0.001, 50 * x, x).astype(np.float32).astype(float)""",
    "laplace": """rng = np.random.default_rng({seed})
x = rng.laplace(0, 0.02 / np.sqrt(2), ({size}, {size})).astype(np.float32).astype(float)""",
    "ramp": """steps = np.rint(np.arange(1, 33) * 957 / 32)
x = np.resize(steps, ({size}, {size}))""",
}
_LOOK: Final = "from core.dtypes.blocks.sample_tensors import looked_at"
_PATH: Final = "from pathlib import Path"
Shape = tuple[int, ...]


@dataclass(frozen=True, kw_only=True, eq=False, slots=True)
class Chosen:
    """The tensor that is looked at."""

    x: Floats
    shape: Shape  # the shape that it has, before it was cut
    code: str
    imports: tuple[str, ...]
    plain: str = ""  # lines that make it as `x` with numpy (`np`) alone, or "" where core has to
    stored_as: str = ""  # the word of a file for the dtype of the tensor, or ""
    role: Role = "numbers"

    def notes(self) -> list[str]:
        told = []
        if self.shape != self.x.shape:
            is_cut = math.prod(self.shape) > self.x.size
            text = (
                _("Looked at: the first {part} of a tensor of shape {shape}.")
                if is_cut
                else _("Shape {shape} is looked at as {part}: blocks run along the last axis.")
            )
            told.append(text.format(part=sizes(self.x.shape), shape=sizes(self.shape)))
        if self.role in ROLE_WORDS:
            told.append(_(ROLE_WORDS[self.role]).format(dtype=f"`{self.stored_as}`"))
        if count := int((~np.isfinite(self.x)).sum()):
            text = ngettext(
                "{count} value is NaN or infinite; what shares a scale with it is lost, and the "
                "decibels speak of the rest.",
                "{count} values are NaN or infinite; what shares a scale with them is lost, and "
                "the decibels speak of the rest.",
                count,
            )
            told.append(text.format(count=count))
        if not self.x.any():
            told.append(
                _("All values are zero: no scale fits better than another, and nothing is lost.")
            )
        return told


def sizes(shape: Shape) -> str:
    """Return a shape as it is spoken, a single number's as "()"."""
    return " × ".join(map(str, shape)) or "()"


def choose_tensor(ask: Inputs) -> str:
    """Show the list of tensors and return the key of the chosen one."""
    return ask.selectbox("tensor", _("Tensor"), _TENSORS, default="normal")


def make_tensor(ask: Inputs, name: str, size: int, seed: int) -> Chosen:
    """Return the chosen tensor, after further questions if it is the reader's own.

    What cannot be had becomes a sentence and a normal tensor.
    """
    chosen = None
    if name == RUN:
        chosen = _weight_of_a_run(ask)
    elif name == UPLOAD:
        chosen = _uploaded(ask)
    return chosen or _sample(name if name in SAMPLE_NAMES else "normal", size, seed)


def _sample(name: str, size: int, seed: int) -> Chosen:
    x = _made(name, size, seed)
    return Chosen(
        x=x,
        shape=x.shape,
        code=f"looked_at(teaching_tensor({name!r}, {size}, {seed}))",
        imports=("from core.dtypes.blocks.sample_tensors import looked_at, teaching_tensor",),
        plain=_PLAIN[name].format(size=size, seed=seed) if name in _PLAIN else "",
    )


@st.cache_data(max_entries=16, show_spinner=False)
def _made(name: str, size: int, seed: int) -> Floats:
    return looked_at(teaching_tensor(name, size, seed))


def _weight_of_a_run(ask: Inputs) -> Chosen | None:
    names = runs_with_weights(runs_directory())
    if not names:
        st.info(
            _(
                "No run has a checkpoint yet: train a model on the page “Live training”. "
                "Until then a normal tensor is shown."
            )
        )
        return None
    run = ask.selectbox(
        "run",
        _("Run"),
        (NEWEST, *names),
        default=NEWEST,
        labels=lambda name: _("the newest") if name == NEWEST else name,
    )
    matrix = ask.selectbox(
        "matrix", _("Matrix"), tuple(MATRICES), default="up", labels=lambda key: _(MATRICES[key][0])
    )
    return _read_weight(names[0] if run == NEWEST else run, matrix)


def _read_weight(name: str, matrix: str) -> Chosen | None:
    run = runs_directory() / name
    try:
        with st.spinner(_("Reading the checkpoint in a separate process…")):
            x, shape = _weight(name, matrix, newest_checkpoint(run).name)
    except ValueError as error:
        st.error(str(error))
        return None
    return Chosen(
        x=x,
        shape=shape,
        code=f"looked_at(read_weight(runs_directory() / {name!r}, {matrix!r}))",
        imports=(
            _LOOK,
            "from core.train.run.directory import runs_directory",
            "from core.train.learning.tensors import read_weight",
        ),
    )


@st.cache_data(max_entries=8, show_spinner=False)
def _weight(name: str, matrix: str, checkpoint: str) -> tuple[Floats, tuple[int, ...]]:
    """Return a matrix, cut to what is looked at, and its shape; a new checkpoint is read anew."""
    run = runs_directory() / name
    job = hashlib.sha256(f"{run}/{checkpoint}/{matrix}".encode()).hexdigest()
    values = jobs().finish(f"weight {job}", lambda: read_weight(run, matrix))
    return looked_at(values), values.shape


def _uploaded(ask: Inputs) -> Chosen | None:
    """Show the upload and return its tensor; None until there is a file that can be read."""
    file = ask.file(
        "upload", _(".npy or .safetensors"), MAX_BYTES // 10**6,
        help=_("Too large? Save a part of one tensor: `numpy.save('part.npy', w[:512])` or "
               "`save_file({'w': w[:512].contiguous()}, 'part.safetensors')`."),
    )  # fmt: skip
    if file is None:
        st.caption(_("Choose a file; until then a normal tensor is shown."))
        return None
    data = file.getvalue()
    try:
        if is_safetensors(file.name, data):
            return _one_of_many(ask, file.name, data)
        return _only_one(file.name, data)
    except ValueError as error:
        st.error(as_typed(str(error)))
        return None


def _only_one(name: str, data: bytes) -> Chosen:
    values = read_array(name, data)
    return Chosen(
        x=looked_at(values),
        shape=values.shape,
        code=f"looked_at(read_array({name!r}, Path({name!r}).read_bytes()))",
        imports=(_PATH, "from core.dtypes.blocks.read_array import read_array", _LOOK),
    )


def _one_of_many(ask: Inputs, name: str, data: bytes) -> Chosen:
    tensors = list_tensors(name, data)
    tensor = st.selectbox(
        _("Tensor of the file ({count} in it)").format(count=len(tensors)),
        tensors,
        index=tensors.index(main_tensor(tensors)),
        key=ask.key("part"),
        format_func=lambda each: f"{each.name} · {each.dtype} · {sizes(each.shape)}",
        disabled=locked(),
    )
    values = read_stored(name, data, tensor)
    return Chosen(
        x=looked_at(values),
        shape=values.shape,
        code=f"looked_at(read_tensor({name!r}, Path({name!r}).read_bytes(), {tensor.name!r}))",
        imports=(_PATH, "from core.dtypes.blocks.read_safetensors import read_tensor", _LOOK),
        stored_as=tensor.dtype,
        role=tensor.role,
    )
