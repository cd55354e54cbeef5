"""The ribbon and the rows of a batch."""

import pytest

from core.figures.picture import Look
from core.train.text.batches import explain_batch
from core.train.text.tokenizers import make_tokenizer, pieces_of
from pages.train.data_and_batches.windows import MOST_COLUMNS, MOST_ROWS, windows_picture

TEXT = "abcdefghijklmnopqrstuvwxyz" * 3


def picture(starts, seq_len, look, text=TEXT):
    tokenizer = make_tokenizer("character", text)
    tokens = tokenizer.encode(text)
    windows = explain_batch(tokens, tokenizer, starts, seq_len)
    first = max(starts[0] - 3, 0)
    around = pieces_of(tokenizer, tokens[first : starts[0] + seq_len + 4].tolist())
    return windows_picture(windows, around, first, len(tokens), look)


def test_each_target_stands_below_its_input_and_above_both_the_text():
    ribbon, inputs, targets = picture((4,), 5, Look()).figure.data
    assert inputs.x == targets.x == (0.5, 1.5, 2.5, 3.5, 4.5)
    assert (inputs.text, targets.text) == (tuple("efghi"), tuple("fghij"))
    above = dict(zip(ribbon.x, ribbon.text, strict=True))
    assert [above[x] for x in inputs.x] == list("efghi")
    assert (above[-2.5], above[8.5]) == ("b", "m")
    assert ribbon.y[0] < inputs.y[0] < targets.y[0]


@pytest.mark.parametrize("present", [False, True])
def test_of_a_large_batch_the_first_rows_are_drawn_and_all_are_in_the_table(present):
    drawn = picture(tuple(range(10)), 40, Look(present=present))
    rows = (len(drawn.figure.data) - 1) // 2
    assert rows == (MOST_ROWS - 1 if present else MOST_ROWS)
    assert max(len(trace.x) for trace in drawn.figure.data[1:]) <= MOST_COLUMNS
    assert len(drawn.table["row"]) == 10


def test_spaces_and_line_ends_can_be_seen():
    drawn = picture((0,), 3, Look(), text="a b\nc<d")
    assert drawn.table["inputs"] == ["a|␣|b"]
    assert drawn.figure.data[2].text == ("␣", "b", "↵")


def test_markup_in_a_text_is_drawn_as_text():
    drawn = picture((0,), 3, Look(), text='<"&>')
    assert drawn.figure.data[1].text == ("&lt;", '"', "&amp;")
