"""One step taken apart: its parts, its memory, and two ways to do it, in turns."""

from collections.abc import Mapping, Sequence
from statistics import median, quantiles
from typing import Final

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from core.budget import Formula, Item
from core.budget.item import item
from core.figures.budget.frames import framed, rows_of_bars, text_size
from core.figures.picture import Drawing, Look, Picture
from core.figures.train.icicle import PART_WORDS
from core.language import N_, _
from core.train.profiler.results import PARTS, Anatomy, Moment, Pair
from core.train.profiler.trace import verdict_of
from core.units import format_percent, format_seconds
from pages.shared.settings import look
from pages.shared.tabbed_page import Chart, Shown, Tab
from pages.train.step_profiler.inputs import ASK, Case, not_measured, result_of, told_of

VIEWS: Final = {"parts": N_("Parts"), "memory": N_("Memory"), "item": ".item()",
                "compile": "torch.compile"}  # fmt: skip
# Word and colour.
BOUND_WORDS: Final[Mapping[str, tuple[str, str]]] = {
    "input": (N_("waiting for data"), "axis_3"),
    "sync": (N_("waiting for numbers"), "axis_5"),
    "launch": (N_("calling operators"), "other"),
    "compute": (N_("matrix products"), "axis_1"),
    "memory": (N_("moving numbers"), "axis_2"),
}
_AT_PEAK: Final = Formula("flops / peak_flops_per_second / seconds")
HEIGHT_PX: Final = 320
_CODE: Final = """
import time
from statistics import median
import torch
from torch import nn

torch.manual_seed(0)
block = nn.TransformerEncoderLayer(64, 4, 256, dropout=0.0, batch_first=True, norm_first=True)
model = nn.Sequential(nn.Embedding(100, 64), block, nn.Linear(64, 100))
{compiled}optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
text = torch.randint(100, (100_000,))
seconds = {{name: [] for name in ("data", "forward", "backward", "clip", "optimizer", "logging")}}

for _ in range(12):
    began = time.perf_counter()
    def done(part):
        global began  # on CUDA: torch.cuda.synchronize() first
        seconds[part].append(time.perf_counter() - began)
        began = time.perf_counter()
    rows = text[torch.randint(len(text) - 65, (16, 1)) + torch.arange(65)]
    done("data")
    loss = nn.functional.cross_entropy(model(rows[:, :-1]).flatten(0, 1), rows[:, 1:].flatten())
    done("forward")
    optimizer.zero_grad()
    loss.backward()
    done("backward")
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    done("clip")
    optimizer.step()
    done("optimizer")
    {told}
    done("logging")

for part, times in seconds.items():
    print(f"{{part:10}} {{median(times) * 1e3:7.2f}} ms")
"""


Asked = tuple[str, DeltaGenerator]  # what is shown of a step, and where the button stands


def choose_view() -> Asked:
    return ASK.segmented("view", _("Show"), VIEWS, default="parts"), st.container()


def anatomy_tab(case: Case, asked: Asked) -> Shown:
    view, place = asked
    is_pair = view in ("item", "compile")
    found = result_of(view if is_pair else "anatomy", case, place)
    told = "told = loss.detach()  # .item() waits for the device" if view == "item" else (
        "loss.item()  # waits for the device")  # fmt: skip
    with_compile = "model = torch.compile(model)  # the first step then takes seconds\n"
    compiled = f"# {with_compile}" if view == "compile" else ""
    code = _CODE.format(compiled=compiled, told=told)
    if found is None:
        return Shown(headline=not_measured(case), code=code)
    if is_pair:
        return _pair(found, code)
    return _memory(found, code) if view == "memory" else _parts(found, code)


def _parts(step: Anatomy, code: str) -> Shown:
    whole, backward = step.seconds(), step.seconds("backward")
    verdict, reason = verdict_of(step.spans)
    return Shown(
        headline=_("A step takes {seconds}: {share} of it the backward pass, {ratio} times the "
                   "forward pass; {verdict}").format(
            seconds=format_seconds(whole), share=format_percent(backward / whole),
            ratio=f"{backward / step.seconds('forward'):.1f}", verdict=verdict,
        ),
        line=reason,
        charts=[Chart(picture=parts_picture(step, look()), file_name="step")],
        numbers=[(_("Share at the measured peak"), _at_peak(step))],
        notes=[
            _("{small} of {calls} operators of a step take less than 10 µs of their own. Left "
              "alone, a step takes {seconds}.").format(
                small=f"{step.num_small:,.0f}", calls=f"{step.num_calls:,.0f}",
                seconds=format_seconds(median(step.as_trained))),
            *told_of(step.where),
        ],
        code=code,
    )  # fmt: skip


