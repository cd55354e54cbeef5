"""A fork from a checkpoint of a run, with settings of its own; and a run to take away."""

from collections.abc import Mapping
from functools import cache, partial
from typing import Any, Final, TypeVar

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from core.budget.by_hand.gpt import count_parameters
from core.language import N_, _
from core.train.config import LIMITS, TrainConfig
from core.train.export.script import script_of, zipped_script
from core.train.export.weights import weights_as_safetensors
from core.train.learning.lora import count_adapters
from core.train.run.directory import checkpoint_step, checkpoints
from core.train.run.disk import sentence_of
from core.train.run.shelf import RunSummary
from core.train.start.fork import find_parent, prepare_fork, start_fork
from pages.server.control_right import is_teacher, may_control
from pages.shared.settings import is_hidden, locked
from pages.train.live_run.runs import follow
from pages.train.live_run.settings import ASK, OPTIMIZERS, SCHEDULES, TEXTS, UPLOAD, ask_for_file
from pages.train.live_run.start import begin

T = TypeVar("T")
OWN_TEXT: Final = ""
RANKS: Final = (0, 2, 4, 8, 16)
_REFUSED: Final = "lr_fork_refused"


def offer_fork(run: RunSummary) -> None:
    """Show what a fork may change, and start it; a refusal stays in this window."""
    steps = [checkpoint_step(path) for path in checkpoints(run.directory)]
    if not steps or is_hidden(ASK.page, "start"):
        return
    with st.expander(_("Fork: go on from a checkpoint with other settings"), key="lr_fork"):
        step, changes = _choose(run, TrainConfig.from_json(run.info["config"]), steps)
        asks_for_file = st.session_state[f"lr_fork_{run.name}_text"] == UPLOAD
        text = ask_for_file(f"fork_{run.name}_file") if asks_for_file else (None, "")
        disabled = locked() or not is_teacher() or (asks_for_file and text[0] is None)
        label = _("Fork and train")
        pushed = st.button(label, key="lr_fork_start", type="primary", disabled=disabled)
        if pushed and (name := _start(run, step, changes, text)):
            follow(name)
            st.rerun()
        if reason := st.session_state.pop(_REFUSED, ""):
            st.markdown(_(":material/block: **Not started.** {reason}").format(reason=reason))


def _choose(run: RunSummary, config: TrainConfig, steps: list[int]) -> tuple[int, dict[str, Any]]:
    """Show the settings; return the step of the checkpoint and the changes."""
    key = f"lr_fork_{run.name}"
    left, middle, right = st.columns(3)
    step = left.selectbox(
        _("Checkpoint at step"), steps[::-1], format_func="{:,}".format, key=f"{key}_step"
    )
    more = max(config.num_steps - step, 1) if run.step < config.num_steps else 200
    most = max(int(LIMITS["num_steps"][1]) - step, 1)
    further = left.number_input(
        _("Further steps"), 1, most, min(more, most), key=f"{key}_{step}_further"
    )
    optimizer = _one_of(middle, _("Optimizer"), OPTIMIZERS, config.optimizer, f"{key}_optimizer")
    schedule = _one_of(right, _("Schedule"), SCHEDULES, config.schedule, f"{key}_schedule")
    rate = middle.number_input(
        _("Learning rate"), *LIMITS["learning_rate"], config.learning_rate, format="%g",
        step=config.learning_rate / 10, key=f"{key}_rate",
    )  # fmt: skip
    changes = {
        "optimizer": optimizer,
        "schedule": schedule,
        "learning_rate": rate,
        "min_learning_rate": min(config.min_learning_rate, rate),
        "num_steps": step + further,
        "max_seconds": None,
        **_text_and_adapters(config, right, middle, key),
    }
    if changes["lora_rank"]:
        _tell_of_adapters(run, config, changes["lora_rank"])
    return step, changes


def _text_and_adapters(
    config: TrainConfig, text: DeltaGenerator, rank: DeltaGenerator, key: str
) -> dict[str, Any]:
    titles = {OWN_TEXT: N_("its own"), **TEXTS}
    if config.corpus != UPLOAD:
        titles.pop(config.corpus, None)
    corpus = _one_of(text, _("Training text"), titles, OWN_TEXT, f"{key}_text")
    if config.lora_rank or config.family != "gpt":
        return {"corpus": corpus or config.corpus, "lora_rank": config.lora_rank}
    words = {each: _("rank {rank}").format(rank=each) if each else _("none") for each in RANKS}
    tells = _("The weights stay as they are; thin matrices beside them learn.")
    chosen = _one_of(rank, _("LoRA adapters"), words, 0, f"{key}_rank", tells)
    return {"corpus": corpus or config.corpus, "lora_rank": chosen}


def _one_of(
    place: DeltaGenerator, label: str, words: Mapping[T, str], first: T, key: str, tells: str = ""
) -> T:
    options = list(words)
    return place.selectbox(
        label, options, options.index(first), format_func=lambda option: _(words[option]), key=key,
        help=tells or None,
    )  # fmt: skip


def _tell_of_adapters(run: RunSummary, config: TrainConfig, rank: int) -> None:
    vocab_size = (run.info.get("text") or {}).get("vocab_size")
    if not vocab_size:
        return
    adapted = TrainConfig.from_json(config.to_json() | {"lora_rank": rank})
    learning, frozen = count_adapters(adapted).amount, count_parameters(config.shape(vocab_size))
    text = _(
        "{learning} parameters learn, {frozen} are frozen: gradients and optimizer states shrink "
        "to {share} %."
    )
    share = f"{100 * learning / frozen.amount:.0f}"
    st.caption(text.format(learning=f"{learning:,}", frozen=f"{frozen.amount:,}", share=share))


def _start(
    run: RunSummary, step: int, changes: Mapping[str, Any], text: tuple[bytes | None, str]
) -> str:
    """Return the name of the new run; "" if it was refused."""
    parent = cache(partial(find_parent, run.directory, step))
    return begin(
        lambda: prepare_fork(parent(), changes, *text),
        lambda prepared: start_fork(parent(), prepared),
        str(run.info["config"].get("gpu", "")),
        _REFUSED,
    )


def offer_exports(run: RunSummary) -> None:
    """Offer the weights, and the script that trains them."""
    files = checkpoints(run.directory)
    if not files:
        return
    with st.container(horizontal=True):
        st.download_button(
            _("Weights as safetensors"),
            lambda: weights_as_safetensors(run.directory, files[-1]),
            f"{run.name}.safetensors",
            "application/octet-stream",
            key=f"lr_safetensors_{run.name}",
            on_click="ignore",
            icon=":material/download:",
        )
        if run.info["config"].get("corpus") == UPLOAD and not may_control(run.name):
            return  # the script comes with the text, which somebody's own file is
        try:
            script_of(run.directory)
        except (ValueError, OSError) as error:
            st.caption(sentence_of(error))
            return
        st.download_button(
            _("Its training as one script"),
            lambda: zipped_script(run.directory),
            f"{run.name}.zip",
            "application/zip",
            key=f"lr_script_{run.name}",
            help=_("train.py and its text as tokens: torch and numpy are enough to run it."),
            on_click="ignore",
            icon=":material/code:",
        )
