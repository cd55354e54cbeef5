"""From the Start button to a running process, with every refusal as a sentence."""

from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Final

import streamlit as st

from core.language import _
from core.train.control.device import DeviceBusyError, NoSuchGpuError, device_holder
from core.train.run.directory import runs_directory
from core.train.run.disk import sentence_of
from core.train.run.shelf import summarize
from core.train.start.launch import start_run
from core.train.start.plan import Prepared, Wish, device_in_use, plan_run
from core.train.start.timing import TimingError, is_worth_timing, measure_timing
from pages.server.background import jobs
from pages.server.control_right import check_teacher
from pages.server.rate import take_turn
from pages.server.sandbox_line import make_way
from pages.train.live_run.shown_run import run_label

_REFUSED: Final = "lr_start_refused"
_BUSY_GPU: Final = f"{_REFUSED}_gpu"  # which GPU was asked for, "" for any


def start(wish: Wish) -> str:
    """Start a run and return its name; "" if it was refused.

    Why stands beside the button until the next one: `show_refusal`.
    """
    _forget_refusal()
    return begin(lambda: plan_run(wish), start_run, wish.changes.get("gpu", ""), _REFUSED)


def begin(
    prepare: Callable[[], Prepared], go: Callable[[Prepared], Path], gpu: str, refused: str
) -> str:
    """Time the device if it was not, start what is prepared, and return its name.

    Whoever may only watch is refused here, whatever the browser has sent. Of a refusal the session
    keeps the sentence under the key `refused`, and for the Start button which GPU was busy.
    """
    with st.status(_("Getting ready …"), expanded=True):
        try:
            check_teacher()
            take_turn("start")
            make_way()  # before the memory is looked at
            prepared = prepare()
            if is_worth_timing(prepared.timing):
                st.write(_("Timing 20 steps on this device, in a separate process …"))
                measure(prepared)
                prepared = prepare()
            if prepared.timing and prepared.timing.gpu_trouble:
                st.write(prepared.timing.trouble_sentence())
            st.write(_("Writing the run and starting its process …"))
            return go(prepared).name
        except DeviceBusyError as error:
            st.session_state[refused] = busy_sentence(gpu) or sentence_of(error)
            if refused == _REFUSED:  # a fork's sentence is said once, and not taken back
                st.session_state[_BUSY_GPU] = gpu
        except (ValueError, OSError, TimingError) as error:
            st.session_state[refused] = sentence_of(error)
    return ""


def show_refusal() -> None:
    """Say why the last start of this session was refused, as long as it is so."""
    busy_gpu = st.session_state.get(_BUSY_GPU)
    if busy_gpu is not None and not _holder(busy_gpu):
        _forget_refusal()
    if reason := st.session_state.get(_REFUSED):
        with st.container(key="lr_refused"):
            st.markdown(_(":material/block: **Not started.** {reason}").format(reason=reason))


def _forget_refusal() -> None:
    for key in (_REFUSED, _BUSY_GPU):
        st.session_state.pop(key, None)


def _holder(gpu: str) -> str:
    """Return the run that has the device; empty if none has, or if that GPU is gone."""
    with suppress(NoSuchGpuError):
        return device_holder(device_in_use()[0], gpu)
    return ""


def busy_sentence(gpu: str) -> str:
    """Return which run has the device, called as in the list; empty if nobody can tell."""
    run = summarize(runs_directory() / _holder(gpu))
    if run.error:
        return ""
    text = _("One run at a time: {run} has the device. Stop it, or wait for it.")
    return text.format(run=run_label(run))


def measure(prepared: Prepared) -> None:
    """Time the config in the server's pool; the same config is timed once for all who wait."""
    line = st.empty()

    def tell(place: int) -> None:
        if place:
            line.write(_("{count} measurements come first …").format(count=place))

    vocab_size = prepared.dataset.tokenizer.vocab_size
    name = f"time {prepared.config} {vocab_size}"
    jobs().finish(name, lambda: measure_timing(prepared.config, vocab_size), tell)
