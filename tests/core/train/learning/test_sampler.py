import pytest
import torch

from core.train.learning.sampler import TEMPERATURE, Sampler, generate, words
from core.train.text.tokenizers import CharacterTokenizer


def test_words_are_letters_only_and_long_enough_to_mean_something():
    assert words("A cat's 12 Dogs, re_read it") == ["cat", "dogs", "read"]


def test_chinese_is_read_in_pairs():
    assert words("张量的步长") == ["张量", "量的", "的步", "步长"]


@pytest.fixture
def model(make_trainer):
    return make_trainer().model


PRECISIONS = ["fp32", "bf16", "bf16_fp32_attention", "fp16"]


@pytest.mark.parametrize("precision", PRECISIONS)
def test_the_same_seed_writes_the_same_text_and_disturbs_nothing(model, precision):
    torch.manual_seed(5)
    expected = torch.rand(1)
    torch.manual_seed(5)
    once = generate(model, [1, 2], 30, 3, precision)
    assert torch.equal(torch.rand(1), expected)
    assert once == generate(model, [1, 2], 30, 3, precision)
    assert once != generate(model, [1, 2], 30, 4, precision)
    assert len(once) == 30
    assert model.training
    assert not torch.is_autocast_enabled("cpu")


@pytest.mark.parametrize("precision", PRECISIONS)
def test_training_goes_on_bit_for_bit_as_if_nothing_had_been_written(make_trainer, precision):
    alone, watched = make_trainer(precision=precision), make_trainer(precision=precision)
    for _step in range(3):
        generate(watched.model, [0], 20, 0, precision)
        assert watched.train_step().loss == alone.train_step().loss


@torch.no_grad()
def written_without_a_cache(model, prompt, num_tokens, seed):
    """Every token from the whole window before it."""
    chance, token_ids = torch.Generator().manual_seed(seed), list(prompt)
    for _index in range(num_tokens):
        scores = model.logits(torch.tensor([token_ids[-model.shape.seq_len :]]))[0, -1]
        chances = (scores / TEMPERATURE).softmax(0)
        token_ids.append(torch.multinomial(chances, 1, generator=chance).item())
    return token_ids[len(prompt) :]


def test_the_text_is_that_of_a_model_without_a_cache_also_beyond_its_context(model):
    with torch.no_grad():
        for weight in model.parameters():
            weight.mul_(10 if weight.dim() == 2 else 1)  # so that attention decides
    for seed in range(5):
        for prompt in ([1], list(range(10)), list(range(16)), list(range(20))):
            expected = written_without_a_cache(model, prompt, 40, seed)
            assert generate(model, prompt, 40, seed) == expected, (seed, prompt)


def test_a_text_is_written_in_the_precision_that_is_asked_for(model):
    dtypes = set()
    model.head.register_forward_hook(lambda _layer, _inputs, scores: dtypes.add(scores.dtype))
    for precision, dtype in (("fp32", torch.float32), ("bf16", torch.bfloat16)):
        generate(model, [1], 20, 0, precision)
        assert dtypes == {dtype}, precision
        dtypes.clear()


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

    def logits(self, token_ids, _cache):
        scores = torch.full((1, token_ids.shape[1], self.vocab_size), -1e9)
        scores[0, -1, next(self.said)] = 0.0
        return scores


def test_real_words_are_those_of_the_text(model):
    text = "the quick brown fox jumps"
    written = "ick quick brwn fox jumps qui"
    tokenizer = CharacterTokenizer.of(text)
    parrot = Parrot(model.shape, written, tokenizer)
    sampler = Sampler(text, tokenizer, "the ", seed=0, precision="fp32")
    sample = sampler.sample(parrot, len(written))
    assert (sample.prompt, sample.text) == ("the ", written)
    # the first and the last piece may be cut, so they count neither way
    assert (sample.num_words, sample.num_real_words) == (4, 3)
