"""The pictures of masks and of matrix products, by their data."""

from core.figures.picture import Look
from core.tensors.broadcasting import broadcast
from core.tensors.masks import MaskSpec, run_mask
from pages.tensors.broadcasting.masks import mask_picture
from pages.tensors.broadcasting.matmul import product_picture
from pages.tensors.broadcasting.shapes import alignment_picture


def drawn(amount=0, route="sdpa", kind="tril", length=4, **look):
    spec = MaskSpec(kind=kind, length=length, amount=amount, inverted=False, route=route)
    return mask_picture(run_mask(spec), Look(**look), has_order=kind != "padding")


def count(trace):
    return sum(each is not None for row in trace.z for each in row)


def layers(picture):
    """Return the cells of the right panel: not seen, seen, in the future, NaN."""
    return [count(trace) for trace in picture.figure.data if trace.type == "heatmap"][4:]


def test_a_causal_mask_sees_the_lower_triangle():
    picture = drawn()
    assert layers(picture) == [6, 10, 0, 0]
    assert picture.table["keys seen"] == [1, 2, 3, 4]
    words = picture.figure.data[-1]
    assert words.text[4:8] == ("0.50", "0.50", "0", "0")


def test_what_lies_in_the_future_has_a_colour_of_its_own_unless_there_is_no_order():
    assert layers(drawn(kind="triu")) == [6, 4, 6, 0]
    assert layers(drawn(1, kind="padding"))[2] == 0


def test_a_row_of_nan_is_written_in_words():
    picture = drawn(route="mha")
    assert layers(picture)[3] == 4
    assert "without a key: 1; rows of weights that are NaN: 1" in picture.alt
    assert "NaN" in picture.figure.data[-1].text


def test_the_table_has_the_bytes_of_each_operand_stored_and_written_out():
    table = alignment_picture(broadcast({"a": (4, 1), "b": (3,)}, 4), -1, Look()).table
    assert table["stored bytes"] == [16, 12, 48]
    assert table["bytes written out"] == [48, 48, 48]
    table = alignment_picture(broadcast({"a": (4,), "b": (3,)}, 4), -1, Look()).table
    assert table["stored bytes"] == [16, 12, None]


def rows_of(left, right):
    """Return the texts of the three lines of the table."""
    table = product_picture(left, right, Look()).table
    return list(zip(*list(table.values())[1:], strict=True))


def test_batches_broadcast_and_the_inner_lengths_meet():
    assert rows_of((4, 8, 16, 32), (32, 2)) == [
        ("4", "8", "16", "32", ""), ("→ 4", "→ 8", "", "32", "2"), ("4", "8", "16", "Σ", "2")
    ]  # fmt: skip


def test_a_vector_has_neither_rows_nor_columns():
    assert rows_of((32,), (32,)) == [("", "32", ""), ("", "32", ""), ("", "Σ", "")]


def test_what_forbids_the_product_has_a_cross():
    assert rows_of((16, 32), (31, 2)) == [("16", "32 ✗", ""), ("", "31 ✗", "2"), ("", "", "")]
    assert rows_of((2, 4, 5), (3, 5, 6))[0][0] == "2 ✗"


def test_a_number_cannot_be_multiplied_and_is_drawn_all_the_same():
    picture = product_picture((), (3,), Look())
    assert "cannot be multiplied" in picture.alt
    assert picture.figure.layout.height > 0
