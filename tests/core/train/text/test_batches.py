import pytest
import torch

from core.train.text.batches import draw_starts, explain_batch, num_starts
from core.train.text.tokenizers import make_tokenizer

TEXT = "To be, or not to be, that is the question: 词元 by 词元."


@pytest.mark.parametrize("name", ["character", "byte", "bpe"])
def test_the_targets_are_the_inputs_one_token_later(name):
    tokenizer = make_tokenizer(name, TEXT, 270)
    tokens = tokenizer.encode(TEXT)
    for window in explain_batch(tokens, tokenizer, (0, 3, len(tokens) - 9), 8):
        inputs = [piece.token_id for piece in window.inputs]
        targets = [piece.token_id for piece in window.targets]
        # The shift of nanoGPT's get_batch: x = data[i : i + T], y = data[i + 1 : i + 1 + T]
        assert inputs == tokens[window.start : window.start + 8].tolist()
        assert targets == tokens[window.start + 1 : window.start + 9].tolist()


def test_starts_are_those_of_torch_randint():
    starts = torch.randint(42, (4,), generator=torch.Generator().manual_seed(7)).tolist()
    assert draw_starts(50, 8, 4, seed=7) == tuple(starts)


def test_the_last_token_is_a_target_and_never_an_input():
    drawn = {start for seed in range(200) for start in draw_starts(10, 4, 8, seed)}
    assert drawn == set(range(6))


def test_a_text_without_a_window_is_refused_with_the_number_of_tokens_it_needs():
    with pytest.raises(ValueError, match=r"has 8 tokens; a window of 8 .* takes 9"):
        num_starts(8, 8)
