"""Indexing and sharing through the frame: what changes, what copies, what is refused, links."""

import json
import re
from contextlib import nullcontext

import pytest

from core.tensors.creation import CREATIONS
from core.tensors.examples import WRITE_PRESETS
from core.tensors.index_pairs import PAIRS
from core.tensors.numpy_bridge import BRIDGES
from core.tensors.strided_windows import WINDOWS
from tests.app.shown import ask, captions, commit, headline, said

KEY = "tensors/indexing_and_sharing"


def codes(app):
    return [each.value for each in app.code]


def test_the_page_opens_with_a_write_through_a_transpose_and_marks_one_address(open_page):
    app = open_page(KEY)

    assert headline(app) == "`y[0, 1] = 100` changes `x` and `y` (address 3 of S0)"
    parts = [each.proto for each in app.get("bidi_component")]
    maps = [json.loads(each.json)[0] for each in parts if each.component_name == "tensor_map"]
    other, sent = maps
    assert sent["storages"]["S0"]["changed"] == other["storages"]["S0"]["changed"] == [3]
    assert (other["step"], sent["step"]) == (0, 2)
    assert sent["storages"]["S0"]["values"] == ["0", "1", "2", "100", "4", "5"]
    (table,) = [each.value for each in app.table]
    assert list(table["Before"]) == ["[[0, 1, 2], [3, 4, 5]]", "[[0, 3], [1, 4], [2, 5]]"]
    assert table["After"][1] == "[[0, **100**], [1, 4], [2, 5]]"


@pytest.mark.parametrize("preset", WRITE_PRESETS.values(), ids=WRITE_PRESETS)
def test_every_example_runs_and_says_what_changes(open_page, preset):
    rows, columns = (0, *preset.shape) if len(preset.shape) == 1 else preset.shape

    app = open_page(KEY, index_code=preset.source, index_rows=str(rows), index_columns=str(columns))

    assert "change" in headline(app)
    assert app.text_area(key="index_field").value == preset.source


def test_a_write_through_stride_0_shows_the_words_of_torch_and_changes_nothing(open_page):
    app = open_page(KEY, index_code="y = x.expand(2, 3)\ny.add_(1)", index_columns="1")

    assert headline(app) == "The program is refused in line 2: no variable changes"
    assert any("refers to a single memory location" in each for each in codes(app))


def test_windows_that_overlap_are_written_more_than_once_and_the_page_says_so(open_page):
    code = "y = x.unfold(0, 3, 1)\ny.add_(1)"
    app = open_page(KEY, index_code=code, index_rows="0", index_columns="7")

    (table,) = [each.value for each in app.table]
    assert table["After"][0].replace("*", "") == "[1, 3, 5, 6, 7, 7, 7]"
    assert any("15 elements into 7 addresses" in each for each in captions(app))


@pytest.mark.parametrize("code", ["", "y = (", "open('/etc/passwd')", "x[9, 9] = 1", "y = x.t()"])
def test_what_is_no_write_becomes_a_sentence(open_page, code):
    assert "no variable changes" in headline(open_page(KEY, index_code=code))


def test_the_answer_is_computed_and_hidden_until_the_reader_commits(open_page):
    app = open_page(KEY, **ask("index_who_changes"))
    assert "copied without saying so" not in said(app)
    assert headline(commit(app, "index_who_changes", 2))
    assert "copied without saying so" in said(app)
    assert "The answer is **x and y**" in said(app)


@pytest.mark.slow
@pytest.mark.parametrize("key", PAIRS)
def test_every_pair_draws_both_ways_and_prints_them(open_page, run_code, key):
    app = open_page(KEY, index_tab="index", index_pair=key)

    told = headline(app)
    printed = run_code(app)
    for way in PAIRS[key].ways:
        if f"`{way.torch}`" not in told:
            assert key == "mixed"  # says what NumPy makes of the other way
            continue
        (line,) = [each for each in printed.splitlines() if each.startswith(f"{way.torch} ")]
        kind = "refused" if "is refused" in line else "view" if " view " in line else "copies"
        assert kind in told.partition(f"`{way.torch}`")[2].partition(";")[0]


def test_numpy_is_named_where_its_shape_or_its_view_is_another(open_page):
    mixed = open_page(KEY, index_tab="index", index_pair="mixed")
    assert headline(mixed).endswith("has the shape (3, 2), in NumPy (2, 3)")
    turned = open_page(KEY, index_tab="index", index_pair="reversed")
    assert any("`np.flip(a, 1)` is a view" in each for each in captions(turned))


