"""A chart brings its sentence, its table and its files."""

import csv
import io
import json

import pytest

from pages.shared.charts import MAX_TABLE_ROWS, check_alt, table_csv, table_markdown

PAGE = """
import plotly.graph_objects as go
from core.figures.theme import plotly_layout
figure = go.Figure(go.Bar(x=["a", "b"], y=[1.0, 2.5]), layout=plotly_layout(theme_mode()))
show_chart(figure, key="d_bars", alt="Two bars: a is 1 and b is 2.5.",
           table={"name": ["a", "b"], "size": [1.0, 2.5]}, file_name="bars")
"""


def test_the_chart_has_its_alt_and_its_own_colours(open_script):
    chart = open_script(PAGE).get("plotly_chart")[0].proto
    assert chart.alt == "Two bars: a is 1 and b is 2.5."
    assert chart.theme == ""
    assert json.loads(chart.spec)["data"][0]["x"] == ["a", "b"]


def test_nothing_is_made_for_a_table_that_is_closed(open_script):
    app = open_script(PAGE)
    assert [each.label for each in app.expander] == ["The numbers of this picture"]
    assert not app.markdown
    assert not app.get("download_button")


def test_the_table_twin_and_the_downloads_come_when_it_is_opened(open_script):
    app = open_script(PAGE)
    app.session_state["d_bars_numbers"] = True
    app.run()
    assert app.table[0].value.values.tolist() == [["a", "1"], ["b", "2.5"]]
    files = [each.proto.id for each in app.get("download_button")]
    assert [name.rpartition("-")[2] for name in files] == ["d_bars_csv", "d_bars_json"]


def test_csv_reads_back(open_script):
    table = {"na,me": ["a", 'b"c'], "size": [1, 2]}
    assert list(csv.reader(io.StringIO(table_csv(table)))) == [
        ["na,me", "size"], ["a", "1"], ['b"c', "2"]]  # fmt: skip


def test_a_long_table_is_cut_on_the_page_only():
    table = {"n": list(range(MAX_TABLE_ROWS + 5))}
    assert table_csv(table).count("\n") == MAX_TABLE_ROWS + 6
    assert table_markdown(table).endswith("The first 100 of 105 rows; the file has them all.")


def test_a_bar_in_a_cell_does_not_break_the_table():
    assert table_markdown({"a|b": ["c\nd"]}).startswith("| a\\|b |\n|---|\n| c d |")


def test_columns_must_be_equally_long():
    with pytest.raises(ValueError, match=r"equally long, not \{'a': 1, 'b': 2\}"):
        table_csv({"a": [1], "b": [1, 2]})


def test_an_alt_that_says_nothing_is_refused():
    with pytest.raises(ValueError, match="'a chart' must be a sentence"):
        check_alt("a chart")
