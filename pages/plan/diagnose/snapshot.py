"""A memory snapshot of the reader's own: what filled the GPU, over the recorded time."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Final

import streamlit as st

from core.budget.diagnosis.moments import step_totals
from core.budget.diagnosis.sentences import snapshot_sentence
from core.budget.diagnosis.snapshot.answer import MAX_BYTES, Category, Point, Snapshot, as_snapshot
from core.budget.planning.plan import Plan
from core.budget.table import read_table
from core.figures.budget.frames import framed, lying_bars, text_size
from core.figures.budget.stacked_parts import capacity_line, legend_below
from core.figures.picture import Drawing, Look, Picture, Table
from core.language import N_, _
from pages.components.large_file.large_file import large_file
from pages.plan.diagnose.inputs import ASK, Case
from pages.server.snapshots import PATH, snapshots
from pages.shared.settings import is_hidden, locked, look
from pages.shared.tabbed_page import Chart, Shown, Tab

_PROGRAMS: Final[Mapping[str, str]] = read_table(__file__)
CODE: Final = _PROGRAMS["read"]
SENT: Final = ASK.key("sent")  # in the session: the key of the answer, and the file's name
WORDS: Final[Mapping[Category, tuple[str, str, str]]] = {
    "before": (N_("before the recording"), "other", "."),
    "setup": (N_("model set-up"), "setup", ""),
    "optimizer": (N_("optimizer step"), "optimizer", ""),
    "forward": (N_("forward"), "forward", ""),
    "backward": (N_("backward"), "backward", ""),
    "other": (N_("other code"), "temporary", ""),
    "unknown": (N_("no stack recorded"), "muted", "x"),
}
"""Where a block was allocated -> its name, its colour's meaning and its pattern; from below."""
PARTS: Final = {
    "active": (N_("in tensors"), "muted", ""),
    "fragmented": (N_("idle, between tensors"), "temporary", "/"),
    "in_empty": (N_("idle, in segments without a tensor"), "other", "-"),
}
HEIGHT_PX: Final = 360
_ROOM: Final = 1.15  # of the highest thing: its name stands above it
_FAR: Final = 2.0  # times what was reserved: a plan above would flatten the picture
_FEWEST: Final = 6  # events on the axis: fewer whole numbers would stand there twice
_LONGEST_NAME: Final = 60
_READABLE: Final = 0.12  # of the axis: as wide as an amount in a bar


def choose_snapshot() -> str:
    """Show the place for the file; return what the server has read of it, "" of none."""
    if not is_hidden(ASK.page, "snapshot"):
        most = look().format_bytes(MAX_BYTES)
        large_file(ASK.key("snapshot"), PATH, (MAX_BYTES, most), _keep, disabled=locked())
    key, name = st.session_state.get(SENT, ("", ""))
    answer = snapshots().answer(key)
    if answer:
        st.caption(f"`{name}`")
    elif key:
        st.caption(_("The server has forgotten `{name}`: send it again.").format(name=name))
    return answer


def _keep(key: str, name: str) -> None:
    if not locked():
        plain = "".join(letter for letter in name if letter.isprintable() and letter != "`")
        st.session_state[SENT] = (key, plain[:_LONGEST_NAME])


def show_snapshot(case: Case, answer: str) -> Shown:
    """Show the recorded time or, without one, the segments; the plan's peak beside it."""
    if not answer:
        return Shown(
            headline=_("Send a memory snapshot: it shows what filled the GPU"),
            notes=[_("These lines around some steps write the file, on the machine with the GPU:")],
            below=_show_how_to_record, code=CODE,
        )  # fmt: skip
    try:
        told = as_snapshot(answer)
    except ValueError as error:
        st.error(str(error))
        return Shown(headline=_("This file was not read as a memory snapshot"), code=CODE)
    planned, notes = _planned(case.chosen.plan, told)
    draw = history_picture if told.points else segments_picture
    return Shown(
        headline=snapshot_sentence(told, look().unit),
        charts=[Chart(picture=draw(told, planned, look()), file_name="memory-snapshot")],
        notes=[*_notes(told), *notes], below=lambda: _show_blocks(told), code=CODE,
    )  # fmt: skip


def _show_how_to_record() -> None:
    st.code(_PROGRAMS["record"].strip())


def _planned(plan: Plan, told: Snapshot) -> tuple[float, Sequence[str]]:
    """Return the plan's peak in tensors if it can be drawn, else 0 and why not."""
    try:
        peak = max(each.amount for each in step_totals(plan))
    except ValueError as error:  # the model cannot be split so
        return 0.0, [str(error)]
    if peak <= _FAR * _top(told):
        return peak, []
    text = _("The plan's peak in tensors, {peak}, is far above what this snapshot holds: set the "
             "plan as the run was, and it stands in the picture.")  # fmt: skip
    return 0.0, [text.format(peak=look().format_bytes(peak))]


