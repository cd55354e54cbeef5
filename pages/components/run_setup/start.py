"""From the Start button to a running process, with every refusal as a sentence."""

import streamlit as st

from core.language import _
from core.train.launch import start_run
from core.train.plan import Wish, is_worth_timing, plan_run
from core.train.prepare import Prepared
from core.train.timing import TimingError, measure_timing
from core.units import format_bytes, format_count, format_seconds
from pages.shared.settings import unit_system


def predict(wish: Wish) -> Prepared | None:
    """Return what is predicted of the wish; a refusal is shown as a sentence and gives None."""
    try:
        return plan_run(wish)
    except (ValueError, OSError) as error:
        st.warning(str(error))
        return None


def prediction_text(prepared: Prepared | None) -> str:
    """Return parameters, memory and time in one line; empty after a refusal."""
    if prepared is None:
        return ""
    parts = [
        _("{count} parameters").format(count=format_count(prepared.parameters.amount)),
        format_bytes(prepared.memory.num_bytes, unit_system()),
    ]
    if prepared.seconds is not None:
        steps = _("{count} steps").format(count=f"{prepared.config.num_steps:,}")
        parts += [steps, format_seconds(prepared.seconds.amount)]
    return " · ".join(parts)


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
