"""The tensor that is quantized: a sample, a weight of a run, or the reader's own file."""

import hashlib
from typing import Final

import streamlit as st

from core.dtypes.blocks.sample_tensors import SAMPLE_NAMES, looked_at, teaching_tensor
from core.dtypes.rounding import Floats
from core.language import N_, _
from core.train.learning.tensors import MATRICES, newest_checkpoint, read_weight, runs_with_weights
from core.train.run.directory import runs_directory
from pages.dtypes.quantization.chosen import PAGE, Chosen
from pages.dtypes.quantization.uploads import choose_upload
from pages.server.background import jobs
from pages.shared import pickers

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


def choose_tensor() -> str:
    """Show the list of tensors and return the key of the chosen one."""
    return pickers.selectbox(
        PAGE,
        "tensor",
        _("Tensor"),
        (*SAMPLE_NAMES, RUN, UPLOAD),
        default="normal",
        labels=lambda key: _(_TENSORS[key]),
    )


def make_tensor(name: str, size: int, seed: int) -> Chosen:
    """Return the chosen tensor, after further questions if it is the reader's own.

    What cannot be had becomes a sentence and a normal tensor.

    Args:
        name: What `choose_tensor` returned.
        size: Rows and columns of a sample.
        seed: Of a sample.
    """
    chosen = None
    if name == RUN:
        chosen = _weight_of_a_run()
    elif name == UPLOAD:
        chosen = choose_upload()
    return chosen or _sample(name if name in SAMPLE_NAMES else "normal", size, seed)


def _sample(name: str, size: int, seed: int) -> Chosen:
    x = _made(name, size, seed)
    return Chosen(
        x=x,
        shape=x.shape,
        code=f"looked_at(teaching_tensor({name!r}, {size}, {seed}))",
        imports=("from core.dtypes.blocks.sample_tensors import looked_at, teaching_tensor",),
    )


@st.cache_data(max_entries=16, show_spinner=False)
def _made(name: str, size: int, seed: int) -> Floats:
    return looked_at(teaching_tensor(name, size, seed))


def _weight_of_a_run() -> Chosen | None:
    """Show which runs and matrices there are and return the chosen matrix; None without a run."""
    names = runs_with_weights(runs_directory())
    if not names:
        st.info(
            _(
                "No run has a checkpoint yet: train a model on the page “Live training”. "
                "Until then a normal tensor is shown."
            )
        )
        return None
    with st.container(horizontal=True):
        run = pickers.selectbox(
            PAGE,
            "run",
            _("Run"),
            (NEWEST, *names),
            default=NEWEST,
            labels=lambda name: _("the newest") if name == NEWEST else name,
        )
        matrix = pickers.selectbox(
            PAGE,
            "matrix",
            _("Matrix"),
            tuple(MATRICES),
            default="up",
            labels=lambda key: _(MATRICES[key][0]),
        )
    return _read_weight(names[0] if run == NEWEST else run, matrix)


def _read_weight(name: str, matrix: str) -> Chosen | None:
    run = runs_directory() / name
    try:
        with st.spinner(_("Reading the checkpoint in a process of its own…")):
            x, shape = _weight(name, matrix, newest_checkpoint(run).name)
    except ValueError as error:
        st.error(str(error))
        return None
    return Chosen(
        x=x,
        shape=shape,
        code=f"looked_at(read_weight(runs_directory() / {name!r}, {matrix!r}))",
        imports=(
            "from core.dtypes.blocks.sample_tensors import looked_at",
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