def _top(told: Snapshot) -> int:
    return max([told.reserved, *(point.reserved for point in told.points)])


def _notes(told: Snapshot) -> Sequence[str]:
    show, notes = look().format_bytes, []
    if told.at_start:
        text = _("The recording begins with {bytes} in tensors: it was switched on later, or its "
                 "ring of events was too short and has lost the beginning.")  # fmt: skip
        notes.append(text.format(bytes=show(told.at_start)))
    if unknown := told.peak.by_category["unknown"]:
        text = _("Of {bytes} no stack was recorded. Backward runs in threads without Python: "
                 "record with stacks='all' to see it.")  # fmt: skip
        notes.append(text.format(bytes=show(unknown)))
    text = _("Of what lies idle {empty} is in segments without a tensor, which empty_cache() gives "
             "back, and {rest} lies between tensors; the largest free piece has "
             "{largest}.")  # fmt: skip
    sizes = {"empty": told.in_empty, "rest": told.fragmented, "largest": told.largest_free}
    idle = text.format(**{name: show(size) for name, size in sizes.items()})
    return [*notes, idle, *_remarks(told)]


def _remarks(told: Snapshot) -> Sequence[str]:
    show, notes = look().format_bytes, []
    if told.requests:
        text = _("In the recorded time memory ran out {count} times; the last request was {bytes}.")
        count = f"{told.actions.get('oom', len(told.requests)):,}"
        notes.append(text.format(count=count, bytes=show(told.requests[-1])))
    if told.num_devices > 1:
        text = _("The snapshot has {count} GPUs; this is GPU {device}, the one with most events.")
        notes.append(text.format(count=f"{told.num_devices:,}", device=told.device))
    if told.is_expandable:
        notes.append(_("The segments are expandable: empty_cache() also gives back whole pages "
                       "between tensors."))  # fmt: skip
    if told.gap:
        text = _("Events and segments differ by {bytes} at the end: the curve may be off by that.")
        notes.append(text.format(bytes=show(abs(told.gap))))
    return notes


def history_picture(told: Snapshot, planned: float, look: Look) -> Picture:
    """Return what was in tensors by category, what was reserved, and the peak."""
    drawing, points = Drawing(), told.points
    events = [point.event for point in points]
    for name in WORDS:
        if any(point.by_category[name] for point in points):
            _draw_area(drawing, name, points, look)
    drawing.scatter(
        x=events, y=[look.in_unit(point.reserved) for point in points], mode="lines",
        name=_("reserved"), line={"color": look.color("text"), "width": 2, "shape": "hv"},
        customdata=[look.format_bytes(point.reserved) for point in points],
        hovertemplate="%{customdata}<extra>%{fullData.name}</extra>",
    )  # fmt: skip
    _draw_peak(drawing, told, look)
    top = max(_top(told), planned)
    if planned:
        capacity_line(drawing, look.in_unit(planned), _plan_words(planned, look), look, flat=False)
    figure = framed(
        drawing, look, height=HEIGHT_PX, hovermode="x", legend=legend_below(look),
        x={"title": {"text": _("events of the allocator, in order")}, "tickformat": ",d",
           "range": [0, max(events[-1], _FEWEST)]},
        y={"title": {"text": look.unit}, "range": [0, _ROOM * look.in_unit(top)]},
        margin={"l": 8, "r": 24, "t": 8, "b": 8},
    )  # fmt: skip
    parts = [f"{_(label)} {look.format_bytes(told.peak.by_category[name])}"
             for name, (label, *_look) in WORDS.items() if told.peak.by_category[name]]  # fmt: skip
    text = _("Bytes in tensors over {events} events: at the start {start}, at the peak {peak} "
             "({parts}) with {reserved} reserved, at the end {end}.")  # fmt: skip
    alt = text.format(
        events=f"{sum(told.actions.values()):,}", start=look.format_bytes(points[0].active),
        peak=look.format_bytes(told.peak.active), parts=_(", ").join(parts),
        reserved=look.format_bytes(told.peak.reserved), end=look.format_bytes(points[-1].active),
    )  # fmt: skip
    return Picture(figure=figure, alt=alt, table=_moments(told, look))


def _draw_area(drawing: Drawing, name: Category, points: Sequence[Point], look: Look) -> None:
    label, meaning, pattern = WORDS[name]
    color, amounts = look.color(meaning), [point.by_category[name] for point in points]
    drawing.scatter(
        x=[point.event for point in points], y=[look.in_unit(amount) for amount in amounts],
        stackgroup="memory", mode="lines", name=_(label),
        line={"color": color, "width": 0.5, "shape": "hv"},
        fillpattern={"shape": pattern, "fgcolor": color, "fillmode": "overlay", "size": 6},
        customdata=[f"{look.format_bytes(amount)}, {point.micros / 1000:,.1f} ms"
                    for point, amount in zip(points, amounts, strict=True)],
        hovertemplate="%{customdata}<extra>%{fullData.name}</extra>",
    )  # fmt: skip


