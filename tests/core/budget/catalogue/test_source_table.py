"""The tutorial's table: what it printed, what 1024**3 gives (reference/corrections, E3)."""

import pytest

from core.budget.catalogue.source_table import COLUMNS, PRINTED, source_table
from core.units import GIB

RIGHT = {
    "7b": (26.08, 13.04, 6.52, 6.52, 3.26),
    "13b": (48.43, 24.21, 12.11, 12.11, 6.05),
    "70b": (260.77, 130.39, 65.19, 65.19, 32.60),
}


def test_the_corrected_table_is_the_one_of_the_corrections():
    cells = source_table()

    assert len(cells) == 15
    for word, row in RIGHT.items():
        found = [cell for cell in cells if cell.size.word == word]
        assert [round(cell.item.amount / GIB, 2) for cell in found] == list(row)
        assert tuple(cell.printed for cell in found) == PRINTED[word]


def test_eleven_cells_were_wrong():
    wrong = [cell for cell in source_table() if cell.was_wrong]

    assert len(wrong) == 11
    assert {cell.size.word for cell in wrong} == {"7b", "13b", "70b"}


def test_the_real_llamas_are_not_7_13_and_70_billion():
    cells = {(c.size.word, c.format_name): c for c in source_table(real=True)}

    assert cells["llama-2-13b", "float32"].item.amount / GIB == pytest.approx(48.49, abs=0.005)
    assert cells["llama-2-7b", "int4"].item.amount * 2 == 6_738_415_616
    assert all(cell.printed is None and not cell.was_wrong for cell in cells.values())


def test_scales_and_what_stays_in_16_bits_cost_a_tenth_of_int4():
    bare = {c.size.word: c.item.amount for c in source_table(real=True) if c.format_name == "int4"}
    full = {
        c.size.word: c.item.amount
        for c in source_table(real=True, scales=True)
        if c.format_name == COLUMNS["int4"]
    }
    assert full["llama-2-7b"] / bare["llama-2-7b"] == pytest.approx(1.147, abs=0.002)
    assert full["llama-2-70b"] / bare["llama-2-70b"] == pytest.approx(1.054, abs=0.002)
