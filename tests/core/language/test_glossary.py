"""The words of the field in every text that a reader meets, in both languages.

A failure names the file, the text, the word and what to write in its place.
"""

import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from core.language import install_provider
from core.language.extract import ROOT, catalogue_path, read_catalogue
from core.language.glossary import TERMS, Term
from pages.components.bit_grid.words import WORDS
from pages.components.live_chart.words import live_words
from pages.components.part import translated

NOT_TO_SAY = tomllib.loads(Path(__file__).with_name("phrases.toml").read_text(encoding="utf-8"))
PHRASES = [Term(**row) for row in NOT_TO_SAY["phrase"]]
PUNCTUATION = [Term(**row) for row in NOT_TO_SAY["mark"]]
CATALOGUE = catalogue_path("po").relative_to(ROOT).as_posix()
# Code, links and tags hold no words; a lesson's headline is a pattern, not a sentence.
NOT_PROSE = re.compile(r"`[^`]*`|\]\([^)]*\)|<[^<>]*>|https?://\S+|\$[^$]+\$|:material/\w+:")
NOT_TEXT = ("query", "answers", "widget", "raises", "code", "link", "slug", "words")
# Labels that mean something else than the term of the same name, and what.
OTHER_LABELS = {"View": "how a chart is shown, not a tensor's view"}


class Text(NamedTuple):
    where: str
    language: str
    words: str


def forms(text):
    return (text,) if isinstance(text, str) else tuple(text)


def catalogue() -> Iterator[Text]:
    for message in read_catalogue(catalogue_path("po")):
        if message.id:
            yield from (Text(CATALOGUE, "en", words) for words in forms(message.id))
            yield from (Text(CATALOGUE, "zh", words) for words in forms(message.string))


def strings(value: object, key: str = "") -> Iterator[tuple[str, str]]:
    """Yield (key, text) of all texts in a table of TOML."""
    if isinstance(value, dict):
        for name, inner in value.items():
            yield from strings(inner, f"{key}.{name}")
    elif isinstance(value, list):
        for inner in value:
            yield from strings(inner, key)
    elif isinstance(value, str):
        yield key, value


def tables() -> Iterator[Text]:
    for path in sorted(
        path for room in ("core", "pages") for path in (ROOT / room).rglob("*.toml")
    ):
        where = path.relative_to(ROOT).as_posix()
        for key, words in strings(tomllib.loads(path.read_text(encoding="utf-8"))):
            names = key.split(".")
            if names[-1] in {"en", "zh"} and not set(names) & set(NOT_TEXT):
                yield Text(f"{where} {key}", names[-1], words)


def readings() -> Iterator[Text]:
    for path in (
        ROOT / "README.md",
        ROOT / "README.zh.md",
        *sorted((ROOT / "pages").rglob("*.*.md")),
    ):
        language = path.suffixes[0].lstrip(".") if len(path.suffixes) > 1 else "en"
        for paragraph in re.split(r"\n\s*\n|\n(?=- )", path.read_text(encoding="utf-8")):
            words = paragraph.replace("\n", " " if language == "en" else "")
            yield Text(path.relative_to(ROOT).as_posix(), language, words)


def to_javascript() -> Iterator[Text]:
    for language in ("en", "zh"):
        install_provider(lambda language=language: language)
        for where, words in (("bit_grid", translated(WORDS)), ("live_chart", live_words())):
            yield from (Text(f"{where}.{name}", language, text) for name, text in words.items())
    install_provider(None)


@pytest.fixture(scope="module")
def texts() -> tuple[Text, ...]:
    return (*catalogue(), *tables(), *readings(), *to_javascript())


def replaced() -> Iterator[tuple[str, re.Pattern[str], str]]:
    """Yield each word not to use: its language, its pattern, and what to write in its place."""
    for term in (*TERMS, *PHRASES):
        for pattern in term.not_english:
            whole = rf"(?<![\w-])(?:{pattern})(?![\w-])"
            yield "en", re.compile(whole, re.IGNORECASE), term.english
        for pattern in term.not_chinese:
            yield "zh", re.compile(pattern, re.IGNORECASE), term.chinese


REPLACED = tuple(replaced())


def found(text: Text) -> Iterator[str]:
    """Yield for each word not to use in `text` what it is and what to write."""
    prose = NOT_PROSE.sub("X", text.words)
    for language, pattern, say in REPLACED:
        if language == text.language:
            for hit in pattern.finditer(prose):
                yield f"{text.where}: {text.words!r} says {hit[0]!r}; write {say!r}"


def found_marks(text: Text) -> Iterator[str]:
    """Yield each mark that does not belong between Chinese words."""
    prose = NOT_PROSE.sub("X", text.words)
    for mark in PUNCTUATION:
        for pattern in mark.not_chinese:
            for hit in re.finditer(pattern, prose):
                yield f"{text.where}: {text.words!r} has {hit[0]!r}; write {mark.english}"


def test_no_text_uses_a_word_that_the_glossary_replaces(texts):
    hits = [hit for text in texts for hit in found(text)]
    assert not hits, "\n".join(hits)


def test_chinese_has_chinese_punctuation(texts):
    chinese = [
        text for text in texts if text.language == "zh" and not text.where.endswith("headline.zh")
    ]
    hits = [hit for text in chinese for hit in found_marks(text)]
    assert not hits, "\n".join(hits)


def test_a_label_that_is_a_term_is_translated_by_the_glossary():
    chinese = {term.english.casefold(): term.chinese for term in TERMS}
    for message in read_catalogue(catalogue_path("po")):
        if isinstance(message.id, str) and message.id not in OTHER_LABELS:
            wanted = chinese.get(message.id.casefold(), "")
            assert wanted in message.string, f"{message.id!r} -> {message.string!r}, not {wanted!r}"


def test_no_two_rows_say_different_things_for_one_word():
    english = [term.english.casefold() for term in (*TERMS, *PHRASES)]
    assert len(set(english)) == len(english)


def test_no_term_is_a_word_that_another_row_replaces():
    for term in TERMS:
        for text in (Text("glossary", "en", term.english), Text("glossary", "zh", term.chinese)):
            assert list(found(text)) == []


@pytest.mark.parametrize(
    ("language", "words", "hit"),
    [
        ("en", "Tokens of a sequence", "write 'sequence length'"),
        ("en", "this operation waits for memory", "write 'memory-bound'"),
        ("en", "Lines", "write 'breakdown'"),
        ("zh", "四块 80 GB 的 A100", "write '8 张卡'"),
        ("zh", "{devices} 个设备", "write '8 台设备'"),
        ("zh", "还没有运行", "write '还没有训练记录'"),
        ("zh", "Kaplan 等 2020", "write '等，2020'"),
    ],
)
def test_a_word_not_to_use_is_found_and_named(language, words, hit):
    assert any(each.endswith(hit) for each in found(Text("here", language, words)))


@pytest.mark.parametrize(
    "words",
    ["nan:按", "{away}(期望", "一、 二", '"中"', "约 5 %", "中文.", "**粗。**体", "*斜体*", "与…"],
)
def test_a_mark_that_is_not_chinese_is_found(words):
    assert list(found_marks(Text("here", "zh", words)))


@pytest.mark.parametrize(
    "words",
    ["打开[链接](https://a.b)，", "`a, b`：按", "约 5%。", "形状 (2, 3) 的张量", "**甲。** 乙"],
)
def test_good_chinese_is_left_alone(words):
    assert list(found_marks(Text("here", "zh", words))) == []
