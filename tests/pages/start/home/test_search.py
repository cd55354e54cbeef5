"""What Home answers to what people type and paste; what it does not know it does not answer."""

import ast
import time
import tomllib
from pathlib import Path
from urllib.parse import parse_qsl

import pytest

from core.dtypes import FORMATS
from pages.shared.navigation import PAGES, page_row
from pages.start.home.index import all_entries
from pages.start.home.search import MAX_HITS, find_all, index, links_of, split

HERE = Path(__file__).parent
MOST_SECONDS = 0.03  # of a keystroke, after the first search has made the index
LEAST_RIGHT = 0.85


def rows_of(name, kind):
    return tomllib.loads((HERE / name).read_text(encoding="utf-8"))[kind]


def answer_of(query):
    """Return what is presented as the answer, "" where nothing is."""
    found = find_all(query)
    if found.error:
        return f"error:{found.error.slug}"
    return found.hits[0].target if found.is_answer else ""


def opens(query, link):
    """Return whether the first link of the answer leads to a page and sets what it has to."""
    page, _, settings = link.partition("?")
    there, sets = links_of(find_all(query).hits[0], query)[0]
    return there == page and dict(parse_qsl(settings)).items() <= sets.items()


def test_what_people_type_and_paste_gets_its_right_first_answer_and_never_a_wrong_reason():
    errors, questions = rows_of("error_texts.toml", "text"), rows_of("questions.toml", "question")
    wanted = {row["asked"]: [f"error:{row['finds']}" if row["finds"] else ""] for row in errors}
    wanted |= {row["asked"]: row["finds"] or [""] for row in questions}
    given = {asked: answer_of(asked) for asked in wanted}
    links = {row["asked"]: row["opens"] for row in questions if "opens" in row}
    missed = {
        asked: given[asked]
        for asked, right in wanted.items()
        if given[asked] not in right or (asked in links and not opens(asked, links[asked]))
    }
    for asked, answer in missed.items():
        print(f"{asked[:90]!r} finds {answer!r}, not {wanted[asked]}")  # noqa: T201
    print(f"{len(wanted) - len(missed)} of {len(wanted)} right")  # noqa: T201

    assert len(errors) >= 60
    assert len(questions) >= 60
    assert [asked for asked, answer in missed.items() if answer.startswith("error:")] == []
    assert len(missed) <= (1 - LEAST_RIGHT) * len(wanted)


def test_an_error_without_an_explanation_is_no_question():
    unexplained = [row["asked"] for row in rows_of("error_texts.toml", "text") if not row["finds"]]
    assert len(unexplained) > 5
    for asked in unexplained:
        found = find_all(asked)
        assert not found.is_answer, asked
    assert sum(find_all(asked).is_error for asked in unexplained) > 0.8 * len(unexplained)


def test_a_keystroke_waits_less_than_thirty_milliseconds():
    asked = [row["asked"] for row in rows_of("questions.toml", "question")]
    find_all(asked[0])
    index().search.cache_clear()
    begin = time.process_time()
    for query in asked:
        find_all(query)
    assert (time.process_time() - begin) / len(asked) < MOST_SECONDS


def test_every_tab_that_a_page_lists_is_in_the_index():
    found = {each.key for each in all_entries() if each.kind == "tab"}
    for row in PAGES:
        for node in ast.walk(ast.parse(row.file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.keyword) and node.arg == "tabs":
                assert {f"{row.key}#{key.value}" for key in node.value.keys} <= found


def test_every_tab_of_every_page_can_be_found_by_its_label_in_both_languages():
    tabs = [entry for entry in all_entries() if entry.kind == "tab"]
    assert {entry.links[0][0] for entry in tabs} >= {
        row.key for row in PAGES if "Tab(" in row.file.read_text(encoding="utf-8")
    }
    for entry in tabs:
        asked = f"{' '.join(entry.names[:2])} {page_row(entry.links[0][0]).title}"
        hits = [hit.target for _score, hit in index().search(asked)[:MAX_HITS]]
        assert entry.target in hits, asked


@pytest.mark.parametrize("kind", ["model", "device", "format", "term", "page"])
def test_each_is_found_by_its_own_name_in_both_languages(kind):
    for entry in all_entries():
        if entry.kind == kind:
            for name in entry.names[:2]:
                hits = [hit.target for hit in find_all(name).hits]
                assert entry.target in hits, name


def test_the_numbers_of_the_formats_are_found_as_they_are_written():
    for name, fmt in FORMATS.items():
        for written in (f"{fmt.max:.6g}".replace("e+", "e"), f"{fmt.max:.2g}".replace("e+", "e")):
            if len(written) > 2:
                hits = [hit.key for score, hit in index().search(written) if score > 0.9]
                assert f"{name}.max" in hits, written


def test_words_are_the_same_without_case_hyphen_or_space():
    for one, other in [("Qwen3-32B", "qwen 3 32b"), ("RTX 5090", "rtx5090"), ("FP-16", "fp16")]:
        grams = [{gram for word in split(text) for gram in word.grams} for text in (one, other)]
        assert grams[0] & grams[1]
        assert answer_of(one) == answer_of(other)


def test_a_word_that_nothing_knows_lowers_the_score():
    known, with_unknown = (index().search(text)[0] for text in ("attention", "attention zebras"))
    assert known[1] == with_unknown[1]
    assert with_unknown[0] < known[0]
