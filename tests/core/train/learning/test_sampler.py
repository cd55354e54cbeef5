import pytest
import torch

from core.train.learning.sampler import Sampler, generate, words
from core.train.text.tokenizers import CharacterTokenizer


def test_words_are_letters_only_and_long_enough_to_mean_something():
    assert words("A cat's 12 Dogs, re_read it") == ["cat", "dogs", "read"]


def test_chinese_is_read_in_pairs():
    assert words("张量的步长") == ["张量", "量的", "的步", "步长"]


@pytest.fixture
def model(make_trainer):
    return make_trainer().model


def test_the_same_seed_writes_the_same_text_and_disturbs_nothing(model):
    torch.manual_seed(5)
    expected = torch.rand(1)
    torch.manual_seed(5)
    once = generate(model, [1, 2], 30, seed=3)
    assert torch.equal(torch.rand(1), expected)
    assert once == generate(model, [1, 2], 30, seed=3)
    assert once != generate(model, [1, 2], 30, seed=4)
    assert len(once) == 30
    assert model.training


def test_a_text_longer_than_the_context_is_continued(model):
    assert len(generate(model, list(range(20)), 5, seed=0)) == 5


def test_weights_that_are_not_finite_still_write_something(model):
    with torch.no_grad():
        model.norm.weight.fill_(torch.nan)
    assert len(generate(model, [0], 4, seed=0)) == 4


class Parrot(torch.nn.Module):
    """Says the same text whatever it is asked."""

    def __init__(self, shape, text, tokenizer):
        super().__init__()
        self.shape = shape
        self.weight = torch.nn.Parameter(torch.zeros(1))
        self.said = iter(tokenizer.encode(text).tolist())
        self.vocab_size = tokenizer.vocab_size

    def logits(self, token_ids):
        scores = torch.full((1, token_ids.shape[1], self.vocab_size), -1e9)
        scores[0, -1, next(self.said)] = 0.0
        return scores


def test_real_words_are_those_of_the_text(model):
    text = "the quick brown fox jumps"
    written = "ick quick brwn fox jumps qui"
    tokenizer = CharacterTokenizer.of(text)
    parrot = Parrot(model.shape, written, tokenizer)
    sample = Sampler(text, tokenizer, "the ", seed=0).sample(parrot, len(written))
    assert (sample.prompt, sample.text) == ("the ", written)
    # the first and the last piece may be cut, so they count neither way
    assert (sample.num_words, sample.num_real_words) == (4, 3)
