import itertools
import json
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.train.text.corpora import load_corpus
from core.train.text.tokenizers import (
    BPETokenizer,
    CharacterTokenizer,
    make_tokenizer,
    pieces_of,
    tokenizer_from_json,
)

TEXTS = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=200)


@given(TEXTS, st.sampled_from(["character", "byte", "bpe"]))
def test_a_text_survives_its_tokens_and_the_tokenizer_its_json(text, name):
    tokenizer = make_tokenizer(name, text)
    again = tokenizer_from_json(json.loads(json.dumps(tokenizer.to_json())))
    token_ids = tokenizer.encode(text)
    assert again.decode(token_ids.tolist()) == text
    assert token_ids.dtype == np.uint16
    assert token_ids.max() < tokenizer.vocab_size


def test_character_ids_follow_the_code_points():
    tokenizer = CharacterTokenizer.of("banana")
    assert (tokenizer.characters, tokenizer.vocab_size) == ("abn", 3)
    assert tokenizer.encode("ban").tolist() == [1, 0, 2]


def test_a_strange_character_is_named():
    with pytest.raises(ValueError, match="The character 'z' is not in the vocabulary"):
        CharacterTokenizer.of("ab").encode("z")


def test_too_many_different_characters_are_refused_with_a_way_out():
    every = "".join(map(chr, [*range(0xD800), *range(0xE000, 0x12000)]))
    with pytest.raises(ValueError, match=r"71,680 different characters.*Use the byte tokenizer"):
        CharacterTokenizer.of(every)


@given(TEXTS, TEXTS)
def test_bpe_writes_any_text_also_one_that_it_was_not_trained_on(learnt, text):
    tokenizer = BPETokenizer.of(learnt, 300)
    assert tokenizer.decode(tokenizer.encode(text).tolist()) == text


def test_the_first_merges_are_the_most_frequent_pairs():
    # Sennrich et al. 2016, section 3.2: low 5 times, lower 2, newest 6, widest 3.
    words = "low " * 5 + "lower " * 2 + "newest " * 6 + "widest " * 3
    tokenizer = BPETokenizer.of(words, 256 + 3)
    # With GPT-2's spaces in front of the words, "es" and "est" still come first (9 times).
    assert [tokenizer.raw(number) for number in (256, 257)] == [b"es", b"est"]
    assert len(tokenizer.merges) == 3


@pytest.mark.slow
def test_two_trainings_in_two_processes_learn_the_same_merges():
    program = (
        "from core.train.text.corpora import load_corpus\n"
        "from core.train.text.tokenizers import BPETokenizer\n"
        "print(BPETokenizer.of(load_corpus('language_reference'), 1024).merges)"
    )
    said = [
        subprocess.run(
            [sys.executable, "-c", program], check=True, capture_output=True, text=True
        ).stdout
        for _again in range(2)
    ]
    assert said[0] == said[1]
    assert eval(said[0]) == BPETokenizer.of(load_corpus("language_reference"), 1024).merges  # noqa: S307


@pytest.mark.slow
def test_ids_are_those_that_the_merges_give_by_hand():
    tokenizer = BPETokenizer.of(load_corpus("language_reference"), 600)
    rank = {pair: number for number, pair in enumerate(tokenizer.merges)}
    for word in (" statement", " the", "Ünïcode", "    ", "__init__"):
        ids = list(word.encode())
        while pairs := [pair for pair in itertools.pairwise(ids) if pair in rank]:
            best = min(pairs, key=rank.get)
            at = next(i for i in range(len(ids)) if tuple(ids[i : i + 2]) == best)
            ids[at : at + 2] = [256 + rank[best]]
        assert [tokenizer.raw(n) for n in tokenizer.encode(word).tolist()] == [
            tokenizer.raw(n) for n in ids
        ], word


@given(TEXTS, st.sampled_from(["character", "byte", "bpe"]))
def test_pieces_lie_end_to_end_and_are_the_bytes_of_the_text(text, name):
    tokenizer = make_tokenizer(name, text, 300)
    pieces = pieces_of(tokenizer, tokenizer.encode(text).tolist())
    raw = text.encode()
    assert [raw[piece.start : piece.end] for piece in pieces] == [piece.raw for piece in pieces]
    assert b"".join(piece.raw for piece in pieces) == raw


@pytest.mark.parametrize("size", [255, 65_537])
def test_a_vocabulary_that_cannot_be_is_refused_with_its_bounds(size):
    with pytest.raises(ValueError, match="choose from 256 to 65,536"):
        BPETokenizer.of("abc", size)


@pytest.mark.slow
def test_a_word_without_end_does_not_stop_the_training():
    text = "a" * 200_000
    tokenizer = BPETokenizer.of(text, 512)
    assert len(tokenizer.encode(text)) == len(text) // 32


def test_the_library_is_loaded_only_where_bpe_is_asked_for():
    program = (
        "import sys, core.train.text.dataset\n"
        "from core.train.text.tokenizers import BPETokenizer, ByteTokenizer\n"
        "ByteTokenizer().encode('a')\n"
        "print('tokenizers' in sys.modules)\n"
        "BPETokenizer(()).encode('a')\n"
        "print('tokenizers' in sys.modules, 'torch' in sys.modules)"
    )
    said = subprocess.run(
        [sys.executable, "-c", program], check=True, capture_output=True, text=True
    )
    assert said.stdout.split() == ["False", "True", "False"]
