"""The tool behind `make translations`."""

import pytest
from babel.messages.catalog import Catalog

from core.language.extract import (
    collect,
    is_page,
    lessons_text,
    page_question,
    read_catalogue,
    update,
    write,
)

PAGE = '''"""Where does a gradient come from?

More words, which are not the question.
"""
_("one {name}").format(name=_("two "
                              "lines"))
ngettext("a run", "{count} runs", 2)
NOT_FOUND = N_("marked")
other("not a text of ours")
'''


def small_house(tmp_path):
    page = tmp_path / "pages" / "train" / "live" / "page.py"
    page.parent.mkdir(parents=True)
    page.write_text(PAGE, encoding="utf-8")
    shared = tmp_path / "pages" / "shared" / "chart.py"
    shared.parent.mkdir()
    shared.write_text('"""Draw a chart?"""\n_("shared text")\n', encoding="utf-8")
    return tmp_path


def ids(catalogue):
    return {message.id for message in catalogue if message.id}


def test_texts_are_the_calls_of_gettext_and_the_question_of_each_page(tmp_path):
    expected = {
        "Where does a gradient come from?",
        "one {name}",
        "two lines",
        ("a run", "{count} runs"),
        "marked",
        "shared text",
    }
    assert ids(collect(small_house(tmp_path))) == expected


def test_only_scripts_in_a_section_are_pages(tmp_path):
    root = small_house(tmp_path)
    assert is_page(root / "pages" / "train" / "live" / "page.py", root)
    assert page_question(root / "pages/train/live/page.py") == "Where does a gradient come from?"
    for other in (
        "pages/shared/chart.py",
        "pages/frame.py",
        "core/units.py",
        "pages/train/live/words.py",
    ):
        assert not is_page(root / other, root), other


def test_an_update_keeps_translations_drops_unused_texts_and_is_stable(tmp_path):
    po = tmp_path / "zh" / "messages.po"
    catalogue = Catalog(locale="zh", charset="utf-8")
    catalogue.add("marked", "已标记")
    catalogue.add("no longer in the code", "代码中已不存在")
    template = collect(small_house(tmp_path))
    update(catalogue, template)
    write(catalogue, po)
    first = po.read_bytes()

    again = read_catalogue(po)
    update(again, template)
    write(again, po)

    assert po.read_bytes() == first
    assert ids(again) == ids(template)
    assert again["marked"].string == "已标记"
    assert b"no longer" not in first


def test_a_compiled_catalogue_translates_and_has_one_plural_form_in_chinese(tmp_path):
    import gettext

    po = tmp_path / "zh" / "LC_MESSAGES" / "messages.po"
    catalogue = Catalog(locale="zh", charset="utf-8")
    catalogue.add("marked", "已标记")
    catalogue.add(("a run", "{count} runs"), ("{count} 次运行",))
    write(catalogue, po)
    words = gettext.translation("messages", tmp_path, ["zh"])
    assert words.gettext("marked") == "已标记"
    for count in (1, 2, 5):
        assert words.ngettext("a run", "{count} runs", count) == "{count} 次运行", count


@pytest.mark.parametrize("between", [".", "/"], ids=["beside its page", "in its page's folder"])
def test_lessons_come_by_section_page_name_and_language_wherever_they_lie(tmp_path, between):
    names = ["dtypes/bits*a.en", "dtypes/bits*a.zh", "dtypes/bits*b.en", "dtypes/bits_of*a.en"]
    names += ["shared/lessons.toml", "start/lessons*a.en"]
    for name in reversed(names):
        file = tmp_path / "pages" / name.replace("*", between)
        file = file if file.suffix == ".toml" else file.with_name(f"{file.name}.md")
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(name, encoding="utf-8")
    assert lessons_text(tmp_path).splitlines() == names


@pytest.mark.slow
def test_the_command_writes_all_files_and_says_what_waits_for_a_translation(
    tmp_path, monkeypatch, capsys
):
    from core.language import extract

    monkeypatch.setattr(extract, "LOCALES", tmp_path)
    monkeypatch.setattr(extract, "LESSONS", tmp_path / "lessons.txt")
    extract.main()
    told = capsys.readouterr().out
    assert "not translated yet: Home" in told
    assert "not translated yet: ('{count} lesson', '{count} lessons')" in told
    assert {path.name for path in tmp_path.rglob("messages.*")} == {"messages.po", "messages.mo"}
    assert (tmp_path / "lessons.txt").read_text(encoding="utf-8") == lessons_text()
