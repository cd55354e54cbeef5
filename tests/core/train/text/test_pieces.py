"""Tokens as parts of one text: together they are the text, and none is lost between two."""

from itertools import pairwise

import pytest

from core.train.text.pieces import BPE, BYTE, CHARACTER, all_spans, spans_of_bytes
from core.train.text.tokenizers import (
    BPETokenizer,
    ByteTokenizer,
    CharacterTokenizer,
    make_tokenizer,
)

TEXTS = ("The list", "é 词元 🙂", "a\n\tb")


@pytest.fixture(scope="module")
def bpe():
    made = make_tokenizer("bpe", "the list of the lists is the list. " * 40, 300)
    assert isinstance(made, BPETokenizer)
    return made


@pytest.mark.parametrize("text", TEXTS)
def test_tokens_stand_side_by_side_from_the_first_character_to_the_last(text, bpe):
    for name, spans in all_spans(text, CharacterTokenizer.of(text), bpe).items():
        assert (spans[0].start, spans[-1].end) == (0, len(text)), name
        for left, right in pairwise(spans):
            assert left.end == right.start, name
            assert left.start < left.end, name


@pytest.mark.parametrize("text", TEXTS)
def test_the_ids_are_those_of_python_and_of_the_tokenizers(text, bpe):
    known = CharacterTokenizer.of(text)
    rows = all_spans(text, known, bpe)
    ids = {name: [span.id for span in spans] for name, spans in rows.items()}
    assert ids[BYTE] == list(text.encode())
    assert ids[CHARACTER] == [sorted(set(text)).index(each) for each in text]
    assert ids[BPE] == bpe.encode(text).tolist()


def test_the_bytes_of_a_character_share_its_place():
    spans = spans_of_bytes("a词", ByteTokenizer())
    assert [span.start for span in spans] == pytest.approx([0, 1, 4 / 3, 5 / 3])
    assert [span.sign for span in spans] == ["a", "E8", "AF", "8D"]


def test_a_character_outside_of_the_vocabulary_leaves_a_gap(bpe):
    spans = all_spans("a词b", CharacterTokenizer("ab"), bpe)[CHARACTER]
    assert [(span.id, span.start) for span in spans] == [(0, 0), (1, 2)]


def test_a_model_of_bytes_lends_no_vocabulary_and_the_texts_own_is_used(bpe):
    rows = all_spans("ba", bpe, bpe)
    assert [span.id for span in rows[CHARACTER]] == [1, 0]
