"""A chart that everybody can read: a sentence about it, its numbers as a table, and files."""

import csv
import io
import json
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

import streamlit as st

from core.language import _
from pages.components.kept_zoom.kept_zoom import meaning
from pages.shared.settings import unit_system

if TYPE_CHECKING:
    from plotly.graph_objects import Figure

Table = Mapping[str, Sequence[Any]]
MAX_TABLE_ROWS: Final = 100
_SHORTEST_ALT: Final = 20
_ARRAYS: Final = frozenset({"x", "y", "width", "customdata"})


def show_chart(
    figure: "Figure",
    *,
    key: str,
    alt: str,
    table: Table,
    file_name: str,
    on_click: Callable[[], None] | None = None,
) -> None:
    """Show a figure of `core.figures` with its sentence, its table and its files.

    Args:
        figure: The figure, already in the theme's colours.
        key: The page's short name and a name: "lr_memory".
        alt: A translated sentence about this very picture, with its numbers.
        table: The numbers of the picture: translated column title -> values.
        file_name: Name of the downloads, without an ending.
        on_click: Called after a point was clicked; `st.session_state[key]` then says which.

    Raises:
        ValueError: If `alt` is no sentence or the columns differ in length.
    """
    check_alt(alt)
    _rows(table)  # columns of different lengths are found out before anybody opens the table
    _fit_for_streamlit(figure)
    config = {
        "displaylogo": False,
        "toImageButtonOptions": {"filename": file_name, "format": "png", "scale": 2},
    }
    st.plotly_chart(
        figure,
        key=key,
        theme=None,
        alt=alt,
        config=config,
        on_select=on_click or "ignore",
        selection_mode="points",
    )
    # Made only when it is opened: a slider that moves waits for no table that nobody sees.
    numbers = st.expander(
        _("The numbers of this picture"),
        key=f"{key}_numbers",
        icon=":material/table:",
        on_change="rerun",
    )
    if numbers.open:
        with numbers:
            _show_numbers(figure, alt, table, key=key, file_name=file_name)


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


def _show_numbers(figure: "Figure", alt: str, table: Table, *, key: str, file_name: str) -> None:
    """Show the sentence, the table and the files of a picture."""
    st.caption(alt)
    st.markdown(table_markdown(table))
    with st.container(horizontal=True):
        _download(_("Table (CSV)"), table_csv(table), f"{file_name}.csv", "text/csv", key)
        picture = json.dumps(figure.to_plotly_json(), default=_plain)
        _download(_("Picture (JSON)"), picture, f"{file_name}.json", "application/json", key)
    st.caption(_("The camera above the picture saves it as PNG."))


def check_alt(alt: str) -> None:
    """Refuse an alt text that says nothing.

    Raises:
        ValueError: If the text is too short to be a sentence about a picture.
    """
    if len(alt.encode()) < _SHORTEST_ALT:
        raise ValueError(f"alt text {alt!r} must be a sentence about this very picture")


def table_csv(table: Table) -> str:
    """Return the table as CSV with a header line.

    Raises:
        ValueError: If the columns differ in length.
    """
    file = io.StringIO()
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(table)
    writer.writerows(_rows(table))
    return file.getvalue()


def table_markdown(table: Table) -> str:
    """Return the first rows of the table as Markdown, which every screen reader can walk.

    Raises:
        ValueError: If the columns differ in length.
    """
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


def _line(cells: Any) -> str:  # noqa: ANN401  any iterable of anything
    words = [f"{cell:,.6g}" if isinstance(cell, float) else str(cell) for cell in cells]
    return "| " + " | ".join(word.replace("|", "\\|").replace("\n", " ") for word in words) + " |"


def _plain(value: Any) -> Any:  # noqa: ANN401  JSON of whatever numpy or plotly put in
    return value.tolist() if hasattr(value, "tolist") else str(value)


def _download(label: str, data: str, name: str, mime: str, key: str) -> None:
    ending = name.rpartition(".")[2]
    st.download_button(label, data, name, mime, key=f"{key}_{ending}", on_click="ignore")
