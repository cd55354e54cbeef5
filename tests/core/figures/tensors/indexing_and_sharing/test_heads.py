"""Merged heads as a picture: one mark for each element that stands elsewhere."""

import pytest

from core.figures.picture import Look
from core.figures.tensors.indexing_and_sharing.heads import heads_picture
from core.tensors.merged_heads import merge_heads


@pytest.mark.parametrize("present", [False, True])
def test_as_many_cells_are_marked_as_elements_are_displaced(present):
    merged = merge_heads(4, 2, 3)
    picture = heads_picture(merged, Look(present=present))

    maps = [trace for trace in picture.figure.data if trace.type == "heatmap"]
    words = [trace for trace in picture.figure.data if trace.type == "scatter"]
    assert [sum(map(sum, each.z)) for each in maps] == [0, merged.num_displaced] == [0, 18]
    assert [sum("<b>" in text for text in each.text) for each in words] == [0, 18]
    assert "18 of 24" in picture.alt
    with_it, without = list(picture.table.values())[2:]
    assert sum(one != two for one, two in zip(with_it, without, strict=True)) == 18
