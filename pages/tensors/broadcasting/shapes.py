"""The answer: shapes aligned from the right, and torch's own words where they do not fit."""

import streamlit as st

from core.figures.tensors.broadcasting.alignment import alignment_picture
from core.language import _
from core.language.listing import listed
from core.tensors.broadcasting import Broadcast
from core.tensors.torch_answers import broadcast_refusal
from pages.shared.settings import look
from pages.shared.tabbed_page import Chart, Shown
from pages.shared.tensors.program import show_verbatim
from pages.shared.tensors.table_cells import size_text
from pages.tensors.broadcasting.inputs import Case, note_column
from pages.tensors.broadcasting.snippets import broadcast_code


def shapes(chosen: Case) -> Shown:
    """Show whether the shapes go together, and what stretches."""
    case = chosen.case
    picture = alignment_picture(case, chosen.dim, look())
    return Shown(
        headline=_headline(case),
        charts=[Chart(picture=picture, file_name="broadcasting", on_click=note_column)],
        below=None if case.result else lambda: show_torch(broadcast_refusal(case.shapes)),
        code=broadcast_code(case.shapes, chosen.dtype),
    )


def _headline(case: Broadcast) -> str:
    written = " + ".join(map(str, case.shapes))
    if case.result is None:
        column = next(each for each in case.verdict.columns if each.length is None)
        lengths = dict.fromkeys(each for each in column.lengths if each not in {None, 1})
        message = _("{shapes} cannot be broadcast: dimension {dim} is {lengths}, and none is 1")
        return message.format(shapes=written, dim=column.dim, lengths=listed(lengths))
    if not any(any(column.stretched) for column in case.verdict.columns):
        message = _("{shapes} → {result}: equal lengths, nothing stretches")
        return message.format(shapes=written, result=case.result.shape)
    message = _("{shapes} → {result} with stride 0: {copied} copied instead of {whole}")
    return message.format(
        shapes=written,
        result=case.result.shape,
        copied=size_text(0),
        whole=size_text(case.stretched_bytes),
    )


def show_torch(message: str) -> None:
    """Show torch's own words beside ours."""
    st.caption(_("What torch says:"))
    show_verbatim(message)
