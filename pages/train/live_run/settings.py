"""Every setting of a run as a slider; whatever stays "preset" follows time limit and size."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final

import streamlit as st

from core.language import N_, _
from core.machine.nvml import Gpu, visible_gpus
from core.train.config import DEFAULT_BPE_VOCABULARY, TrainConfig
from core.train.start.plan import Wish, preset_of
from core.train.start.presets import DURATIONS, SIZES
from core.train.text.corpora import CORPORA
from core.units import format_bytes
from pages.shared.inputs import Inputs
from pages.shared.page_links import show_link
from pages.shared.settings import unit_system


@dataclass(frozen=True, slots=True)
class Setting:
    """One slider: its word in the address, its field of `TrainConfig`, its positions."""

    name: str
    field: str
    label: str
    options: tuple[float, ...]
    fits: bool = False  # the preset value is not known before the device is timed


_COUNTS: Final = (1, 2, 3, 4, 6, 8, 12)
_WIDTHS: Final = (32, 64, 96, 128, 192, 256, 384, 512, 768)
_CONTEXTS: Final = (16, 24, 32, 48, 64, 96, 128, 192, 256, 384, 512, 768, 1024)
_BATCHES: Final = (1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128)
_RATES: Final = (
    *(1e-5, 3e-5, 1e-4, 2e-4, 3e-4, 6e-4, 1e-3, 2e-3, 3e-3, 5e-3),
    *(1e-2, 2e-2, 3e-2, 5e-2, 0.1, 0.3, 1.0),
)
_STEPS: Final = (10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000, 50_000)
_EVERY: Final = (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000)
BPE_VOCABULARIES: Final = (256, 512, 1024, 2048, 4096, 8192, 16_384)
_HELP: Final = {
    "width": N_("Numbers in the residual stream for each token; a multiple of the heads."),
    "context": N_("Tokens that the model sees at once: its context."),
    "batch": N_("Sequences of one forward pass."),
    "accumulation": N_("Forward passes whose gradients are added before one update."),
    "learning_rate": N_(
        "Its peak: behind the warm-up it follows the schedule; where that falls, to a tenth."
    ),
    "kv_heads": N_("Key and value heads; Auto has as many as there are heads."),
    "dropout": N_("Share of what each half of a block adds that a step sets to zero."),
    "clip": N_("A gradient with a larger norm is scaled down to this norm; 0 turns it off."),
    "steps": N_("Auto takes as many as fit into the time limit."),
}
SHAPES: Final = (
    Setting("layers", "num_layers", N_("Layers"), _COUNTS),
    Setting("width", "hidden_dim", N_("Hidden size"), _WIDTHS),
    Setting("heads", "num_heads", N_("Heads"), _COUNTS),
    Setting("context", "seq_len", N_("Sequence length"), _CONTEXTS),
    Setting("batch", "batch_size", N_("Micro-batch size"), _BATCHES),
)
LEARNING: Final = (
    Setting("accumulation", "accumulation_steps", N_("Gradient accumulation"), (*_COUNTS, 16)),
    Setting("learning_rate", "learning_rate", N_("Learning rate"), _RATES),
    Setting("warm_up", "warmup_steps", N_("Warm-up steps"), (0, *_EVERY[3:9]), fits=True),
    Setting("weight_decay", "weight_decay", N_("Weight decay"), (0.0, 0.01, 0.03, 0.1, 0.3, 1.0)),
    Setting("clip", "grad_clip", N_("Gradient clipping"), (0.0, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0)),
)
KEY_HEADS: Final = Setting("kv_heads", "num_kv_heads", N_("Key heads"), _COUNTS, fits=True)
DROPOUT: Final = Setting("dropout", "dropout", N_("Dropout"), (0.05, 0.1, 0.2, 0.3, 0.5))
COURSE: Final = (
    Setting("steps", "num_steps", N_("Steps"), _STEPS, fits=True),
    Setting("evaluate_every", "eval_interval", N_("Evaluation interval"), _EVERY, fits=True),
    Setting("sample_every", "sample_interval", N_("Sampling interval"), _EVERY, fits=True),
    Setting("save_every", "checkpoint_interval", N_("Checkpoint interval"), _EVERY, fits=True),
)

UPLOAD: Final = "upload"
TEXTS: Final = {key: row.title for key, row in CORPORA.items()} | {
    UPLOAD: N_("A text file of my own")
}
PRECISIONS: Final = {
    "auto": N_("Auto"),
    "fp32": "fp32",
    "bf16": "bf16",
    "bf16_fp32_attention": N_("bf16, attention fp32"),
    "fp16": N_("fp16, loss scaled"),
    "fp16_unscaled": N_("fp16, loss not scaled"),
    "pure_bf16": N_("bf16 throughout, weights too"),
    "pure_fp16": N_("fp16 throughout, weights too"),
}
OPTIMIZERS: Final = {
    "adamw": "AdamW",
    "adam": "Adam",
    "sgd": "SGD",
    "momentum": N_("SGD with momentum"),
    "rmsprop": "RMSprop",
    "adagrad": "Adagrad",
    "muon": "Muon",
}
SCHEDULES: Final = {
    "cosine": N_("cosine decay"),
    "linear": N_("linear decay"),
    "constant": N_("constant rate"),
    "step": N_("a tenth at 1/2 and 3/4"),
}
_COMPILE: Final = N_(
    "Torch makes kernels of the model first: a minute before the first step, and faster steps "
    "where the model is large enough."
)
ASK: Final = Inputs("lr")
PRESET: Final = "preset"  # stands in the address for "as the preset has it"
AUTO: Final = "auto"
DEFAULT_SEED: Final = 1337
MAX_SEED: Final = 9999
UPLOAD_MEGABYTES: Final = 5


def choose_duration() -> str:
    """Show the time limits side by side and return the key of the chosen one."""
    minutes = {row.key: f"{row.seconds / 60:g}" for row in DURATIONS}
    label = _("Time limit (minutes)")
    return ASK.segmented("duration", label, minutes, default=DURATIONS[0].key)


def choose_size() -> str:
    """Show the reference sizes and return the key of the chosen one; empty for Auto."""
    size = ASK.select_slider(
        "size",
        _("Model size"),
        (AUTO, *SIZES),
        default=AUTO,
        labels=lambda key: _("Auto") if key == AUTO else key,
        help=_("Parameters. Auto takes what learns most within the time limit on this device."),
    )
    return "" if size == AUTO else size


def choose_wish(duration: str, size: str) -> Wish:
    preset = preset_of(Wish(duration=duration, size=size))
    changes: dict[str, Any] = {}
    data, shapes, learning, course = st.columns(4)
    with data:
        corpus = ASK.selectbox("corpus", _("Training text"), TEXTS, default=next(iter(CORPORA)))
        changes |= {"corpus": corpus, **_tokenizer()}
        changes["precision"] = ASK.selectbox(
            "precision", _("Precision"), PRECISIONS, default="auto"
        )
        changes |= _gpu()
        changes["seed"] = ASK.number("seed", _("Seed"), 0, MAX_SEED, default=DEFAULT_SEED, step=1)
        _link_to_batches(changes)
    with shapes:
        changes |= _sliders(SHAPES, preset) | _model(preset)
    with learning:
        changes["optimizer"] = ASK.selectbox(
            "optimizer", _("Optimizer"), OPTIMIZERS, default="adamw"
        )
        changes["schedule"] = ASK.selectbox("schedule", _("Schedule"), SCHEDULES, default="cosine")
        changes |= _sliders((*LEARNING, DROPOUT), preset)
    with course:
        changes |= _sliders(COURSE, preset)
        compiled = ASK.toggle("compile", "torch.compile", default=False, help=_(_COMPILE))
        changes |= {"compile": True} if compiled else {}
    file, name = ask_for_file("upload") if corpus == UPLOAD else (None, "")
    return Wish(duration=duration, size=size, changes=changes, upload=file, upload_name=name)


def _sliders(rows: Iterable[Setting], preset: TrainConfig) -> dict[str, Any]:
    """Show the sliders of `rows`; return the fields that leave the preset."""
    chosen = {row.field: _slider(row, preset) for row in rows}
    return {field: value for field, value in chosen.items() if value != PRESET}


def _slider(row: Setting, preset: TrainConfig) -> float | str:
    def write(option: float | str) -> str:
        if option != PRESET:
            return f"{option:g}"
        if row.fits:
            return _("Auto")
        return _("preset: {value}").format(value=f"{own:g}")

    own = getattr(preset, row.field)
    # The preset stands beside its own value, so that one notch changes it by one notch.
    place = 0 if row.fits else sum(option < own for option in row.options)
    options: tuple[float | str, ...] = (*row.options[:place], PRESET, *row.options[place:])
    return ASK.select_slider(
        row.name,
        _(row.label),
        options,
        default=PRESET,
        labels=write,
        help=_(_HELP[row.name]) if row.name in _HELP else None,
    )


def _tokenizer() -> dict[str, Any]:
    """Show the tokenizers and, for BPE, the size of the vocabulary; return the fields."""
    words = {"character": N_("character"), "byte": N_("byte"), "bpe": "BPE"}
    name = ASK.segmented("tokenizer", _("Tokenizer"), words, default="character")
    if name != "bpe":
        return {"tokenizer": name}
    size = ASK.select_slider(
        "vocabulary",
        _("BPE vocabulary size"),
        BPE_VOCABULARIES,
        default=DEFAULT_BPE_VOCABULARY,
        help=_("The 256 bytes and one token for each merge that byte-pair encoding learns."),
    )
    return {"tokenizer": name, "bpe_vocab_size": size}


def _link_to_batches(changes: Mapping[str, Any]) -> None:
    query = {"batches_tokenizer": str(changes["tokenizer"])}
    if changes["corpus"] in CORPORA:
        query["batches_text"] = str(changes["corpus"])
    show_link("train/data_and_batches", _("What a step reads"), query, icon=":material/segment:")


def _model(preset: TrainConfig) -> dict[str, Any]:
    """Show what the model is made of and what is kept of it; return the fields."""
    family = ASK.segmented(
        "family", _("Model family"), {"gpt": "GPT", "llama": N_("Llama-like")}, default="gpt",
        help=_("Llama-like: RMSNorm, rotary positions, SwiGLU and grouped key heads."),
    )  # fmt: skip
    heads = _sliders((KEY_HEADS,), preset) if family == "llama" else {}
    again = ASK.toggle(
        "checkpointing",
        _("Activation checkpointing"),
        default=False,
        help=_("Only the inputs of blocks are kept; the backward pass computes the rest again."),
    )
    return {"family": family, "checkpointing": again, **heads}


def _gpu() -> dict[str, str]:
    """Show the GPUs where there are several, and return the field; empty for the least busy."""
    gpus = _visible_gpus()
    if len(gpus) < 2:
        return {}
    words = {AUTO: N_("least busy")}
    for number, gpu in enumerate(gpus):
        free = format_bytes(gpu.free_bytes, unit_system())
        words[gpu.uuid] = _("{number}: {name} · {free} free").format(
            number=number, name=gpu.name, free=free
        )
    chosen = ASK.selectbox("gpu", _("GPU"), words, default=AUTO)
    return {} if chosen == AUTO else {"gpu": chosen}


@st.cache_data(ttl=10, max_entries=1, show_spinner=False)
def _visible_gpus() -> tuple[Gpu, ...]:
    return visible_gpus()


def ask_for_file(input_name: str) -> tuple[bytes | None, str]:
    """Show the upload and return the file's bytes and name; nothing before there is a file."""
    label = _("A UTF-8 text file of at most {size} MB").format(size=UPLOAD_MEGABYTES)
    file = ASK.file(input_name, label, UPLOAD_MEGABYTES)
    return (file.getvalue(), file.name) if file else (None, "")
