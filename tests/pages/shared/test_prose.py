"""Prose lies beside the page; words of the glossary explain themselves."""

import pytest

from pages.shared.prose import as_typed, prose_file, term


def test_prose_is_found_in_the_readers_language_and_its_terms_explained(house, open_script):
    folder = house / "demo" / "one"
    (folder / "intro.en.md").write_text("The [[gradient]] of it.", encoding="utf-8")
    (folder / "intro.zh.md").write_text("它的[[gradient]]。", encoding="utf-8")
    source = f'prose({str(folder / "page.py")!r}, "intro")'
    english = open_script(source).markdown[0]
    assert english.value.startswith('The <span class="term" tabindex="0"')
    assert english.allow_html
    assert open_script(source, lang="zh").markdown[0].value.startswith("它的<span")


def test_a_missing_text_is_named(tmp_path):
    with pytest.raises(ValueError, match=r"intro\.zh\.md is missing in one"):
        prose_file(str(tmp_path / "one" / "page.py"), "intro", "zh")


def test_a_term_can_be_reached_by_keyboard_and_read_aloud():
    html = term("loss")
    assert 'tabindex="0"' in html
    assert 'aria-label="loss: How surprised the model is' in html


def test_a_word_that_the_glossary_lacks_is_refused():
    with pytest.raises(ValueError, match="'gizmo' is not in the glossary; it has: tensor"):
        term("gizmo")


def test_what_markdown_would_read_is_shown_as_it_is():
    assert as_typed("w_0.*.npy: `[a](b)`") == r"w\_0.\*.npy: \`\[a\]\(b\)\`"
    assert as_typed("权重 × 3, 5") == "权重 × 3, 5"
