"""The code of a page: shown where it is asked for, and as a notebook to take away."""

import ast
import json
import sys
from typing import Any, Final, cast

import streamlit as st

from core.language import _
from pages.shared import link
from pages.shared.answer import HEADLINE, SNIPPETS
from pages.shared.header import question_of_page
from pages.shared.navigation import page_row
from pages.shared.poster import full_link, plain
from pages.shared.questions import answer_waits

_OURS: Final = frozenset({"core", "pages"})


def show_code(name: str, source: str) -> None:
    """Show Python that reproduces the headline number, closed until asked for.

    It is complete, and runs in the product's folder; the suite finds it by its name and runs the
    cells of its notebook. Called once all settings of the page are known, for the notebook's link.
    """
    cast("dict[str, str]", st.session_state.setdefault(SNIPPETS, {}))[name] = source
    # Sent only when it is opened: what colours code takes a browser a quarter of a second to load.
    place = st.expander(
        _("Show the code"), key=f"{name}_code", icon=":material/code:", on_change="rerun"
    )
    if place.open:
        with place:
            page = link.current_page().rpartition("/")[2]
            st.download_button(
                _("Download as notebook"), notebook(source, _lead()), f"{page}-{name}.ipynb",
                "application/x-ipynb+json", key=f"{name}_notebook", on_click="ignore",
                icon=":material/download:",
            )  # fmt: skip
            st.code(source.strip(), language="python", wrap_lines=True)
            if _needs_folder(source):
                st.caption(_("Run it in the folder of this dashboard with its own Python."))


def _lead() -> str:
    """Return what stands above the code: title, question, the answer once it is told, settings."""
    title = _(page_row(link.current_page()).title)
    answer = "" if answer_waits() else plain(str(st.session_state[HEADLINE]))
    chosen = [each for each in link.parameters() if each.value != each.default]
    settings = "\n".join(f"- `{each.name} = {plain(each.value)}`" for each in chosen)
    same = _("This page with these settings")
    way = link.book().beyond or f"[{same}]({full_link()})"
    heads = [f"# {_('Bits to GPT')} · {title}", question_of_page(), answer and f"**{answer}**"]
    return "\n\n".join(filter(None, [*heads, way, settings]))


def notebook(source: str, lead: str) -> str:
    """Return a Jupyter notebook (nbformat 4.5): `lead`, what is to be installed, and the code."""
    cells = [_cell(0, "markdown", lead)]
    for place, code in enumerate([_to_install(source), *code_cells(source)], start=1):
        cells.append(_cell(place, "code", code) | {"execution_count": None, "outputs": []})
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    metadata = {"kernelspec": kernel, "language_info": {"name": "python"}}
    told = {"cells": cells, "metadata": metadata, "nbformat": 4, "nbformat_minor": 5}
    return json.dumps(told, ensure_ascii=False, indent=1)


def _cell(place: int, kind: str, text: str) -> dict[str, Any]:
    return {"cell_type": kind, "id": f"cell-{place}", "metadata": {}, "source": text}


def _to_install(source: str) -> str:
    names, lines = " ".join(sorted(_packages(source) - _OURS)), []
    if names:
        lines.append(f"pip install {names}")
    if _needs_folder(source):
        text = _("Keep this file in the dashboard's folder and run it with the dashboard's own "
                 "Python: the code takes modules or files from there.")  # fmt: skip
        lines.append(text)
    return "\n".join(f"# {line}" for line in lines or [_("Nothing to install.")])


def _needs_folder(source: str) -> bool:
    """Return whether the code imports a module of ours, or reads a file beside our pages."""
    return bool(_OURS & _packages(source)) or '"pages/' in source


def _packages(source: str) -> set[str]:
    """Return what the code imports beside Python's own library."""
    nodes = list(ast.walk(ast.parse(source)))
    names = [each.name for node in nodes if isinstance(node, ast.Import) for each in node.names]
    names += [node.module or "" for node in nodes if isinstance(node, ast.ImportFrom)]
    return {name.partition(".")[0] for name in names} - sys.stdlib_module_names


def code_cells(source: str) -> list[str]:
    """Return the code cut where a blank line stands between two statements, its imports first."""
    imports: list[str] = []
    groups, lines = [""], source.splitlines()
    inside: dict[int, ast.stmt] = {}
    for node in ast.parse(source).body:
        inside |= dict.fromkeys(range(node.lineno, (node.end_lineno or node.lineno) + 1), node)
    for number, line in enumerate(lines, start=1):
        if isinstance(inside.get(number), ast.Import | ast.ImportFrom):
            imports.append(line)
        elif line.strip() or number in inside:
            groups[-1] += f"{line}\n"
        else:
            groups.append("")
    return [each.strip("\n") for each in ("\n".join(imports), *groups) if each.strip()]
