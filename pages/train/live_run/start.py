"""From the Start button to a running process, with every refusal as a sentence."""

import streamlit as st

from core.language import _
from core.train.start.launch import start_run
from core.train.start.plan import Prepared, Wish, plan_run
from core.train.start.timing import TimingError, is_worth_timing, measure_timing
from pages.server.background import jobs
from pages.server.control_right import check_teacher
from pages.server.rate import take_turn
from pages.server.sandbox_line import make_way


def start(wish: Wish) -> str | None:
    """Time the device if it was not, start the run, and return its name; None if refused.

    Whoever may only watch is refused here, whatever the browser has sent.
    """
    with st.status(_("Getting ready …"), expanded=True) as status:
        try:
            check_teacher()
            take_turn("start")
            make_way()
            name = _start(wish)
        except (ValueError, OSError, TimingError) as error:
            status.update(label=_("The run was not started"), state="error")
            st.write(str(error))
            return None
        status.update(label=_("Started"), state="complete", expanded=False)
        return name


def _start(wish: Wish) -> str:
    prepared = plan_run(wish)
    if is_worth_timing(prepared.timing):
        st.write(_("Timing 20 steps on this device, in a process of its own …"))
        _measure(prepared)
        prepared = plan_run(wish, prepared.dataset)
    st.write(_("Writing the run and starting its process …"))
    return start_run(prepared).name


def _measure(prepared: Prepared) -> None:
    """Time the config in the server's pool; the same config is timed once for all who wait."""
    line = st.empty()

    def tell(place: int) -> None:
        if place:
            line.write(_("{count} measurements come first …").format(count=place))

    vocab_size = prepared.dataset.tokenizer.vocab_size
    name = f"time {prepared.config} {vocab_size}"
    jobs().finish(name, lambda: measure_timing(prepared.config, vocab_size), tell)
