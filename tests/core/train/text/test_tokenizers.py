import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.train.text.tokenizers import (
    ByteTokenizer,
    CharacterTokenizer,
    make_tokenizer,
    tokenizer_from_json,
)

TEXTS = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=200)


@given(TEXTS, st.sampled_from(["character", "byte"]))
def test_a_text_survives_its_tokens_and_the_tokenizer_its_json(text, name):
    tokenizer = make_tokenizer(name, text)
    again = tokenizer_from_json(json.loads(json.dumps(tokenizer.to_json())))
    token_ids = tokenizer.encode(text)
    assert again.decode(token_ids.tolist()) == text
    assert token_ids.dtype == np.uint16
    assert token_ids.max() < tokenizer.vocab_size


@given(TEXTS)
def test_byte_tokens_are_the_utf8_bytes(text):
    assert bytes(ByteTokenizer().encode(text).tolist()) == text.encode()


def test_character_ids_follow_the_code_points():
    tokenizer = CharacterTokenizer.of("banana")
    assert (tokenizer.characters, tokenizer.vocab_size) == ("abn", 3)
    assert tokenizer.encode("ban").tolist() == [1, 0, 2]


def test_a_strange_character_is_named():
    with pytest.raises(ValueError, match="The character 'z' is not in the vocabulary"):
        CharacterTokenizer.of("ab").encode("z")


def test_broken_bytes_become_the_replacement_character():
    assert ByteTokenizer().decode([104, 105, 0xE6]) == "hi�"


def test_too_many_different_characters_are_refused_with_a_way_out():
    every = "".join(map(chr, [*range(0xD800), *range(0xE000, 0x12000)]))
    with pytest.raises(ValueError, match=r"71,680 different characters.*Use the byte tokenizer"):
        CharacterTokenizer.of(every)