@pytest.mark.slow
@pytest.mark.parametrize("key", [*CREATIONS, "devices"])
def test_every_call_says_its_bytes_and_so_does_its_snippet(open_page, run_code, key):
    app = open_page(KEY, index_tab="create", index_call=key)

    told, printed = headline(app), run_code(app)
    (size,) = re.findall(r"([\d,]+) B", told)
    assert f"{size.replace(',', '')} B" in printed, told


@pytest.mark.slow
@pytest.mark.parametrize("key", BRIDGES)
def test_every_way_to_numpy_ends_as_its_snippet_does(open_page, run_code, key):
    app = open_page(KEY, index_tab="numpy", index_bridge=key)

    told = headline(app)
    warned = pytest.warns(UserWarning, match="not writable")
    with warned if key == "read_only" else nullcontext():
        printed = run_code(app)
    words = {"shares": " shares ", "copies": " copies: ", "Error": " is refused: "}
    if key != "read_only":  # nobody can write into that array
        assert next(word for said_so, word in words.items() if said_so in printed) in told


@pytest.mark.parametrize("window", WINDOWS.values(), ids=WINDOWS)
def test_every_window_fits_and_its_snippet_counts_the_same(open_page, run_code, window):
    query = {"index_tab": "strided", "index_offset": str(window.offset)}
    for axis in (0, 1):
        query[f"index_size{axis}"] = str(window.size[axis])
        query[f"index_stride{axis}"] = str(window.stride[axis])
    app = open_page(KEY, **query)

    told = headline(app)
    assert f"as_strided({window.size}, {window.stride}, {window.offset})" in told
    assert not any("was not accepted" in each for each in captions(app))
    elements, addresses = run_code(app).splitlines()[-1].split(" elements at ")
    assert f"{elements} elements at {addresses.split()[0]} addresses" in told


def test_a_link_beyond_the_storage_is_refused_by_name(open_page):
    app = open_page(KEY, index_tab="strided", index_stride0="9")
    assert "(5, 4), (2, 1), 0)" in headline(app)
    assert any("`index_stride0`" in each for each in captions(app))


def test_heads_merged_without_the_transpose_are_counted_and_drawn(open_page, run_code):
    app = open_page(KEY, index_tab="merge")

    assert "18 of 24" in headline(app)
    assert "18 of 24" in run_code(app)
    (chart,) = app.get("plotly_chart")
    assert "18 of 24" in chart.proto.alt
    assert any("786,432 B" in each for each in captions(app))
    assert "0 of 12" in headline(open_page(KEY, index_tab="merge", index_heads="1"))


def test_a_locked_page_keeps_its_program(open_page):
    app = open_page(KEY, lock="1")
    assert app.text_area(key="index_field").disabled
    assert "index_field" not in [each.key for each in open_page(KEY, hide="code").text_area]


@pytest.mark.parametrize(
    ("code", "changed"),
    [
        ("y = x.t()\nx[0, 1] = 100", "`x` 和 `y`"),
        ("y = x.t()\nrow = x[0]\nx[0, 1] = 100", "`x`、`y` 和 `row`"),
    ],
)
def test_the_chinese_headline_has_spaces_around_its_and(open_page, code, changed):
    app = open_page(KEY, lang="zh", index_code=code)

    assert f"改变 {changed}（" in headline(app)


def test_the_headline_names_what_this_write_changed(open_page, run_code):
    told = {
        "x[0, 0] = 100\nx[1, 1] = 50": "`x[1, 1] = 50` changes `x` (address 4 of S0)",
        "x[0, 0] = 100\nx[1, 1] = 4": "`x[1, 1] = 4` writes the values that are already there",
        "x[[0, 0]] += 1": "`x[[0, 0]] += 1` changes `x` (addresses 0–2 of S0)",
        "x.clone().fill_(3)": "`x.clone().fill_(3)` changes a tensor that has no name",
    }
    for source, sentence in told.items():
        app = open_page(KEY, index_code=source)
        assert app.session_state["headline"].startswith(sentence), source
        count = 1 if "(address " in sentence else 3 if "–" in sentence else 0
        assert f"x {count} elements changed" in run_code(app), source


def test_what_a_tensor_has_that_an_ndarray_has_not_is_run(open_page, run_code):
    app = open_page(KEY, index_tab="numpy", index_bridge="differences")
    assert "all 5; an ndarray fails 4" in headline(app)
    assert run_code(app).count("Error") == 3
    graph = open_page(KEY, index_tab="numpy", index_bridge="graph", index_traced="1")
    assert "wrong for 3, 4, 5 rows" in headline(graph)
    assert "5 10.0 0.0" in run_code(graph) or "5 2.0 0.0" in run_code(graph)
