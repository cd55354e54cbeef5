import pytest
import torch
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.utils.flop_counter import FlopCounterMode

from core.models.generation import forward_flops, generate, next_token_chances
from tests.core.models.small_models import SHAPE, small_model


@pytest.fixture
def model():
    return small_model("gpt", torch.float64).eval()


@torch.no_grad()
def written_greedily(model, prompt, num_tokens):
    """Every token and its scores from a full forward pass over the window."""
    token_ids, scores = list(prompt), []
    for _index in range(num_tokens):
        scores.append(model.logits(torch.tensor([token_ids[-SHAPE.seq_len :]]))[0, -1])
        token_ids.append(int(scores[-1].argmax()))
    return token_ids[len(prompt) :], scores


@pytest.mark.parametrize("prompt", [[1], [5, 4, 3, 2], list(range(20))])
def test_greedy_with_a_cache_is_the_full_forward_pass_token_for_token(model, prompt):
    expected, scores = written_greedily(model, prompt, 24)
    for use_cache in (True, False):
        tokens = list(generate(model, prompt, 24, temperature=0, use_cache=use_cache))
        assert [token.id for token in tokens] == expected
        for token, logits in zip(tokens, scores, strict=True):
            torch.testing.assert_close(token.logits, logits, atol=1e-5, rtol=0)
            assert token.chances[token.id] == 1


def test_a_cache_leaves_one_token_to_compute_and_grows_by_one(model):
    tokens = list(generate(model, [1, 2, 3], 20))
    assert [token.num_computed for token in tokens] == [3, *[1] * 13, *[16] * 6]
    assert [token.num_seen for token in tokens] == [*range(3, 17), *[16] * 6]
    a_token = 2 * SHAPE.num_layers * SHAPE.hidden_dim * 8
    assert [token.cache_bytes for token in tokens] == [n.num_seen * a_token for n in tokens]
    without = list(generate(model, [1, 2, 3], 20, use_cache=False))
    assert [token.num_computed for token in without] == [token.num_seen for token in tokens]
    assert {token.cache_bytes for token in without} == {0}
    assert [token.id for token in without] == [token.id for token in tokens]


def test_the_seed_decides_and_nobody_elses_chances_move(model):
    torch.manual_seed(5)
    expected = torch.rand(1)
    torch.manual_seed(5)
    texts = [[t.id for t in generate(model, [1], 30, seed=s, temperature=3)] for s in (1, 1, 2)]
    assert torch.equal(torch.rand(1), expected)
    assert texts[0] == texts[1] != texts[2]


def test_flops_are_those_that_torch_counts(model):
    for num_tokens in (1, 7, 16):
        ids = torch.zeros(1, num_tokens, dtype=torch.long)
        with FlopCounterMode(display=False) as counter, sdpa_kernel(SDPBackend.MATH):
            model.logits(ids)
        assert forward_flops(SHAPE, num_tokens, num_tokens) == counter.get_total_flops()
    with FlopCounterMode(display=False) as counter, sdpa_kernel(SDPBackend.MATH):
        tokens = list(generate(model, [1, 2, 3], 4))
    assert sum(token.flops for token in tokens) == counter.get_total_flops()


def test_chances_are_the_softmax_of_the_scores_over_the_temperature():
    scores = torch.tensor([1.0, 3.0, 2.0, -1.0])
    for temperature in (0.5, 1.0, 2.0):
        expected = torch.exp(scores / temperature) / torch.exp(scores / temperature).sum()
        torch.testing.assert_close(next_token_chances(scores, temperature), expected)
    assert next_token_chances(scores, 0.0).tolist() == [0, 1, 0, 0]


def test_top_k_keeps_the_best_in_their_proportions():
    scores = torch.tensor([1.0, 3.0, 2.0, -1.0])
    kept = next_token_chances(scores, top_k=2)
    assert kept[[0, 3]].tolist() == [0, 0]
    assert (kept[1] / kept[2]).item() == pytest.approx(torch.tensor(1.0).exp().item())
    torch.testing.assert_close(next_token_chances(scores, top_k=4), scores.softmax(0))


def test_every_token_can_be_drawn_as_often_as_its_chance_says():
    chances = next_token_chances(torch.tensor([0.0, 1.0, 2.0]), temperature=1.5)
    drawn = torch.multinomial(chances, 20_000, replacement=True)
    torch.testing.assert_close(drawn.bincount() / 20_000, chances, atol=0.015, rtol=0)


@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({"temperature": -1.0}, "temperature is -1.0; it must be 0 or a positive"),
        ({"temperature": float("nan")}, "temperature is nan"),
        ({"top_k": 5}, "top_k is 5; choose 0 for all tokens, or at most 4"),
        ({"top_k": -1}, "top_k is -1"),
    ],
)
def test_settings_that_mean_nothing_are_refused(options, match):
    with pytest.raises(ValueError, match=match):
        next_token_chances(torch.zeros(4), **options)


def test_an_empty_prompt_is_refused(model):
    with pytest.raises(ValueError, match="The prompt is empty"):
        list(generate(model, [], 3))
