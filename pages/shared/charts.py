"""A chart that everybody can read: a sentence about it, its numbers as a table, and files."""

import json
from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, Final, cast

import streamlit as st

from core.figures.picture import Picture, Table
from core.language import _
from pages.shared.settings import unit_system

if TYPE_CHECKING:
    from pandas import DataFrame
    from plotly.graph_objects import Figure
    from streamlit.delta_generator import DeltaGenerator

MAX_TABLE_ROWS: Final = 100
_SHORTEST_ALT: Final = 20
_ARRAYS: Final = frozenset({"x", "y", "width", "customdata"})


def show_chart(
    picture: Picture,
    *,
    key: str,
    file_name: str,
    on_click: Callable[[Sequence[Any]], None] | None = None,
) -> "DeltaGenerator | None":
    """Show a picture with its sentence, its table and its files.

    Returns the place of its files, for more of them; None while that is closed.

    `file_name` has no ending; `on_click` is called with the `customdata` of a clicked point.

    Raises:
        ValueError: If the alt text is no sentence or the columns differ in length.
    """
    check_alt(picture.alt)
    _rows(picture.table)  # columns of different lengths are found before anybody opens the table
    _fit_for_streamlit(picture.figure)
    config = {
        "displaylogo": False,
        "toImageButtonOptions": {"filename": file_name, "format": "png", "scale": 2},
    }
    st.plotly_chart(
        picture.figure,
        key=key,
        theme=None,
        alt=picture.alt,
        config=config,
        on_select=partial(_hand_on_click, key, on_click) if on_click else "ignore",
        selection_mode="points",
    )
    # Made only when it is opened: a slider that moves waits for no table that nobody sees.
    numbers = st.expander(
        _("The numbers of this picture"),
        key=f"{key}_numbers",
        icon=":material/table:",
        on_change="rerun",
    )
    if not numbers.open:
        return None
    with numbers:
        return _show_numbers(picture, key=key, file_name=file_name)


def _hand_on_click(key: str, act: Callable[[Sequence[Any]], None]) -> None:
    """Hand on what the clicked point carries; a click beside all points carries nothing."""
    state = cast("dict[str, Any]", st.session_state.get(key) or {})
    points = state.get("selection", {}).get("points", [])
    if points and "customdata" in points[0]:
        act(points[0]["customdata"])


def _fit_for_streamlit(figure: "Figure") -> None:
    """Let a figure keep its zoom and be drawn once.

    Streamlit hands every new figure to Plotly twice, the second time as a copy. Plotly draws a copy
    again if it has a template, arrays without a revision or a packed numpy array, for it compares
    none of them by content.
    """
    figure.layout.uirevision = meaning(figure, unit_system())
    figure.layout.datarevision = 1
    figure.layout.template = None
    for trace in figure.data:
        for name in _ARRAYS.intersection(trace):
            values = trace[name]
            if getattr(values, "ndim", 0) == 1:
                trace[name] = None  # Plotly keeps the old value where the new one equals it
                trace[name] = values.tolist()


def meaning(figure: "Figure", units: str) -> str:
    """Return what the axes of a figure mean: a zoom holds as long as this stays the same.

    A figure whose axes say too little adds what they miss in `layout.meta`; the same bytes are
    another number in another of the reader's memory units.
    """
    layout = figure.layout
    axes = [layout[name] for name in layout if name.startswith(("xaxis", "yaxis"))]
    meanings = [f"{axis.type} {axis.title.text} {axis.ticksuffix}" for axis in axes]
    return " | ".join([units, str(layout.meta), *meanings])


def _show_numbers(picture: Picture, *, key: str, file_name: str) -> "DeltaGenerator":
    """Show the sentence, the table and the files of a picture; return the place of the files."""
    st.caption(picture.alt)
    show_table(picture.table)
    files = st.container(horizontal=True)
    with files:
        csv = table_csv(picture.table)
        _download(_("Table (CSV)"), csv, f"{file_name}.csv", "text/csv", key)
        figure = json.dumps(picture.figure.to_plotly_json(), default=_plain)
        _download(_("Picture (JSON)"), figure, f"{file_name}.json", "application/json", key)
    st.caption(_("The camera above the picture saves it as PNG."))
    return files


def check_alt(alt: str) -> None:
    """Refuse an alt text that says nothing.

    Raises:
        ValueError: If the text is too short to be a sentence about a picture.
    """
    if len(alt.encode()) < _SHORTEST_ALT:
        raise ValueError(f"alt text {alt!r} must be a sentence about this very picture")


def show_table(table: Table) -> None:
    """Show a table that a screen reader can walk; a long one also as one to sort and search."""
    written = {name: list(map(_cell, column)) for name, column in table.items()}
    frame, num_rows = _frame(written), len(_rows(table))
    st.table(frame.head(MAX_TABLE_ROWS))
    if num_rows > MAX_TABLE_ROWS:
        note = _("The first {shown} of {total} rows; the file has them all.")
        st.caption(note.format(shown=MAX_TABLE_ROWS, total=num_rows))
        st.dataframe(frame, hide_index=True)


def table_csv(table: Table) -> str:
    """Return the table as CSV with a header line, every value as it is."""
    _rows(table)
    return _frame(table).to_csv(index=False, lineterminator="\n")


def _frame(table: Table) -> "DataFrame":
    """Return the table for pandas, values untouched: None beside a number stays None."""
    import pandas as pd

    return pd.DataFrame(
        {name: pd.Series(list(column), dtype=object) for name, column in table.items()}
    )


def table_markdown(table: Table) -> str:
    """Return the first rows of a small table as Markdown, for the midst of a page."""
    rows = _rows(table)
    head = [_line(table), "|" + "---|" * len(table)]
    note = _("The first {shown} of {total} rows; the file has them all.")
    more = note.format(shown=MAX_TABLE_ROWS, total=len(rows)) if len(rows) > MAX_TABLE_ROWS else ""
    body = [_line(row) for row in rows[:MAX_TABLE_ROWS]]
    return "\n".join([*head, *body, "", more])


def _rows(table: Table) -> list[tuple[Any, ...]]:
    lengths = {name: len(column) for name, column in table.items()}
    if len(set(lengths.values())) != 1:
        raise ValueError(f"the columns of a table must be equally long, not {lengths}")
    return list(zip(*table.values(), strict=True))


def _cell(cell: object) -> str:
    return f"{cell:,.6g}" if isinstance(cell, float) else str(cell)


def _line(cells: Any) -> str:  # noqa: ANN401  any iterable of anything
    words = [_cell(cell).replace("|", "\\|").replace("\n", " ") for cell in cells]
    return "| " + " | ".join(words) + " |"


def _plain(value: Any) -> Any:  # noqa: ANN401  JSON of whatever numpy or plotly put in
    return value.tolist() if hasattr(value, "tolist") else str(value)


def _download(label: str, data: str, name: str, mime: str, key: str) -> None:
    ending = name.rpartition(".")[2]
    st.download_button(label, data, name, mime, key=f"{key}_{ending}", on_click="ignore")
