import math

import pytest
import torch

from core.train.learning.surprise import stretches, written_with_surprise
from core.train.text.tokenizers import BPETokenizer, ByteTokenizer, CharacterTokenizer

CHINESE = "步长是字节"


def scores_of(chances):
    return torch.tensor(chances).log()


def test_the_surprise_is_minus_the_binary_logarithm_of_the_chance():
    tokenizer = CharacterTokenizer.of("abc")
    rows = [scores_of([0.5, 0.25, 0.25]), scores_of([0.125, 0.125, 0.75])]
    a, b = written_with_surprise(tokenizer, [0, 1], rows)
    assert (a.text, b.text) == ("a", "b")
    assert (a.bits, b.bits) == pytest.approx((1.0, 3.0))
    assert b.candidates[0][0] == ("c", 0.75)


def test_only_the_five_likeliest_are_kept_likeliest_first():
    letters = "abcdefgh"
    chances = [0.01, 0.3, 0.02, 0.2, 0.03, 0.15, 0.04, 0.25]
    (one,) = written_with_surprise(CharacterTokenizer.of(letters), [0], [scores_of(chances)])
    assert "".join(sign for sign, _chance in one.candidates[0]) == "bhdfg"
    assert [chance for _sign, chance in one.candidates[0]] == [0.3, 0.25, 0.2, 0.15, 0.04]
    assert one.bits == pytest.approx(-math.log2(0.01), abs=1e-3)


def test_the_bytes_of_a_character_add_up():
    tokenizer = ByteTokenizer()
    ids = [int(each) for each in tokenizer.encode("a中")]
    rows = torch.zeros(4, 256)  # every byte at 1/256: 8 bits
    found = written_with_surprise(tokenizer, ids, list(rows))
    assert [(each.text, each.bits) for each in found] == [("a", 8.0), ("中", 24.0)]
    assert [len(each.candidates) for each in found] == [1, 3]


def test_a_space_among_the_candidates_can_be_seen():
    tokenizer = CharacterTokenizer.of(" a\n")
    (one,) = written_with_surprise(tokenizer, [2], [scores_of([0.2, 0.5, 0.3])])
    assert [sign for sign, _chance in one.candidates[0]] == ["␣", "a", "↵"]


def test_scores_that_are_not_finite_count_as_a_uniform_guess():
    tokenizer = CharacterTokenizer.of("abcd")
    (one,) = written_with_surprise(tokenizer, [0], [torch.full((4,), torch.nan)])
    assert one.bits == 2.0


BROKEN = [
    CHINESE.encode(),
    CHINESE.encode()[1:-1],
    b"\xe4\xe4\xe4\xb8\xadA\xff",
    bytes(range(256)),
    b"",
]


@pytest.mark.parametrize("raw", BROKEN, ids=["whole", "cut", "mixed", "all bytes", "nothing"])
def test_the_stretches_together_are_the_text_of_all_tokens(raw):
    for tokenizer in (ByteTokenizer(), BPETokenizer.of(CHINESE * 9 + "the cat sat", 280)):
        ids = list(raw)
        found = list(stretches(tokenizer, ids))
        assert "".join(text for text, _start, _end in found) == tokenizer.decode(ids)
        edges = [0, *(end for _text, _start, end in found)]
        assert [start for _text, start, _end in found] == edges[:-1]
        assert edges[-1] == len(ids)


def test_a_run_of_broken_bytes_is_not_one_endless_stretch():
    assert max(end - start for _text, start, end in stretches(ByteTokenizer(), [0xE4] * 40)) <= 2
