"""What stands above a run that is shown: its own settings, which may not be those of the next."""

from dataclasses import dataclass
from typing import Any, Final

import streamlit as st

from core.language import _
from core.train.config import TrainConfig, is_watched, num_parameters
from core.train.run.directory import (
    checkpoints,
    is_run_name,
    open_run_directory,
    runs_directory,
    written_time,
)
from core.train.run.shelf import RunSummary, newest_run, summarize
from core.train.run.state import FINAL_STATES
from core.train.start.plan import Outline, Prepared
from core.train.start.presets import preset_title
from core.units import format_bytes
from pages.components.live_chart.words import STATES
from pages.server.classroom import in_class
from pages.server.control_right import is_teacher, may_control
from pages.shared.clock import browser_zone, local_time
from pages.shared.page_links import show_link
from pages.shared.settings import unit_system
from pages.shared.snippet import show_code
from pages.train.live_run.prediction import (
    details,
    headline_text,
    plan_text,
    prediction_text,
    watched_text,
)

SNIPPET: Final = """
from torch import nn

# Vocabulary, sequence length, hidden size, layers.
V, T, C, L = {vocab_size}, {seq_len}, {hidden_dim}, {num_layers}


def block():
    attention = [nn.Linear(C, 3 * C, bias=False), nn.Linear(C, C, bias=False)]  # q, k and v; out
    feed_forward = [nn.Linear(C, 4 * C, bias=False), nn.Linear(4 * C, C, bias=False)]
    norms = [nn.LayerNorm(C, bias=False), nn.LayerNorm(C, bias=False)]
    return nn.ModuleList(attention + feed_forward + norms)


embeddings = [nn.Embedding(V, C), nn.Embedding(T, C)]  # tokens and positions; the head is tied
gpt = nn.ModuleList([*embeddings, *(block() for _ in range(L)), nn.LayerNorm(C, bias=False)])
for name, part in [("embeddings", gpt[:2]), ("blocks", gpt[2:-1]), ("last norm", gpt[-1])]:
    print(f"{{name}}: {{sum(p.numel() for p in part.parameters()):,}}")
print(f"{{sum(p.numel() for p in gpt.parameters()):,}}")
"""


@dataclass(frozen=True, kw_only=True, slots=True)
class ShownRun:
    """A run as its own run.json describes it."""

    run: RunSummary
    config: TrainConfig | None  # None of a loop of the reader's own

    @property
    def vocab_size(self) -> int | None:
        """Different tokens of its text; None if nobody noted them."""
        return self._section("text").get("vocab_size")

    @property
    def mark(self) -> str:
        """What the browser compares with what it sees: which run, and whether it has ended."""
        return f"{self.run.name} ended" if self.run.state in FINAL_STATES else self.run.name

    @property
    def title(self) -> str:
        return preset_title(self.run.title)

    @property
    def parameters(self) -> str:
        """How many parameters it has, as written; empty if nobody noted its vocabulary."""
        return f"{count:,}" if (count := num_parameters(self.run.info)) else ""

    @property
    def headline(self) -> str:
        if self.config is None:
            return watched_text(self.run.info["config"], self.parameters)
        return headline_text(self.config, self.parameters)

    @property
    def details(self) -> str:
        """Title, owner, what was predicted of this run before it started, and its GPU."""
        prediction = self._section("prediction")
        memory = sum(filter(None, (prediction.get("memory") or {}).values()))
        seconds = prediction.get("seconds")
        if self.config is None:
            told = _("memory that is known before the first step: {amount}").format(
                amount=format_bytes(memory, unit_system())
            )
        else:
            told = details(self.config, self.vocab_size, memory or None, seconds)
        return " · ".join(filter(None, (self.title, whose(self.run), told, self.run.gpu_name)))

    def _section(self, name: str) -> dict[str, Any]:
        section = self.run.info.get(name)
        return section if isinstance(section, dict) else {}


