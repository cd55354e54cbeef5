"""The committed Chinese catalogue: complete, unambiguous, compiled."""

import gettext
import string

import pytest

from core.language.extract import catalogue_path, collect, read_catalogue


@pytest.fixture(scope="module")
def written():
    return {m.id: m.string for m in read_catalogue(catalogue_path("po")) if m.id}


@pytest.fixture(scope="module")
def used():
    return {message.id for message in collect() if message.id}


def forms(text):
    return (text,) if isinstance(text, str) else tuple(text)


def fields(text):
    return {name for _, name, _, _ in string.Formatter().parse(text) if name is not None}


def test_every_text_in_the_code_is_in_the_catalogue(used, written):
    assert sorted(used - set(written), key=str) == [], "run `make translations`"


def test_every_text_in_the_catalogue_is_in_the_code(used, written):
    assert sorted(set(written) - used, key=str) == [], "run `make translations`"


def test_every_text_has_a_translation(written):
    empty = [text for text, chinese in written.items() if not all(map(str.strip, forms(chinese)))]
    assert written
    assert empty == []


def test_a_translation_has_the_placeholders_of_its_text(written):
    for text, chinese in written.items():
        wanted = fields(forms(text)[-1])
        for form in forms(chinese):
            assert fields(form) == wanted, f"{text!r} -> {form!r}"


def test_the_compiled_catalogue_is_what_the_written_one_compiles_to(written):
    with catalogue_path("mo").open("rb") as file:
        compiled = gettext.GNUTranslations(file)
    entries = {key: text for key, text in compiled._catalog.items() if key}
    expected = {}
    for text, chinese in written.items():
        plural = not isinstance(text, str)
        for index, form in enumerate(forms(chinese)):
            expected[(text[0], index) if plural else text] = form
    assert entries == expected, "run `make translations`"
