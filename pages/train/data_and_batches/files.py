"""Tokens in files, and checkpoints that torch.load refuses."""

from collections.abc import Sequence
from typing import Final

import streamlit as st

from core.budget import Item
from core.figures.budget.frames import lying_bars
from core.figures.picture import Drawing, Look, Picture
from core.language import N_, _
from core.train.config import TrainConfig
from core.train.text.dataset import dataset_of
from core.train.text.token_files import (
    DTYPES,
    LLAMA_TOKENS,
    Loaded,
    TokenFiles,
    bytes_of_tokens,
    load_checkpoints,
    write_token_files,
)
from core.units import format_bytes, format_exact
from pages.shared.charts import table_markdown
from pages.shared.settings import look
from pages.shared.tabbed_page import Chart, Shown, Tab
from pages.train.data_and_batches.inputs import ASK

WHOSE: Final = {"here": N_("The Python language reference"), "llama": N_("LLaMA's training data")}
FILES: Final = {"tokens": N_("Tokens"), "checkpoints": N_("Checkpoints")}
_CODE: Final = """
import os, tempfile
import numpy as np

ids = np.arange(1000, dtype=np.{dtype})
with tempfile.TemporaryDirectory() as folder:
    path = os.path.join(folder, "data.npy")
    ids.tofile(path)  # the bytes of the ids, no header
    try:
        np.load(path)
    except ValueError as error:
        print(error)
    mapped = np.memmap(path, dtype=np.{dtype}, mode="r")  # reads only what is looked at
    print(mapped[:5].tolist(), os.path.getsize(path) // len(ids), "bytes per token")
    del mapped
print({count} * np.dtype(np.{dtype}).itemsize, "bytes for {count} tokens")
"""


_CHECKPOINTS_CODE: Final = """
import io
import pickle
import re

import numpy as np
import torch
import torch.distributed as dist

model = torch.nn.Linear(2, 2)
for checkpoint in (
    {"model": model.state_dict(), "step": 7},
    {"best_loss": np.float64(0.5)},
    {"best_loss": float(np.float64(0.5))},
    model,
):
    file = io.BytesIO()
    if not dist.is_initialized() or dist.get_rank() == 0:  # on several ranks rank 0 alone saves
        torch.save(checkpoint, file)
    if dist.is_initialized():
        dist.barrier()  # the others wait until the file is there
    file.seek(0)
    try:
        torch.load(file)  # weights_only=True since 2.6
        print("read")
    except pickle.UnpicklingError as error:
        print("refused:", re.search(r"GLOBAL \\S+", str(error))[0])
"""


def choose_file() -> tuple[str, str] | None:
    """Show whose tokens and in which dtype; nothing of either where checkpoints are asked for."""
    file = ASK.segmented("file", _("Files of"), FILES, default="tokens")
    if file == "checkpoints":
        return None
    whose = ASK.segmented("whose", _("Tokens of"), WHOSE, default="here")
    return whose, ASK.segmented("dtype", "dtype", DTYPES, default="uint16")


@st.cache_data(max_entries=4, show_spinner=False)
def _files(dtype: str) -> TokenFiles:
    return write_token_files(dataset_of(TrainConfig()).tokens, dtype)


@st.cache_data(max_entries=1, show_spinner=False)
def _loaded() -> tuple[Loaded, ...]:
    return load_checkpoints()


def files_tab(chosen: tuple[str, str] | None) -> Shown:
    """Say what the tokens take on disk and what .npy adds, or which checkpoints are refused."""
    if chosen is None:
        return _checkpoints()
    whose, dtype = chosen
    files, here = _files(dtype), dataset_of(TrainConfig()).tokens
    count = LLAMA_TOKENS if whose == "llama" else len(here)
    sizes = [bytes_of_tokens(count, name) for name in DTYPES]
    chosen_size = next(size for size in sizes if size.name == dtype)
    return Shown(
        headline=_("{count} tokens in {dtype} are {size}").format(
            count=format_exact(count), dtype=dtype, size=format_bytes(chosen_size.amount, "GB")
        ),
        charts=[Chart(picture=files_picture(sizes, look()), file_name="token-files")],
        notes=[_of_headers(files), _of_maps(files)],
        code=_CODE.format(dtype=dtype, count=count),
    )


