import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from core.models import GPTShape
from core.models.gpt import GPT
from core.models.kv_cache import KVCache


def lively(num_layers, num_heads, head_dim, vocab_size, seq_len, *, attention_in_fp32=False):
    """Return a model whose attention decides: fresh weights are too small for that."""
    shape = GPTShape(
        num_layers=num_layers,
        hidden_dim=num_heads * head_dim,
        num_heads=num_heads,
        vocab_size=vocab_size,
        seq_len=seq_len,
    )
    torch.manual_seed(0)
    model = GPT(shape, attention_in_fp32=attention_in_fp32)
    with torch.no_grad():
        for weight in model.parameters():
            if weight.dim() == 2:
                weight.normal_(std=weight.shape[1] ** -0.5)
    return model


@torch.no_grad()
def read_in_parts(model, token_ids, sizes):
    """Return the scores of all tokens, read part by part into one cache, and the cache."""
    cache = KVCache()
    scores = [model.logits(part, cache) for part in token_ids.split(sizes, dim=1)]
    return torch.cat(scores, dim=1), cache


@given(
    sizes=st.lists(st.integers(1, 9), min_size=1, max_size=12),
    layers=st.integers(1, 3),
    heads=st.integers(1, 4),
    head_dim=st.integers(12, 32),  # a LayerNorm over 2 channels can blow up the last bit
    batch_size=st.integers(1, 3),
    vocab_size=st.integers(2, 100),
    in_fp32=st.booleans(),
)
@settings(max_examples=30, deadline=None)
def test_a_text_read_in_parts_has_the_scores_of_one_read_at_once(
    sizes, layers, heads, head_dim, batch_size, vocab_size, in_fp32
):
    num_tokens = sum(sizes)
    model = lively(layers, heads, head_dim, vocab_size, num_tokens, attention_in_fp32=in_fp32)
    token_ids = torch.randint(vocab_size, (batch_size, num_tokens))
    with torch.no_grad():
        at_once = model.logits(token_ids)
    for parts in (sizes, [1] * num_tokens):
        scores, cache = read_in_parts(model, token_ids, parts)
        torch.testing.assert_close(scores, at_once, rtol=1e-5, atol=2e-5)
        assert cache.num_tokens == num_tokens


PRECISIONS = [(torch.bfloat16, False), (torch.bfloat16, True), (torch.float16, False)]


@pytest.mark.parametrize(("dtype", "in_fp32"), PRECISIONS)
def test_under_autocast_the_cache_has_16_bits_and_the_scores_stay_near(dtype, in_fp32):
    model = lively(3, 4, 16, 65, 48, attention_in_fp32=in_fp32)
    token_ids = torch.randint(65, (2, 48))
    with torch.no_grad():
        exact = model.logits(token_ids)
        with torch.autocast("cpu", dtype):
            at_once = model.logits(token_ids)
    with torch.autocast("cpu", dtype):
        scores, cache = read_in_parts(model, token_ids, [5] + [1] * 43)
    kept = [tensor for layer in cache.layers.values() for tensor in layer]
    assert {tensor.dtype for tensor in kept} == {dtype}
    # keys and values of 3 layers, 2 texts, 48 tokens, 64 channels, 2 bytes each
    assert sum(tensor.nbytes for tensor in kept) == 2 * 3 * 2 * 48 * 64 * 2
    rounding = (at_once - exact).norm()  # what autocast alone costs
    assert 0 < (scores - exact).norm() < 1.5 * rounding < 0.03 * exact.norm()


def test_the_cache_is_in_fp32_where_the_model_is():
    _scores, cache = read_in_parts(lively(2, 2, 8, 10, 6), torch.zeros(1, 6, dtype=int), [2, 4])
    for keys, values in cache.layers.values():
        assert keys.dtype == values.dtype == torch.float32
        assert keys.shape == values.shape == (1, 2, 6, 8)


def test_a_text_that_outgrows_the_context_in_the_cache_is_refused():
    model, cache = lively(1, 1, 8, 10, 6), KVCache()
    assert cache.num_tokens == 0
    model.logits(torch.zeros(1, 6, dtype=torch.long), cache)
    with pytest.raises(ValueError, match="7 tokens do not fit into a context of 6"):
        model.logits(torch.zeros(1, 1, dtype=torch.long), cache)
