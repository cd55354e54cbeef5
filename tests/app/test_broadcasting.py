"""Broadcasting through the frame: shapes dragged, refused, stretched, multiplied, masked."""

import pytest

from core.tensors.shape_text import ABSENT
from tests.app.shown import ask, commit, headline, said

KEY = "tensors/broadcasting"


def slider(app, name):
    (found,) = [each for each in app.select_slider if each.key == f"broad_{name}_slider"]
    return found


def drag(app, name, length):
    slider(app, name).set_value(length).run()
    return headline(app)


def test_dragging_a_length_changes_the_shape_and_the_link(open_page):
    app = open_page(KEY)
    assert drag(app, "a", 2).startswith("(3, 2) + (1, 4) cannot be broadcast: dimension -1 is 2")
    assert app.session_state["broad_a"] == "3, 2"
    assert not slider(app, "a").proto.set_value, "no order back to a hand that has moved it on"
    assert drag(app, "b", 2).startswith("(3, 2) + (1, 2) → (3, 2)")


def test_a_dimension_appears_and_goes_at_the_left(open_page):
    app = open_page(KEY, broad_dim="-3")
    assert slider(app, "a").value == ABSENT
    assert drag(app, "a", 5).startswith("(5, 3, 1) + (1, 4) → (5, 3, 4)")
    assert drag(app, "a", ABSENT).startswith("(3, 1) + (1, 4) → (3, 4)")


@pytest.mark.parametrize("dim", ["-1", "-4"])
def test_no_stop_of_a_slider_leads_to_an_exception(open_page, dim):
    for length in ("0", "8192"):
        app = open_page(KEY, broad_dim=dim)
        for name in "ab":
            assert drag(app, name, int(length)), (dim, name, length)


def test_what_torch_says_stands_beside_ours(open_page):
    app = open_page(KEY, broad_a="8, 3", broad_b="8")
    assert "none is 1" in headline(app)
    words = "The size of tensor a (3) must match the size of tensor b (8) at non-singleton"
    assert any(words in each.value for each in app.code)


@pytest.mark.parametrize("text", ["a, b", "-1, 2", "1, 2, 3, 4, 5, 6", "9999999"])
def test_what_is_no_shape_becomes_a_sentence(open_page, text):
    app = open_page(KEY, broad_a=text)
    assert headline(app) == "No shapes to broadcast yet"
    assert repr(text) in app.error[0].value


def test_one_shape_alone_is_too_few_and_four_are_welcome(open_page):
    assert "two shapes" in open_page(KEY, broad_b="").error[0].value
    app = open_page(KEY, broad_a="2, 128, 768", broad_b="2, 128, 1", broad_c="768", broad_d="()")
    assert "+ () → (2, 128, 768)" in headline(app)


@pytest.mark.parametrize(
    ("x", "y", "told"),
    [
        ("16, 32", "32, 2", "→ (16, 2): 2.05 kFLOPs, 0 B"),
        ("32", "32", "→ (): 64.0 FLOPs"),
        ("2, 1, 16, 32", "3, 32, 2", "→ (2, 3, 16, 2): 12.3 kFLOPs, 13.5 KiB"),
        ("16, 32", "31, 2", "the inner lengths are 32 and 31"),
        ("2, 4, 5", "3, 5, 6", "the batch lengths are 2 and 3"),
        ("()", "3", "a single number has no dimension"),
    ],
)
def test_products_say_shape_flops_and_copies_or_why_not(open_page, x, y, told):
    app = open_page(KEY, broad_tab="matmul", broad_x=x, broad_y=y)
    assert told in headline(app)
    assert bool(app.code) == ("cannot" in told or "lengths" in told or "single" in told)


def test_the_copies_of_stretched_batches_are_listed(open_page):
    app = open_page(KEY, broad_tab="matmul", broad_x="2, 1, 16, 32", broad_y="3, 32, 2")
    assert "clone.default" in str(app.table[0].value)


@pytest.mark.parametrize(
    ("query", "told"),
    [
        ({"broad_diagonal": "-1"}, "no key for 1 of 5 queries, torch returns 0"),
        ({"broad_mask": "padding"}, "each query sees 4 of 5 keys, 0 of them padding"),
        (
            {"broad_mask": "padding", "broad_route": "mha"},
            "each query sees 1 of 5 keys, 1 of them padding",
        ),
        ({"broad_mask": "padding", "broad_padded": "5"}, "no key for 5 of 5 queries"),
        ({"broad_mask": "triu", "broad_diagonal": "1", "broad_route": "mha"}, "the last 5"),
        ({"broad_tokens": "12", "broad_diagonal": "12"}, "66 of 144 pairs"),
    ],
)
def test_masks_say_who_sees_what(open_page, query, told):
    assert told in headline(open_page(KEY, broad_tab="masks", **query))


@pytest.mark.parametrize(
    ("tab", "key", "choice", "told"),
    [
        ("shapes", "broad_loss", 0, ["The answer is **(32, 32)**", "1,024 differences"]),
        ("masks", "broad_empty", 2, ["Right: **NaN in 1 row**", "gives 0 rows of NaN"]),
    ],
)
def test_the_answer_is_hidden_until_the_reader_commits(open_page, tab, key, choice, told):
    app = open_page(KEY, broad_tab=tab, **ask(key))
    assert not [words for words in told if words in said(app)]
    after = said(commit(app, key, choice))
    assert [words for words in told if words not in after] == []


def test_a_locked_page_has_no_slider_that_moves(open_page):
    app = open_page(KEY, lock="1")
    assert all(each.disabled for each in app.select_slider)
    assert [each.key for each in open_page(KEY, hide="a").select_slider] == ["broad_b_slider"]


def test_the_cells_hold_the_values_and_their_sums(open_page):
    (chart,) = open_page(KEY).get("plotly_chart")
    assert '"23"' in chart.proto.spec
    (large,) = open_page(KEY, broad_a="32, 1", broad_b="32").get("plotly_chart")
    assert '"23"' not in large.proto.spec