def shown_run(name: str) -> ShownRun | None:
    """Return the run of that name, or the newest for ""; None if there is none to be read."""
    folder = runs_directory()
    try:
        run = summarize(open_run_directory(folder, name or newest_run(folder) or ""))
        own = None if is_watched(run.info) else TrainConfig.from_json(run.info["config"])
        return ShownRun(run=run, config=own)
    except (ValueError, KeyError, OSError):
        return None  # the browser part says so where the run would be


def device_banner(kind: str, name: str) -> None:
    """Name the device as it calls itself; on a CPU, say that GPU numbers are not invented."""
    with st.container(key="device_banner"):
        if kind == "cpu":
            text = _("Runs on the CPU {name}. What needs a GPU reads: n/a on this device.")
        else:
            text = _("Runs on {name}.")
        st.caption(text.format(name=f"`{name.replace('`', '')}`"))


def link_to_model(run: RunSummary) -> None:
    """Lead into the run's own model and to the graph of its step, once it has a checkpoint."""
    if checkpoints(run.directory) and run.info["config"].get("family", "gpt") == "gpt":
        query = {"graph_run": run.name}
        show_link("autograd/computation_graph", _("The graph of this step →"), query)
        show_link("models/inside_gpt", _("Inside this model →"), {"inside_run": run.name})


def answer_of(shown: ShownRun | None, planned: Outline | None) -> tuple[str, str]:
    """Return headline and details of the shown run; without one, the plan of the coming one."""
    if shown:
        return shown.headline, shown.details
    return (plan_text(planned) if planned else ""), ""


def code_and_graph(shown: ShownRun | None, planned: Outline | None) -> None:
    chosen = shown or planned
    if chosen and chosen.vocab_size and chosen.config and chosen.config.family == "gpt":
        shape = chosen.config.shape(chosen.vocab_size)
        names = ("vocab_size", "seq_len", "hidden_dim", "num_layers")
        show_code("plan", SNIPPET.format(**{name: getattr(shape, name) for name in names}))
    if shown:
        link_to_model(shown.run)


def next_run_text(shown: ShownRun | None, planned: Outline, prepared: Prepared | None) -> str:
    """Return a line on the run that Train begins where it differs from the shown one; else empty.

    As long as a recording is shown, it tells what an own run takes.
    """
    name, text = planned.config.name, plan_text(planned)
    if shown is None:
        return _("Your run: {details}").format(details=prediction_text(planned, prepared))
    if shown.headline == text and shown.config and shown.config.name == name:
        return ""
    return _("Next: {title} · {headline}").format(title=preset_title(name), headline=text)


def run_label(run: RunSummary) -> str:
    """Return one line on a run: title, whose, time it was made (the reader's), state and step."""
    of_a_loop = {"stopping": "leaving", "stopped": "left"} if is_watched(run.info) else {}
    state = _(STATES.get(of_a_loop.get(run.state, run.state), run.state))
    made = local_time(run.created, browser_zone())
    steps = f"{run.step:,} / {run.num_steps:,}" if run.num_steps else f"{run.step:,}"
    told = (preset_title(run.title), whose(run), made, state, steps, forked_from(run))
    return " · ".join(filter(None, told))


def forked_from(run: RunSummary) -> str:
    """Return at which step of which run it began; empty for one that began with chance."""
    parent = run.info.get("parent")
    if not isinstance(parent, dict) or not is_run_name(str(parent.get("run"))):
        return ""
    time = written_time(parent["run"], browser_zone())
    return _("forked at step {step} of the run of {time}").format(step=parent["step"], time=time)


def whose(run: RunSummary) -> str:
    """Return whose run it is; empty for one that was trained outside a class."""
    if run.info.get("sandbox"):
        own = not is_teacher() and may_control(run.name)
        return _("your own") if own else _("a student's")
    return _("the class's") if in_class() else ""
