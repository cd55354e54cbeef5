"""The operators of a step: torch.profiler's trace, as an icicle and as a table."""

from collections.abc import Sequence
from typing import Final

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from core.figures.train.icicle import icicle_picture, operator_columns
from core.language import N_, _
from core.train.profiler.trace import MAX_BYTES, Profile, read_trace, trace_sentence, verdict_of
from pages.shared.settings import look
from pages.shared.tabbed_page import Chart, Shown, Tab
from pages.train.step_profiler.inputs import ASK, Case, not_measured, result_of, told_of

STEPS: Final = (1, 3, 5, 10)
MOST_ROWS: Final = 40
_CODE: Final = """
import torch
from torch import nn
from torch.profiler import ProfilerActivity, profile, record_function

model = nn.Sequential(nn.Linear(64, 256), nn.GELU(), nn.Linear(256, 64))
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
x = torch.randn(1024, 64)

def step():
    with record_function("forward"):  # a range of your own: any name
        loss = (model(x) - x).square().mean()
    optimizer.zero_grad()
    with record_function("backward"):
        loss.backward()
    with record_function("optimizer"):
        optimizer.step()

step()  # the first step loads kernels
activities = [ProfilerActivity.CPU]  # with a GPU also ProfilerActivity.CUDA
with profile(activities=activities, acc_events=True) as profiler:
    for _ in range({steps}):
        step()
print(profiler.key_averages().table(sort_by="self_cpu_time_total", row_limit=8))
# profiler.export_chrome_trace("trace.json")  # upload it here, or open it in ui.perfetto.dev
"""


# How many steps are profiled, the reader's own trace, and where the button stands.
Asked = tuple[int, bytes | None, DeltaGenerator]


def choose_trace() -> Asked:
    steps = ASK.select_slider("steps", _("Steps"), STEPS, default=3)
    place = st.container()
    with st.popover(_("A trace of your own"), icon=":material/upload_file:", key=ASK.key("own")):
        file = ASK.file(
            "upload", _("What export_chrome_trace wrote: .json or .json.gz"), MAX_BYTES // 1024**2,
            help=_("At most 5 MB: profile fewer steps, or pack the file with gzip."),
        )  # fmt: skip
    return steps, file.getvalue() if file else None, place


def operators_tab(case: Case, asked: Asked) -> Shown:
    num_steps, own, place = asked
    code = _CODE.format(steps=num_steps)
    if own is not None:
        return _shown(_read(own), [_("This is your own trace.")], None, code)
    found = result_of("operators", case, place, num_steps)
    if found is None:
        return Shown(headline=not_measured(case), code=code)
    return _shown(_read(found.trace), told_of(found.where), found.trace, code)


@st.cache_data(show_spinner=False, max_entries=8)
def _read(trace: bytes) -> Profile:
    return read_trace(trace)


def _shown(profile: Profile, source: Sequence[str], trace: bytes | None, code: str) -> Shown:
    small = _("{small} of {calls} calls have less than 10 µs of their own. The profiler itself "
              "adds about a microsecond to each call.").format(
        small=f"{profile.num_small:,}", calls=f"{profile.num_calls:,}")  # fmt: skip
    return Shown(
        headline=trace_sentence(profile),
        line=verdict_of(profile.spans)[1],
        charts=[Chart(picture=icicle_picture(profile, look()), file_name="operators")],
        notes=[small, *source],
        below=lambda: _tables(profile, trace),
        code=code,
    )


def _tables(profile: Profile, trace: bytes | None) -> None:
    st.markdown(
        _("**Self** is an operator's time without the operators that it calls; **total** is with "
          "them, so that totals overlap and only self times add up. On a GPU the CPU columns are "
          "the time to launch; the kernels run later.")
    )  # fmt: skip
    st.dataframe(operator_columns(profile.operators[:MOST_ROWS], profile), hide_index=True)
    st.markdown(
        _("**Ranges** of `record_function`: what a program calls a part. Their total is what "
          "counts; their self time is Python between the operators.")
    )  # fmt: skip
    st.dataframe(operator_columns(profile.ranges[:MOST_ROWS], profile), hide_index=True)
    if trace is not None:
        st.download_button(
            _("Chrome trace"), trace, "trace.json.gz", "application/gzip",
            key=ASK.key("trace"), icon=":material/download:", on_click="ignore",
            help=_("Opens in ui.perfetto.dev and in chrome://tracing, and here again."),
        )  # fmt: skip


TAB: Final = Tab(label=N_("Operators"), show=operators_tab, choose=choose_trace)
