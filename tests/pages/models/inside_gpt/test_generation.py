"""The picture of generation, by its data."""

import pytest

from core.figures.picture import Look
from core.models.first_loss import make_fresh
from core.models.generation import generate
from core.models.spec import GPTShape
from pages.models.inside_gpt.generation import generation_picture

SHAPE = GPTShape(num_layers=2, hidden_dim=16, num_heads=2, vocab_size=20, seq_len=32)
VOCABULARY = [str(number) for number in range(20)]


@pytest.mark.parametrize("look", [Look(), Look(mode="dark", present=True)])
def test_the_table_has_the_work_of_both_ways_and_they_write_the_same(look):
    model = make_fresh(SHAPE)
    cached = tuple(generate(model, (1, 2, 3), 6, temperature=0))
    plain = tuple(generate(model, (1, 2, 3), 6, temperature=0, use_cache=False))
    assert [each.id for each in cached] == [each.id for each in plain]
    signs = [VOCABULARY[each.id] for each in cached]
    picture = generation_picture(cached, signs, VOCABULARY, SHAPE, look)
    columns = [list(column) for column in picture.table.values()]
    assert [each.flops for each in cached] in columns
    assert [each.flops for each in plain] in columns
    assert [each.cache_bytes for each in cached] in columns
    drawn = [list(trace.y) for trace in picture.figure.data]
    assert [each.flops for each in plain] in drawn
    assert [each.flops for each in cached] in drawn
