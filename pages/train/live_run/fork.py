"""A fork from a checkpoint of a run, with settings of its own; and a run to take away."""

from collections.abc import Mapping
from typing import Any, Final

import streamlit as st

from core.budget.by_hand.gpt import count_parameters
from core.language import N_, _
from core.train.config import LIMITS, OPTIMIZERS, SCHEDULES, TrainConfig
from core.train.control.device import DeviceBusyError
from core.train.export.script import script_of, zipped_script
from core.train.export.weights import weights_as_safetensors
from core.train.learning.lora import count_adapters
from core.train.run.directory import checkpoint_step, checkpoints
from core.train.run.disk import sentence_of
from core.train.run.shelf import RunSummary
from core.train.start.fork import Parent, find_parent, prepare_fork, start_fork
from core.train.start.plan import Prepared
from core.train.start.timing import TimingError, is_worth_timing
from core.train.text.corpora import CORPORA
from pages.server.control_right import check_teacher, is_teacher, may_control
from pages.server.rate import take_turn
from pages.server.sandbox_line import make_way
from pages.shared.settings import is_hidden, locked
from pages.train.live_run.runs import follow
from pages.train.live_run.settings import ASK, UPLOAD, UPLOAD_MEGABYTES
from pages.train.live_run.start import busy_sentence, measure

OWN_TEXT: Final = ""
RANKS: Final = (0, 2, 4, 8, 16)
_REFUSED: Final = "lr_fork_refused"

_SCHEDULES: Final = {
    "cosine": N_("cosine decay"),
    "linear": N_("linear decay"),
    "constant": N_("constant rate"),
    "step": N_("a tenth at 1/2 and 3/4"),
}


def offer_fork(run: RunSummary) -> None:
    """Show what a fork may change, and start it; a refusal stays in this window."""
    steps = [checkpoint_step(path) for path in checkpoints(run.directory)]
    if not steps or is_hidden(ASK.page, "start"):
        return
    with st.expander(_("Fork: go on from a checkpoint with other settings"), key="lr_fork"):
        step, changes = _choose(run, TrainConfig.from_json(run.info["config"]), steps)
        file, asks_for_file = None, st.session_state[f"lr_fork_{run.name}_text"] == UPLOAD
        if asks_for_file:
            label = _("A UTF-8 text file of at most {size} MB").format(size=UPLOAD_MEGABYTES)
            key = f"lr_fork_{run.name}_file"
            file = st.file_uploader(label, key=key, max_upload_size=UPLOAD_MEGABYTES)
        disabled = locked() or not is_teacher() or (asks_for_file and file is None)
        if st.button(_("Fork and train"), key="lr_fork_start", type="primary", disabled=disabled):
            text = (file.getvalue(), file.name) if file else (None, "")
            if name := _start(run, step, changes, text):
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
    optimizer = middle.selectbox(
        _("Optimizer"), OPTIMIZERS, OPTIMIZERS.index(config.optimizer), key=f"{key}_optimizer"
    )
    rate = middle.number_input(
        _("Learning rate"),
        1e-7,
        10.0,
        config.learning_rate,
        format="%g",
        step=config.learning_rate / 10,
        key=f"{key}_rate",
    )
    schedule = right.selectbox(
        _("Schedule"),
        SCHEDULES,
        SCHEDULES.index(config.schedule),
        format_func=lambda name: _(_SCHEDULES[name]),
        key=f"{key}_schedule",
    )
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


def _text_and_adapters(config: TrainConfig, text: Any, rank: Any, key: str) -> dict[str, Any]:  # noqa: ANN401  Streamlit's columns
    titles = {key: _(row.title) for key, row in CORPORA.items() if key != config.corpus}
    titles = {OWN_TEXT: _("its own")} | titles | {UPLOAD: _("A text file of my own")}
    corpus = text.selectbox(
        _("Training text"), list(titles), format_func=titles.__getitem__, key=f"{key}_text"
    )
    if config.lora_rank or config.family != "gpt":
        return {"corpus": corpus or config.corpus, "lora_rank": config.lora_rank}
    words = {each: _("rank {rank}").format(rank=each) if each else _("none") for each in RANKS}
    chosen = rank.selectbox(
        _("LoRA adapters"),
        RANKS,
        format_func=words.__getitem__,
        key=f"{key}_rank",
        help=_("The weights stay as they are; thin matrices beside them learn."),
    )
    return {"corpus": corpus or config.corpus, "lora_rank": chosen}


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
    with st.status(_("Getting ready …"), expanded=True):
        try:
            check_teacher()
            take_turn("start")
            parent = find_parent(run.directory, step)
            prepared = _prepared(parent, changes, text)
            make_way()
            return start_fork(parent, prepared).name
        except DeviceBusyError as error:
            gpu = str(run.info["config"].get("gpu", ""))
            st.session_state[_REFUSED] = busy_sentence(gpu) or sentence_of(error)
        except (ValueError, OSError, TimingError) as error:
            st.session_state[_REFUSED] = sentence_of(error)
    return ""


def _prepared(
    parent: Parent, changes: Mapping[str, Any], text: tuple[bytes | None, str]
) -> Prepared:
    prepared = prepare_fork(parent, changes, *text)
    if not is_worth_timing(prepared.timing):
        return prepared
    st.write(_("Timing 20 steps on this device, in a separate process …"))
    measure(prepared)
    return prepare_fork(parent, changes, *text)


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
