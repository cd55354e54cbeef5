import re

import pytest

from core.language.extract import lessons_text
from core.train.text.corpora import check_text, decode_upload, load_corpus


def test_the_language_reference_is_half_a_megabyte_of_english():
    text = load_corpus("language_reference")
    assert 3e5 < len(text) < 1e6
    assert len(re.findall(r"\bthe\b", text)) > 3000


def test_the_apps_own_lessons_speak_both_languages():
    text = load_corpus("lessons")
    assert "[[lesson]]" in text
    assert re.search("[\u4e00-\u9fff]", text)
    assert text == lessons_text(), "the lessons have changed: run make translations"


def test_an_unknown_text_is_answered_with_the_known_ones():
    with pytest.raises(ValueError, match="no text 'x'; choose language_reference, lessons"):
        load_corpus("x")


def test_an_upload_is_read_without_its_byte_order_mark():
    assert decode_upload("\ufeff你好".encode()) == "你好"


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "The file is empty"),
        (b"a" * 5_000_001, "has 5,000,001 bytes; at most 5,000,000"),
        (b"abc\xff\xfe", r"not UTF-8 text \(byte 3\)"),
        (b"GIF89a\0\0", "is binary"),
    ],
)
def test_a_file_that_is_no_text_is_refused(content, message):
    with pytest.raises(ValueError, match=message):
        decode_upload(content)


@pytest.mark.parametrize(
    ("text", "seq_len", "message"),
    [
        ("", 8, "The text is empty"),
        (" \n\t ", 8, "The text is empty"),
        ("aaaaaaaa" * 100, 8, "repeats one character, 'a'"),
        ("ab" * 300, 64, "has 600 tokens; a context of 64 needs at least 651.*at most 59"),
    ],
)
def test_a_text_that_teaches_nothing_is_refused(text, seq_len, message):
    with pytest.raises(ValueError, match=message):
        check_text(text, len(text), max(len(set(text)), 1), seq_len)


def test_the_shortest_text_that_is_accepted_leaves_a_validation_sequence():
    check_text("ab" * 326, 652, 2, 64)
    assert int(652 * 0.1) >= 64 + 1
