"""Every setting of a run as a slider; whatever stays "preset" follows duration and size."""

from collections.abc import Iterable
from typing import Any, Final

import streamlit as st

from core.language import _
from core.train.config import PRECISIONS, TOKENIZERS, TrainConfig
from core.train.start.plan import Wish, preset_of
from core.train.start.presets import DURATIONS, SIZES
from core.train.text.corpora import CORPORA
from pages.shared import pickers
from pages.train.live_run.rows import COURSE, LEARNING, MODEL, Setting

PAGE: Final = "lr"
PRESET: Final = "preset"  # stands in the address for "as the preset has it"
AUTO: Final = "auto"
UPLOAD: Final = "upload"
DEFAULT_SEED: Final = 1337
MAX_SEED: Final = 9999
UPLOAD_MEGABYTES: Final = 5


def choose_duration() -> str:
    """Show the durations side by side and return the key of the chosen one."""
    labels = {row.key: row.label for row in DURATIONS}
    return pickers.segmented(
        PAGE,
        "duration",
        _("How long may it take?"),
        tuple(labels),
        default=DURATIONS[0].key,
        labels=lambda key: _(labels[key]),
    )


def choose_size() -> str:
    """Show the reference sizes and return the key of the chosen one; empty for what suits."""
    size = pickers.segmented(
        PAGE,
        "size",
        _("How many parameters?"),
        (AUTO, *(row.key for row in SIZES)),
        default=AUTO,
        labels=lambda key: _("what suits") if key == AUTO else key,
    )
    return "" if size == AUTO else size


def choose_wish(duration: str, size: str) -> Wish:
    """Show all further settings and return the whole wish."""
    preset = preset_of(Wish(duration=duration, size=size))
    changes: dict[str, Any] = {}
    left, middle, right = st.columns(3)
    with left:
        changes |= {"corpus": _corpus(), "tokenizer": _tokenizer()}
        changes |= _sliders(MODEL, preset)
    with middle:
        changes |= _sliders(LEARNING, preset)
    with right:
        changes |= {"precision": _precision(), "seed": _seed()}
        changes |= _sliders(COURSE, preset)
    upload, upload_name = _upload() if changes["corpus"] == UPLOAD else (None, "")
    return Wish(
        duration=duration, size=size, changes=changes, upload=upload, upload_name=upload_name
    )


def _sliders(rows: Iterable[Setting], preset: TrainConfig) -> dict[str, Any]:
    """Show the sliders of `rows`; return the fields that leave the preset."""
    chosen = {row.field: _slider(row, preset) for row in rows}
    return {field: value for field, value in chosen.items() if value != PRESET}


def _slider(row: Setting, preset: TrainConfig) -> float | str:
    def write(option: float | str) -> str:
        if option != PRESET:
            return f"{option:g}"
        if row.fits:
            return _("as fits")
        return _("preset: {value}").format(value=f"{getattr(preset, row.field):g}")

    options: tuple[float | str, ...] = (PRESET, *row.options)
    return pickers.select_slider(
        PAGE,
        row.name,
        _(row.label),
        options,
        default=PRESET,
        labels=write,
        help=_(row.help) if row.help else None,
    )


def _corpus() -> str:
    return pickers.selectbox(
        PAGE,
        "corpus",
        _("Text to learn from"),
        (*CORPORA, UPLOAD),
        default=next(iter(CORPORA)),
        labels=lambda key: _("A text file of my own") if key == UPLOAD else _(CORPORA[key].title),
    )


def _tokenizer() -> str:
    words = {"character": _("character"), "byte": _("byte")}
    return pickers.segmented(
        PAGE,
        "tokenizer",
        _("A token is a"),
        TOKENIZERS,
        default="character",
        labels=words.__getitem__,
    )


def _precision() -> str:
    words = {
        "auto": _("the fastest here"),
        "fp32": "fp32",
        "bf16": "bf16",
        "bf16_fp32_attention": _("bf16, attention fp32"),
    }
    return pickers.selectbox(
        PAGE, "precision", _("Precision"), PRECISIONS, default="auto", labels=words.__getitem__
    )


def _seed() -> int:
    return pickers.number(PAGE, "seed", _("Seed"), 0, MAX_SEED, default=DEFAULT_SEED, step=1)


def _upload() -> tuple[bytes | None, str]:
    """Show the upload and return the file's bytes and name; nothing before there is a file."""
    label = _("A UTF-8 text file of at most {size} MB").format(size=UPLOAD_MEGABYTES)
    file = st.file_uploader(label, key=f"{PAGE}_upload", max_upload_size=UPLOAD_MEGABYTES)
    return (file.getvalue(), file.name) if file else (None, "")