def _draw_peak(drawing: Drawing, told: Snapshot, look: Look) -> None:
    peak, is_right = told.peak, told.peak.event > told.points[-1].event / 2
    drawing.note(
        x=peak.event, y=look.in_unit(peak.active), showarrow=True, arrowcolor=look.color("text"),
        text=_("peak {bytes}").format(bytes=look.format_bytes(peak.active)),
        ax=-70 if is_right else 70, ay=24, xanchor="right" if is_right else "left",
        bgcolor=look.color("background"),
    )  # fmt: skip


def _plan_words(planned: float, look: Look) -> str:
    return _("the plan's peak in tensors: {bytes}").format(bytes=look.format_bytes(planned))


def _moments(told: Snapshot, look: Look) -> Table:
    """Return each category at the start, at the peak and at the end."""
    moments = (told.points[0], told.peak, told.points[-1])
    rows = [name for name in WORDS if any(point.by_category[name] for point in moments)]
    columns = {_("in tensors from"): [*(_(WORDS[name][0]) for name in rows), _("reserved")]}
    titles = (_("at the start"), _("at the peak"), _("at the end"))
    for title, point in zip(titles, moments, strict=True):
        amounts = [*(point.by_category[name] for name in rows), point.reserved]
        columns[title] = [look.format_bytes(amount) for amount in amounts]
    return columns


def segments_picture(told: Snapshot, planned: float, look: Look) -> Picture:
    """Return what the segments show of one moment: reserved memory, and who asked for tensors."""
    drawing, reach = Drawing(), _ROOM * max(told.reserved, planned)
    row, asked = _("reserved"), _("in tensors from")
    rows = [(row, *words, getattr(told, name)) for name, words in PARTS.items()]
    rows += [(asked, *words, told.peak.by_category[name]) for name, words in WORDS.items()]
    shown = [each for each in rows if each[-1]]
    ends = Counter[str]()
    for title, label, meaning, pattern, size in shown:
        words = look.format_bytes(size) if size > _READABLE * reach else ""
        drawing.bar(
            x=[size], y=[title], orientation="h", name=_(label),
            marker={"color": look.color(meaning), "pattern": {"shape": pattern}},
            text=["" if pattern else words], textposition="inside", insidetextanchor="middle",
            hovertemplate=f"{_(label)}: {look.format_bytes(size)}<extra></extra>",
        )  # fmt: skip
        ends[title] += size
        if pattern and words:  # between lines nobody reads: they get a ground
            middle, ground = ends[title] - size / 2, look.color("background")
            drawing.note(x=middle, y=title, text=words, bgcolor=ground)
    if planned:
        text = _plan_words(planned, look)
        capacity_line(drawing, planned, text, look, flat=True, longest=reach)
    figure = lying_bars(
        drawing, look, room=reach, height=HEIGHT_PX, top=2 * text_size(look), right=24,
        legend=legend_below(look) | {"xref": "container"},
    )  # fmt: skip
    named = [f"{_(label)} {look.format_bytes(size)}" for _row, label, _m, _p, size in shown]
    alt = _("{segments} segments of {reserved} when the snapshot was taken: {parts}.").format(
        segments=f"{told.num_segments:,}", reserved=look.format_bytes(told.reserved),
        parts=_(", ").join(named))  # fmt: skip
    table = {
        _("of"): [each[0] for each in shown], _("part"): [_(each[1]) for each in shown],
        _("bytes"): [look.format_bytes(each[-1]) for each in shown],
    }  # fmt: skip
    return Picture(figure=figure, alt=alt, table=table)


def _show_blocks(told: Snapshot) -> None:
    """List the largest blocks with the line that asked for them."""
    if told.points:
        text = _("**The largest of {count} blocks at the peak**, and the line that asked for each:")
    else:
        text = _("**The largest of {count} blocks in use**, and the line that asked for each:")
    st.markdown(text.format(count=f"{told.num_blocks:,}"))
    columns = {
        _("size"): [look().format_bytes(block.num_bytes) for block in told.blocks],
        _("allocated in"): [_(WORDS[block.category][0]) for block in told.blocks],
        _("place in the code"): [block.place or "–" for block in told.blocks],
    }
    st.dataframe(columns, hide_index=True)


TAB: Final = Tab(
    label=N_("Memory snapshot"), show=show_snapshot, choose=choose_snapshot,
    unseen=("text", "file"), reading="snapshot",
)  # fmt: skip