def _at_peak(step: Anatomy) -> Item:
    values = {"flops": step.flops, "peak_flops_per_second": step.peak_flops_per_second,
              "seconds": median(step.as_trained)}  # fmt: skip
    source = N_("FLOPs of matrix products and attention, counted as they run; the peak is that of "
                "a product of two 1,024 x 1,024 matrices, just before")  # fmt: skip
    return item("share", _AT_PEAK, values, unit="1", kind="measured", source=source)


def parts_picture(step: Anatomy, look: Look) -> Picture:
    """Return two bars: the parts of a step with their spread, and what its time goes to."""
    drawing, whole = Drawing(), step.seconds()
    for part in PARTS:
        low, middle, high = quantiles(step.parts[part], n=4)
        drawing.bar(
            **_segment(look, PART_WORDS[part], _("parts"), middle / whole, whole),
            error_x={"type": "data", "symmetric": False, "array": [(high - middle) * 1e3],
                     "arrayminus": [(middle - low) * 1e3], "color": look.color("text"),
                     "visible": middle > whole / 10},
        )  # fmt: skip
    for bound, share in step.spans.items():
        drawing.bar(**_segment(look, BOUND_WORDS[bound], _("goes to"), share, whole))
    figure = rows_of_bars(
        drawing, look, num_rows=0, height=HEIGHT_PX, showlegend=False, bargap=0.2,
        x={"title": {"text": _("milliseconds")}}, y={"type": "category"},
        margin={"l": 8, "r": 8, "t": 12, "b": 8},
        uniformtext={"minsize": text_size(look), "mode": "hide"},
    )  # fmt: skip
    parts = [f"{_(PART_WORDS[part][0])} {format_seconds(step.seconds(part))}" for part in PARTS]
    goes = [f"{_(BOUND_WORDS[name][0])} {format_percent(it)}" for name, it in step.spans.items()]
    alt = _("One step of {whole}: {parts}. Its time goes to: {goes}.").format(
        whole=format_seconds(whole), parts=_(", ").join(parts), goes=_(", ").join(goes)
    )
    table: dict[str, Sequence[object]] = {
        _("part"): [_(PART_WORDS[part][0]) for part in PARTS],
        _("median (ms)"): [step.seconds(part) * 1e3 for part in PARTS],
        _("fastest (ms)"): [min(step.parts[part]) * 1e3 for part in PARTS],
        _("slowest (ms)"): [max(step.parts[part]) * 1e3 for part in PARTS],
    }
    return Picture(figure=figure, alt=alt, table=table)


def _segment(
    look: Look, word: tuple[str, str], row: str, share: float, whole: float
) -> dict[str, object]:
    """Return a piece of a bar; its name, a word a line, stands in it where it is wide enough."""
    label, color = _(word[0]), look.color(word[1])
    return {
        "orientation": "h", "name": label, "y": [row], "x": [share * whole * 1e3],
        "text": [f"{label.replace(' ', '<br>')}<br>{share:.0%}"], "textposition": "inside",
        "insidetextanchor": "middle", "textangle": 0,
        "textfont": {"color": look.color("background")},
        "marker": {"color": color, "line": {"width": 1, "color": look.color("background")}},
        "hovertemplate": f"{label}: %{{x:.2f}} ms ({share:.1%})<extra></extra>",
    }  # fmt: skip


def _memory(step: Anatomy, code: str) -> Shown:
    peak = max(step.measured, key=lambda moment: moment.num_bytes)
    simulated = max(moment.num_bytes for moment in step.simulated)
    return Shown(
        headline=_("The step peaks at {measured} in {part}; simulated: {simulated}").format(
            measured=look().format_bytes(peak.num_bytes), part=_part_word(peak),
            simulated=look().format_bytes(simulated),
        ),
        line=_("The operator at the peak is {op}.").format(op=f"`{peak.op}`"),
        charts=[Chart(picture=memory_picture(step, look()), file_name="step-memory")],
        notes=[_("Measured: the storages of all tensors, noted as each operator makes and frees "
                 "them. Simulated: the same step on tensors that have a shape and no data."),
               *told_of(step.where)],
        code=code,
    )  # fmt: skip


def _part_word(moment: Moment) -> str:
    return _(PART_WORDS.get(moment.phase, PART_WORDS["other"])[0])


