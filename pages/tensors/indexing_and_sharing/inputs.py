"""What the page asks for: a program that writes, a pair of indices, a call, a window, heads."""

from dataclasses import dataclass
from typing import Final

import streamlit as st

from core.language import _
from core.tensors import creation, index_pairs, numpy_bridge
from core.tensors.creation import CREATIONS
from core.tensors.index_pairs import PAIRS, SLICE, Pair, slice_pair
from core.tensors.numpy_bridge import BRIDGES, Bridge
from core.tensors.presets import WRITE_BY_KEY, WRITE_PRESETS, counted
from core.tensors.strided_windows import (
    MAX_LENGTH,
    NUM_ELEMENTS,
    WINDOWS,
    Window,
    largest_stride,
    room_left,
)
from core.tensors.writes import Written, run_writes
from pages.shared.inputs import Inputs
from pages.shared.tensors.examples import offer_examples
from pages.shared.tensors.lengths import ask_last_lengths, length_settings
from pages.shared.tensors.program import ask_program

ASK: Final = Inputs("index")
START: Final = WRITE_PRESETS[0]
DEVICES: Final = "devices"
LENGTHS: Final = tuple(range(1, MAX_LENGTH + 1))
NUM_COLUMNS: Final = 6  # of the matrix that is sliced
FIRST_WINDOW: Final = WINDOWS[0]


@dataclass(frozen=True, kw_only=True, slots=True)
class Program:
    """A program that ran on `x`, which held 0, 1, 2, ... in that shape."""

    source: str
    shape: tuple[int, ...]
    written: Written


@dataclass(frozen=True, kw_only=True, slots=True)
class Call:
    """A call that makes a tensor, and the lengths it takes; `key` may be DEVICES."""

    key: str
    rows: int
    columns: int


def choose_program() -> Program:
    """Show the program and the shape of its tensor; return both after a run."""
    titles = {preset.key: _(preset.title) for preset in WRITE_PRESETS}
    offer_examples(ASK, "preset", titles, _settings)
    source = ask_program(
        ASK,
        START.source,
        height=150,
        help=_(
            "PyTorch as you would type it; x is the tensor. x[0, 1] = 100, x += 1, add_, mul_, "
            "fill_, zero_ and copy_ write. Ctrl + Enter runs it."
        ),
    )
    shape = ask_last_lengths(ASK, LENGTHS, START.shape)
    written = run_writes(source, lambda: {"x": counted(shape)})
    return Program(source=source, shape=shape, written=written)


def _settings(key: str) -> dict[str, object]:
    """Return what an example writes into the inputs."""
    preset = WRITE_BY_KEY[key]
    return {"code": preset.source, **length_settings(preset.shape)}


def choose_pair() -> Pair:
    """Show the pairs, and for the first of them the ends of a slice; return the pair."""
    titles = {SLICE: slice_pair(1, 0, 1, 1).title} | {pair.key: pair.title for pair in PAIRS}
    key = ASK.selectbox(
        "pair", _("Case"), tuple(titles), default=SLICE, labels=lambda name: _(titles[name])
    )
    if key != SLICE:
        return index_pairs.BY_KEY[key]
    start = ASK.slider("start", "start", 0, NUM_COLUMNS, default=0, step=1)
    stop = ASK.slider("stop", "stop", 0, NUM_COLUMNS, default=5, step=1)
    step = ASK.slider("step", "step", 1, NUM_COLUMNS, default=2, step=1)
    return slice_pair(NUM_COLUMNS, start, stop, step)


def choose_call() -> Call:
    """Show what makes tensors, and the lengths; return the call."""
    keys = (*(row.key for row in CREATIONS), DEVICES)
    key = ASK.selectbox("call", _("Call"), keys, default=keys[0], labels=_call_label)
    is_fixed = key == DEVICES or not creation.BY_KEY[key].has_lengths
    rows = ASK.slider("height", _("Rows"), 1, MAX_LENGTH, default=2, step=1, disabled=is_fixed)
    columns = ASK.slider("width", _("Columns"), 1, MAX_LENGTH, default=3, step=1, disabled=is_fixed)
    return Call(key=key, rows=rows, columns=columns)


def _call_label(key: str) -> str:
    return _("Devices: CPU, GPU, meta") if key == DEVICES else creation.BY_KEY[key].label


def choose_bridge() -> Bridge:
    """Show the ways between NumPy and PyTorch; return one."""
    keys = tuple(row.key for row in BRIDGES)
    key = ASK.selectbox(
        "bridge",
        _("Case"),
        keys,
        default=keys[0],
        labels=lambda name: _(numpy_bridge.BY_KEY[name].title),
    )
    return numpy_bridge.BY_KEY[key]


def choose_window() -> Window:
    """Show sliders for as_strided, each as long as the ones before leave it; return the window."""
    titles = {window.key: _(window.title) for window in WINDOWS}
    offer_examples(ASK, "window", titles, _window_settings)
    size, stride = list[int](), list[int]()
    for axis in (1, 0):
        left, right = st.columns(2)
        with left:
            length = ASK.slider(f"size{axis}", f"size[{axis}]", 1, MAX_LENGTH,
                                default=FIRST_WINDOW.size[axis], step=1)  # fmt: skip
        most = largest_stride(NUM_ELEMENTS, length, size, stride)
        with right:
            step = ASK.slider(f"stride{axis}", f"stride[{axis}]", 0, most,
                              default=min(FIRST_WINDOW.stride[axis], most), step=1)  # fmt: skip
        size.insert(0, length)
        stride.insert(0, step)
    most = room_left(NUM_ELEMENTS, size, stride)
    offset = ASK.slider("offset", "storage_offset", 0, most, default=0, step=1)
    return Window(
        key="", title="", size=(size[0], size[1]), stride=(stride[0], stride[1]), offset=offset
    )


def _window_settings(key: str) -> dict[str, object]:
    """Return what an example writes into the inputs."""
    (window,) = [each for each in WINDOWS if each.key == key]
    sizes = {f"size{axis}": length for axis, length in enumerate(window.size)}
    strides = {f"stride{axis}": step for axis, step in enumerate(window.stride)}
    return {**sizes, **strides, "offset": window.offset}


def choose_heads() -> tuple[int, int, int]:
    """Show the lengths of a small attention; return tokens, heads and the size of a head."""
    tokens = ASK.slider("tokens", _("Sequence length T"), 1, 6, default=4, step=1)
    heads = ASK.slider("heads", _("Heads H"), 1, 4, default=2, step=1)
    head_dim = ASK.slider("dim", _("Head size D"), 1, 3, default=3, step=1)
    return tokens, heads, head_dim
