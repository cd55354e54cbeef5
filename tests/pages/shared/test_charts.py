"""A chart brings its sentence, its table and its files."""

import json

import plotly.graph_objects as go
import pytest

from pages.shared.charts import MAX_TABLE_ROWS, check_alt, meaning, table_csv, table_markdown

PAGE = """
import plotly.graph_objects as go
table = {"name": ["a", "b"], "size": [1.0, 2.5]}
figure = go.Figure(go.Bar(x=["a", "b"], y=[1.0, 2.5], customdata=["first", "second"]))
picture = Picture(figure=figure, alt="Two bars: a is 1 and b is 2.5.", table=table)
show_chart(picture, key="d_bars", file_name="bars", on_click=lambda name: d.set("word", name))
d.text("word", "Word")
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


def test_a_click_hands_on_what_the_point_carries(open_script):
    app = open_script(PAGE)
    select(app, [{"point_index": 1, "customdata": "second"}])
    assert app.session_state["d_word"] == "second"
    for points in ([], [{"point_index": 0}]):  # beside all points; on one that carries nothing
        select(app, points)
        assert app.session_state["d_word"] == "second"


def select(app, points):
    """Let the browser say that these points are selected."""
    chart = app.get("plotly_chart")[0].proto.id
    states = app._tree.get_widget_states()
    selection = {"selection": {"points": points, "point_indices": [], "box": [], "lasso": []}}
    states.widgets.add(id=chart, string_value=json.dumps(selection))
    app._run(widget_state=states)


def shown(open_script, **columns):
    """Return the table elements that a reader of these columns sees, and the captions."""
    app = open_script(f"from pages.shared.charts import show_table\nshow_table({columns!r})")
    return app.table, app.dataframe, [each.value for each in app.caption]


def test_a_short_table_is_one_that_a_screen_reader_can_walk(open_script):
    tables, frames, _captions = shown(open_script, n=list(range(MAX_TABLE_ROWS)))
    assert len(tables[0].value) == MAX_TABLE_ROWS
    assert not frames


def test_a_long_table_has_its_first_rows_so_and_all_of_them_to_sort_and_search(open_script):
    tables, frames, captions = shown(open_script, n=list(range(MAX_TABLE_ROWS + 5)))
    assert tables[0].value["n"].tolist() == [str(n) for n in range(MAX_TABLE_ROWS)]
    assert frames[0].value["n"].tolist() == [str(n) for n in range(MAX_TABLE_ROWS + 5)]
    assert any("first 100 of 105 rows" in each for each in captions)


def test_cells_of_all_kinds_stand_in_one_column(open_script):
    """Arrow refuses 10**25 beside 1 and a text beside a number; pandas makes NaN of None."""
    tables, _frames, _captions = shown(open_script, x=[10**25, 1, 1.5, "n/a", None, 1234.5678])
    written = ["1" + "0" * 25, "1", "1.5", "n/a", "None", "1,234.57"]
    assert tables[0].value["x"].tolist() == written


def test_csv_holds_values_as_they_are():
    values = [10**25, 0.1 + 0.2, 1234.5678, "n/a"]
    rows = table_csv({"x": values}).splitlines()[1:]
    assert rows == [str(10**25), "0.30000000000000004", "1234.5678", "n/a"]
    assert table_csv({"x": [1, None]}).splitlines()[1:] == ["1", '""']


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


LAYOUT = {"xaxis": {"title": "step", "type": "linear"}, "yaxis": {"title": "memory (MiB)"}}


def figure(**fields):
    return go.Figure(go.Scatter(x=[1, 2], y=[3, 4]), layout=LAYOUT | fields)


def test_other_numbers_on_the_same_axes_mean_the_same():
    other = figure(height=500, annotations=[{"text": "peak", "x": 1, "y": 2}])
    other.data[0].y = [30, 40]
    assert meaning(other, "GiB") == meaning(figure(), "GiB")


@pytest.mark.parametrize(
    "fields",
    [
        {"xaxis": {"title": "step", "type": "log"}},
        {"yaxis": {"title": "memory (GiB)"}},
        {"yaxis": {"title": "memory (MiB)", "ticksuffix": "k"}},
        {"xaxis2": {"title": "layer"}},
        {"meta": {"floor": -126}},
    ],
)
def test_another_axis_is_another_meaning(fields):
    assert meaning(figure(**fields), "GiB") != meaning(figure(), "GiB")


def test_another_memory_unit_is_another_meaning():
    assert meaning(figure(), "GB") != meaning(figure(), "GiB")
