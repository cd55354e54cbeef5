"""From the Start button to a running process, with every refusal as a sentence."""

import streamlit as st

from core.language import _
from core.train.launch import start_run
from core.train.plan import Wish, plan_run
from core.train.timing import TimingError, is_worth_timing, measure_timing


def start(wish: Wish) -> str | None:
    """Time the device if it was not, start the run, and return its name; None if refused."""
    with st.status(_("Getting ready …"), expanded=True) as status:
        try:
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
        measure_timing(prepared.config, prepared.dataset.tokenizer.vocab_size)
        prepared = plan_run(wish)
    st.write(_("Writing the run and starting its process …"))
    directory = start_run(prepared.config, upload=wish.upload, upload_name=wish.upload_name)
    return directory.name
