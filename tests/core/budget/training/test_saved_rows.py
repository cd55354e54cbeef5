"""The rows of kept tensors: formulas that can be read, names that can be shown."""

from core.budget.formula import Formula
from core.budget.training.saved_rows import (
    ATTENTION,
    LATENT_ATTENTION,
    QK_NORM,
    RMS_NORM,
    ROUTER,
    inner,
)


def test_every_row_is_a_formula_with_a_tensor_and_an_operation():
    tables = (ATTENTION, LATENT_ATTENTION, QK_NORM, RMS_NORM)
    rows = [row for table in tables for kernel in table.values() for row in kernel]
    rows += [*ROUTER, *inner("value_bytes * num_tokens * ffn_dim", "gelu steps", "down")]
    for row in rows:
        assert row.what, row
        assert row.op, row
        assert Formula(row.size).text == row.size


def test_fused_swiglu_keeps_three_tensors_and_two_operations_keep_four():
    width = "num_tokens * ffn_dim"
    assert len(inner(width, "gate kernel", "down")) == 3
    assert len(inner(width, "gate steps", "down")) == 4
    assert len(inner(width, "gelu kernel", "down")) == 2
    assert len(inner(width, "gelu steps", "down")) == 5
