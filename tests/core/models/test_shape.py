import pytest

from core.models import GPTShape

SIZES = {"num_layers": 2, "hidden_dim": 64, "num_heads": 4, "vocab_size": 65, "seq_len": 32}


@pytest.mark.parametrize("name", sorted(SIZES))
def test_a_size_below_one_is_refused_by_name(name):
    with pytest.raises(ValueError, match=f"{name} is 0; it must be at least 1"):
        GPTShape(**{**SIZES, name: 0})


def test_heads_must_share_the_width_evenly():
    with pytest.raises(ValueError, match="hidden_dim 64 cannot be shared by 5 heads"):
        GPTShape(**{**SIZES, "num_heads": 5})


def test_head_and_feed_forward_widths_follow_gpt2():
    shape = GPTShape(**SIZES)
    assert (shape.head_dim, shape.ffn_dim) == (16, 256)