def _of_headers(files: TokenFiles) -> str:
    return _(
        "`ids.tofile(\"data.npy\")` wrote {raw} bytes, `np.save` {npy}: a header of {header} bytes "
        "names dtype, shape and order. `np.load` of the first, whatever its name, says: {error}"
    ).format(
        raw=format_exact(files.raw_bytes), npy=format_exact(files.npy_bytes),
        header=files.npy_bytes - files.raw_bytes, error=f"*{files.error}*",
    )  # fmt: skip


def _of_maps(files: TokenFiles) -> str:
    said = _("The fix: `np.memmap(path, dtype=...)` for raw bytes, "
             "`np.load(path, mmap_mode=\"r\")` for .npy. Both read only the windows that a step "
             "asks for.")  # fmt: skip
    if files.has_same_tokens:
        return said + _(" Read back so, the two files hold the same ids.")
    return said


def _checkpoints() -> Shown:
    loaded = _loaded()
    st.markdown(
        table_markdown(
            {
                _("saved"): [f"`{each.written}`" for each in loaded],
                "torch.load": [each.error or _("read") for each in loaded],
            }
        )
    )
    return Shown(
        headline=_("`torch.load` reads {read} of {count} checkpoints and refuses {refused}").format(
            read=sum(not each.error for each in loaded),
            count=len(loaded),
            refused=sum(bool(each.error) for each in loaded),
        ),
        notes=[
            _("A pickle may name any function, and unpickling calls it. "
              "`torch.load(path, weights_only=True)`, the default since 2.6, reads tensors and "
              "plain values only, and runs nothing. A checkpoint that resumes holds the weights, "
              "the state of the optimizer and the step."),
            _("On several ranks of DDP all have the same weights: rank 0 alone saves them, and "
              "all wait for it (`dist.barrier()`) before anybody reads the file. Without the "
              "`if` all write into one file at once. Under FSDP each rank has a shard, and all "
              "must call `torch.distributed.checkpoint`."),
        ],
        code=_CHECKPOINTS_CODE,
    )  # fmt: skip


HEIGHT_PX: Final = 250


def files_picture(sizes: Sequence[Item], look: Look) -> Picture:
    """Return a bar a dtype, as long as the file of the tokens; in kB or TB, as data sets are."""
    drawing = Drawing()
    written = [format_bytes(size.amount, "GB") for size in sizes]
    drawing.bar(
        orientation="h", x=[size.amount for size in sizes], y=[size.name + " " for size in sizes],
        text=[f" {text}" for text in written], textposition="outside", cliponaxis=False,
        marker={"color": look.color("surface"),
                "line": {"color": look.color("accent"), "width": 2}},
        hovertemplate="%{y}: %{x:,} B<extra></extra>",
    )  # fmt: skip
    room = 1.2 * max(size.amount for size in sizes)
    figure = lying_bars(
        drawing, look, room=room, height=HEIGHT_PX, top=8, bargap=0.2, y={"type": "category"}
    )
    parts = [f"{size.name} {text}" for size, text in zip(sizes, written, strict=True)]
    return Picture(
        figure=figure,
        alt=_("The file of the tokens in each dtype: {sizes}.").format(sizes=_(", ").join(parts)),
        table={
            "dtype": [size.name for size in sizes],
            _("bytes"): [format_exact(int(size.amount)) for size in sizes],
        },
    )


TAB: Final = Tab(
    label=N_("Files and checkpoints"), show=files_tab, choose=choose_file, with_inputs=False
)
