"""The operators of a step: torch.profiler's trace, as an icicle and as a table."""

import html
from collections.abc import Sequence
from typing import Any, Final

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from core.figures.picture import Drawing, Look, Picture
from core.language import N_, _
from core.train.profiler.trace import MAX_BYTES, Operator, Profile, read_trace
from core.units import format_percent, format_seconds
from pages.shared.settings import locked, look
from pages.shared.tabbed_page import Chart, Shown, Tab
from pages.train.step_profiler.anatomy import PART_WORDS, verdict_of
from pages.train.step_profiler.inputs import ASK, Case, not_measured, result_of, told_of

STEPS: Final = (1, 3, 5, 10)
MOST_ROWS: Final = 40
HEIGHT_PX: Final = 400
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
        file = st.file_uploader(
            _("What export_chrome_trace wrote: .json or .json.gz"),
            key=ASK.key("upload"), max_upload_size=MAX_BYTES // 1024**2, disabled=locked(),
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
        headline=_headline(profile),
        line=verdict_of(profile.spans)[1],
        charts=[Chart(picture=icicle_picture(profile, look()), file_name="operators")],
        notes=[small, *source],
        below=lambda: _tables(profile, trace),
        code=code,
    )


def _headline(profile: Profile) -> str:
    first = profile.operators[0]
    times = [row.device if profile.has_device else row.own for row in profile.operators]
    share = (first.device if profile.has_device else first.own) / (sum(times) or 1.0)
    forward, backward = profile.phases["forward"], profile.phases["backward"]
    values = {"name": f"`{first.name}`", "share": format_percent(share),
              "calls": f"{first.calls:,}", "verdict": verdict_of(profile.spans)[0],
              "ratio": f"{backward / forward:.1f}" if forward else ""}  # fmt: skip
    if not (forward and backward):
        text = _("{name} takes {share} of the self time, in {calls} calls; {verdict}")
    else:
        text = _("{name} takes {share} of the self time, in {calls} calls; backward {ratio} times "
                 "forward; {verdict}")  # fmt: skip
    return text.format(**values)


def icicle_picture(profile: Profile, look: Look) -> Picture:
    """Return the tree of callers: parts of the step, ranges, operators, and what these call."""
    drawing, layout, nodes = Drawing(), look.layout(), profile.nodes
    whole = sum(node.seconds for node in nodes if len(node.path) == 1)
    names = [
        html.escape(node.path[-1].removeprefix("aten::")) if len(node.path) > 1
        else _(PART_WORDS.get(node.path[0], PART_WORDS["other"])[0]) for node in nodes
    ]  # fmt: skip
    colors = [look.color(PART_WORDS.get(it.path[0], PART_WORDS["other"])[1]) for it in nodes]
    ids = ["/".join(("", *node.path)) for node in nodes]
    drawing.trace(
        "icicle",
        ids=["/", *ids],
        parents=["", *("/".join(("", *node.path[:-1])) or "/" for node in nodes)],
        labels=[_("all operators"), *names],
        values=[whole * 1e3, *(node.seconds * 1e3 for node in nodes)],
        customdata=[profile.num_calls, *(node.calls for node in nodes)],
        branchvalues="total", sort=False, tiling={"orientation": "v"},
        marker={"colors": [look.color("surface"), *colors],
                "line": {"width": 1, "color": look.color("background")}},
        leaf={"opacity": 0.85},
        textfont={"color": [look.color("text")] + [look.color("background")] * len(nodes)},
        texttemplate="%{label} %{percentRoot:.0%}",
        hovertemplate="%{label}<br>%{value:.3f} ms, %{percentRoot:.1%}<br>"
        + _("{count} calls").format(count="%{customdata:,}") + "<extra></extra>",
    )  # fmt: skip
    size = layout["font"]["size"]
    fields = {"height": HEIGHT_PX, "margin": {"l": 8, "r": 8, "t": size * 2, "b": 8},
              "uniformtext": {"minsize": size, "mode": "hide"}}  # fmt: skip
    phases = [f"{_(PART_WORDS[name][0])} {format_percent(seconds / whole)}"
              for name, seconds in profile.phases.items() if seconds]  # fmt: skip
    alt = _("Icicle of {calls} calls in {seconds}: {phases}. Most self time: {first}.").format(
        calls=f"{profile.num_calls:,}", seconds=format_seconds(whole),
        phases=_(", ").join(phases), first=profile.operators[0].name,
    )  # fmt: skip
    table = _columns(profile.operators, profile)
    return Picture(figure=drawing.figure(layout | fields), alt=alt, table=table)


def _columns(rows: Sequence[Operator], profile: Profile) -> dict[str, list[Any]]:
    columns: dict[str, list[Any]] = {_("operator"): [row.name for row in rows]}
    times = {_("self (ms)"): "own", _("total (ms)"): "total", _("self in forward (ms)"): "forward",
             _("self in backward (ms)"): "backward"}  # fmt: skip
    times |= {_("on the GPU (ms)"): "device"} if profile.has_device else {}
    for title, name in times.items():
        columns[title] = [round(getattr(row, name) * 1e3, 3) for row in rows]
    columns[_("calls")] = [row.calls for row in rows]
    columns[_("self a call (µs)")] = [round(row.own / row.calls * 1e6, 1) for row in rows]
    return columns


def _tables(profile: Profile, trace: bytes | None) -> None:
    st.markdown(
        _("**Self** is an operator's time without the operators that it calls; **total** is with "
          "them, so that totals overlap and only self times add up. On a GPU the CPU columns are "
          "the time to launch; the kernels run later.")
    )  # fmt: skip
    st.dataframe(_columns(profile.operators[:MOST_ROWS], profile), hide_index=True)
    st.markdown(
        _("**Ranges** of `record_function`: what a program calls a part. Their total is what "
          "counts; their self time is Python between the operators.")
    )  # fmt: skip
    st.dataframe(_columns(profile.ranges[:MOST_ROWS], profile), hide_index=True)
    if trace is not None:
        st.download_button(
            _("Chrome trace"), trace, "trace.json.gz", "application/gzip",
            key=ASK.key("trace"), icon=":material/download:", on_click="ignore",
            help=_("Opens in ui.perfetto.dev and in chrome://tracing, and here again."),
        )  # fmt: skip


TAB: Final = Tab(label=N_("Operators"), show=operators_tab, choose=choose_trace)
