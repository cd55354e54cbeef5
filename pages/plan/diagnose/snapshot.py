"""A memory snapshot of the reader's own: what filled the GPU, over the recorded time."""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Final

import streamlit as st

from core.budget.diagnosis.moments import step_totals
from core.budget.diagnosis.sentences import snapshot_sentence
from core.budget.diagnosis.snapshot.answer import (
    CATEGORIES,
    MAX_BYTES,
    Block,
    Line,
    Snapshot,
    as_snapshot,
)
from core.budget.planning.plan import Plan
from core.budget.table import read_table
from core.language import N_, _
from pages.components.large_file.large_file import CHOOSE, large_file
from pages.plan.diagnose.inputs import ASK, Case
from pages.plan.diagnose.snapshot_pictures import history_picture, segments_picture, top_of
from pages.plan.diagnose.two_snapshots import show_two
from pages.server.snapshots import PATH, SENT, snapshots
from pages.shared.settings import is_hidden, locked, look
from pages.shared.tabbed_page import Chart, Shown, Tab

_PROGRAMS: Final[Mapping[str, str]] = read_table(__file__)
CODE: Final = _PROGRAMS["read"]
Answers = Sequence[str]  # of the server, the newest last
OTHER_SENT: Final = ASK.key("other_sent")
_LONGEST_NAME: Final = 60
_LOOK_AGAIN: Final = 0.3  # seconds
_FAR: Final = 2.0  # times what was reserved: a plan above would flatten the picture


def choose_snapshot() -> tuple[Answers, Answers]:
    """Show the places for a file and for another; return what the server has read of each."""
    if not is_hidden(ASK.page, "snapshot"):
        _show_place("snapshot", SENT, CHOOSE)
    first, other = _answers()
    _name_file(SENT, first)
    if not first:
        return (), ()
    _name_file(OTHER_SENT, other)
    if other:
        st.button(
            _("End the comparison"), key=ASK.key("end"), icon=":material/close:",
            on_click=st.session_state.pop, args=(OTHER_SENT,), disabled=locked(),
        )  # fmt: skip
    elif not is_hidden(ASK.page, "snapshot"):
        _show_place("other_snapshot", OTHER_SENT, N_("Compare with another"))
    return first, other


def _show_place(name: str, sent: str, words: str) -> None:
    most = (MAX_BYTES, look().format_bytes(MAX_BYTES))
    keep = partial(_keep, sent)
    large_file(ASK.key(name), PATH, most, keep, choose=words, disabled=locked())


def _answers() -> tuple[Answers, Answers]:
    """Return what was read of each file by now."""
    keys = (st.session_state.get(sent, ("", ""))[0] for sent in (SENT, OTHER_SENT))
    first, other = map(snapshots().answers, keys)
    return first, other


def _name_file(sent: str, answers: Answers) -> None:
    key, name = st.session_state.get(sent, ("", ""))
    if answers:
        side = "B: " if sent == OTHER_SENT else "A: " if OTHER_SENT in st.session_state else ""
        st.caption(f"{side}`{name}`")
    elif key:
        st.caption(_("The server has forgotten `{name}`: send it again.").format(name=name))


def _keep(sent: str, key: str, name: str) -> None:
    if not locked():
        plain = "".join(letter for letter in name if letter.isprintable() and letter != "`")
        st.session_state[sent] = (key, plain[:_LONGEST_NAME])


def show_snapshot(case: Case, answers: tuple[Answers, Answers]) -> Shown:
    """Show the recorded time or, without one, the segments; the plan's peak beside it."""
    told, other = map(_read, answers)
    if told is None:
        return _nothing_read(is_sent=bool(answers[0]))
    shown = [each for each in (told, other) if each]
    planned, notes = _planned(case.chosen.plan, max(map(top_of, shown)))
    still = []  # on top of all notes: below them nobody would see it
    if any(each.is_first and len(heard) == 1 for each, heard in zip(shown, answers, strict=False)):
        still = [_("The recorded time is still being counted …")]
        st.fragment(_look_again, run_every=_LOOK_AGAIN)(answers)
    if other:
        return show_two(told, other, planned, [*still, *notes], CODE)
    draw = history_picture if told.points else segments_picture
    return Shown(
        headline=snapshot_sentence(told, look().unit),
        charts=[Chart(picture=draw(told, planned, look()), file_name="memory-snapshot")],
        notes=[*still, *_notes(told), *notes], below=lambda: _show_blocks(told), code=CODE,
    )  # fmt: skip


def _look_again(seen: tuple[Answers, Answers]) -> None:
    if _answers() != seen:
        st.rerun()


def _read(answers: Answers) -> Snapshot | None:
    """Return what the answers say; say why the last says nothing."""
    try:
        return as_snapshot(answers) if answers else None
    except ValueError as error:
        st.error(str(error))
        return as_snapshot(answers[0]) if answers[1:] else None


def _nothing_read(*, is_sent: bool) -> Shown:
    if is_sent:
        return Shown(headline=_("This file was not read as a memory snapshot"), code=CODE)
    return Shown(
        headline=_("Send a memory snapshot: it shows what filled the GPU"),
        notes=[_("These lines around some steps write the file, on the machine with the GPU:")],
        below=_show_how_to_record, code=CODE,
    )  # fmt: skip


def _show_how_to_record() -> None:
    st.code(_PROGRAMS["record"].strip(), wrap_lines=True)


def _planned(plan: Plan, top: int) -> tuple[float, Sequence[str]]:
    """Return the plan's peak in tensors if it can be drawn, else 0 and why not."""
    try:
        peak = max(each.amount for each in step_totals(plan))
    except ValueError as error:  # the model cannot be split so
        return 0.0, [str(error)]
    if peak <= _FAR * top:
        return peak, []
    text = _("The plan's peak in tensors, {peak}, is far above what this snapshot holds: set the "
             "plan as the run was, and it stands in the picture.")  # fmt: skip
    return 0.0, [text.format(peak=look().format_bytes(peak))]


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


def _show_blocks(told: Snapshot) -> None:
    """List the largest blocks and, of a module all of its layers together, the lines that asked."""
    if told.points:
        text = _("**The largest of {count} blocks at the peak**, and the line that asked for each:")
    else:
        text = _("**The largest of {count} blocks in use**, and the line that asked for each:")
    st.markdown(text.format(count=f"{told.num_blocks:,}"))
    _show_asked(told.blocks)
    st.markdown(_("**The same by line**: all blocks that one line asked for, such as those of a "
                  "module in all layers:"))  # fmt: skip
    _show_asked(told.lines, **{_("blocks"): [f"{line.num_blocks:,}" for line in told.lines]})


def _show_asked(rows: Sequence[Block] | Sequence[Line], **more: Sequence[str]) -> None:
    columns = {
        _("size"): [look().format_bytes(row.num_bytes) for row in rows],
        **more,
        _("allocated in"): [_(CATEGORIES[row.category]) for row in rows],
        _("place in the code"): [row.place or "–" for row in rows],
    }
    st.dataframe(columns, hide_index=True)


TAB: Final = Tab(
    label=N_("Memory snapshot"), show=show_snapshot, choose=choose_snapshot,
    unseen=("text", "file"), reading="snapshot",
)  # fmt: skip
