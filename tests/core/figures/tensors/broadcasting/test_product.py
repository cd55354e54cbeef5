"""A matrix product as aligned shapes."""

from core.figures.picture import Look
from core.figures.tensors.broadcasting.product import product_picture


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
