"""Several words as a reader writes them."""

import re

import pytest

from core.language import install_provider
from core.language.extract import ROOT
from core.language.listing import listed


@pytest.mark.parametrize(
    ("language", "words", "written"),
    [
        ("en", [], ""),
        ("en", ["x"], "x"),
        ("en", ["x", "row", "y"], "x, row and y"),
        ("en", [2, (3, 4)], "2 and (3, 4)"),
        ("zh", ["x", "row", "y"], "x、row 和 y"),
    ],
)
def test_the_last_two_are_joined_by_a_word_and_the_others_by_commas(language, words, written):
    install_provider(lambda: language)
    assert listed(words) == written


def test_numbers_are_listed_as_they_are_made():
    assert listed(str(number) for number in range(4)) == "0, 1, 2 and 3"


def test_a_list_in_a_sentence_has_the_commas_of_the_language():
    """Numbers, shapes and code keep theirs."""
    field = re.compile(r'\b(?!index)\w+=(?:shown\()?"[,;] "\.join\((?!map\(str\b).*')
    files = [path for room in ("core", "pages") for path in (ROOT / room).rglob("*.py")]
    hits = [
        f"{path.relative_to(ROOT)}: {hit}"
        for path in files
        if path.name not in {"code.py", "snippets.py"}
        for hit in field.findall(path.read_text(encoding="utf-8"))
    ]
    assert hits == []