def memory_picture(step: Anatomy, look: Look) -> Picture:
    """Return the bytes after each operation: measured, and simulated over it."""
    drawing, layout = Drawing(), look.layout()
    curves = ((_("measured"), step.measured, "measured", "solid"),
              (_("simulated"), step.simulated, "estimated", "dot"))  # fmt: skip
    for name, moments, color, dash in curves:
        drawing.scatter(
            x=[it.place for it in moments], y=[it.num_bytes / 2**20 for it in moments],
            mode="lines", name=name, customdata=[f"{_part_word(it)}: {it.op}" for it in moments],
            line={"shape": "hv", "color": look.color(color), "width": 3, "dash": dash},
            hovertemplate="%{customdata}<br>%{y:.2f} MiB<extra>" + name + "</extra>",
        )  # fmt: skip
    for part in ("forward", "backward", "optimizer"):  # a line where each begins, its name above
        place = next((it.place for it in step.measured if it.phase == part), None)
        if place is None:  # a fused kernel makes no tensor
            continue
        anchor = "right" if part == "optimizer" else "left"
        drawing.shape(type="line", x0=place, x1=place, y0=0, y1=1, yref="paper",
                      line={"width": 1, "dash": "dot", "color": look.color("muted")})  # fmt: skip
        drawing.note(x=place, y=1.0, yref="paper", yanchor="bottom", xanchor=anchor,
                     text=_(PART_WORDS[part][0]))  # fmt: skip
    size = layout["font"]["size"]
    fields = {
        "height": HEIGHT_PX + 40, "margin": {"l": 8, "r": 8, "t": size * 4, "b": 8},
        "legend": layout["legend"] | {"y": 1.1},
        "xaxis": layout["xaxis"] | {"title": {"text": _("operators that make or free memory")}},
        "yaxis": layout["yaxis"] | {"title": {"text": "MiB"}, "rangemode": "tozero"},
    }  # fmt: skip
    peaks = [max(moment.num_bytes for moment in moments) for _n, moments, _c, _d in curves]
    alt = _("Memory along one step of {count} operations: measured at most {measured}, simulated "
            "at most {simulated}.").format(
        count=len(step.measured), measured=look.format_bytes(peaks[0]),
        simulated=look.format_bytes(peaks[1]))  # fmt: skip
    table: dict[str, Sequence[object]] = {
        _("part"): [_part_word(moment) for moment in step.measured],
        _("operator"): [moment.op for moment in step.measured],
        "MiB": [moment.num_bytes / 2**20 for moment in step.measured],
    }
    return Picture(figure=drawing.figure(layout | fields), alt=alt, table=table)


def _pair(pair: Pair, code: str) -> Shown:
    first, second = median(pair.first), median(pair.second)
    values = {"first": format_seconds(first), "second": format_seconds(second),
              "ratio": f"{pair.ratio:.2f}", "ready": format_seconds(pair.ready)}  # fmt: skip
    if pair.kind == "item":
        text = _("Reading the loss every step: {first} a step; every hundredth: {second} ({ratio} "
                 "times)")  # fmt: skip
        note = _("On a CPU nothing runs ahead: .item() has nothing to wait for, and what differs "
                 "there is noise. On a GPU Python runs ahead of the device; .item() waits until it "
                 "has caught up, and the device then waits for Python.")  # fmt: skip
    else:
        text = _("Eager, a step takes {first}; compiled {second}: {ratio} times as fast, after "
                 "{ready} of compiling")  # fmt: skip
        note = _("torch.compile makes one kernel of many operators: fewer calls, and less to move. "
                 "Matrix products stay as they are: a compute-bound step gains little."
                 )  # fmt: skip
    chart = Chart(picture=pair_picture(pair, look()), file_name=f"step-{pair.kind}")
    notes = [note, *told_of(pair.where)]
    return Shown(headline=text.format(**values), charts=[chart], notes=notes, code=code)


def pair_picture(pair: Pair, look: Look) -> Picture:
    """Return the seconds of a step in two ways, turn by turn."""
    drawing = Drawing()
    names = (_(".item() every step"), _(".item() every 100 steps"))
    names = names if pair.kind == "item" else (_("eager"), _("compiled"))
    turns = [_("turn {number}").format(number=turn + 1) for turn in range(len(pair.first))]
    arms = [[each * 1e3 for each in arm] for arm in (pair.first, pair.second)]
    for name, arm, color, shape in zip(names, arms, ("side_a", "side_b"), ("", "/"), strict=True):
        drawing.bar(
            x=turns, y=arm, name=name, text=[f"{each:.3g}" for each in arm],
            marker={"color": look.color(color), "pattern": {"shape": shape, "fillmode": "overlay"}},
            textposition="outside", cliponaxis=False,
            hovertemplate="%{x}: %{y:.3f} ms<extra>" + name + "</extra>",
        )  # fmt: skip
    figure = framed(
        drawing, look, x={}, y={"title": {"text": _("ms a step")}, "rangemode": "tozero"},
        barmode="group", height=HEIGHT_PX + 40,
        margin={"l": 8, "r": 8, "t": text_size(look) * 4, "b": 8},
    )  # fmt: skip
    alt = _("Two ways to do a step, in {count} turns: {first} takes {a}, {second} {b}.").format(
        count=len(turns), first=names[0], a=format_seconds(median(pair.first)), second=names[1],
        b=format_seconds(median(pair.second)))  # fmt: skip
    table: dict[str, Sequence[object]] = {
        _("turn"): turns,
        **{f"{n} (ms)": arm for n, arm in zip(names, arms, strict=True)},
    }
    return Picture(figure=figure, alt=alt, table=table)


TAB: Final = Tab(label=N_("Anatomy"), show=anatomy_tab, choose=choose_view)
