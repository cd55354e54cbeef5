"""Code shown to the reader, the device banner, the menu table."""

import re

import pytest

from pages.shared.navigation import PAGES, page_row


def test_code_is_known_to_the_suite_and_sent_only_to_a_reader_who_opens_it(open_script):
    app = open_script('show_code("sum", "print(1 + 1)\\n")')
    assert app.session_state["snippets"] == {"sum": "print(1 + 1)\n"}
    assert not app.code

    app.session_state["sum_code"] = True
    app.run()
    assert app.code[0].value == "print(1 + 1)"


def test_the_banner_names_a_cpu_and_invents_no_gpu_numbers(open_script, said):
    line = "from pages.train.live_run.shown_run import device_banner\n"
    text = said(open_script(line + 'device_banner("cpu", "Some `CPU`")'))[0]
    assert text == "Runs on the CPU `Some CPU`. What needs a GPU reads: n/a on this device."


def test_every_page_of_the_menu_has_a_script_and_an_address_of_its_own():
    for row in PAGES:
        assert row.file.is_file(), row.key
        assert re.fullmatch(r"[a-z-]+", row.address)
    assert len({row.address for row in PAGES}) == len(PAGES)


def test_every_page_script_is_in_the_menu(root):
    assert set((root / "pages").rglob("page.py")) == {row.file for row in PAGES}


def test_an_unknown_page_is_refused():
    with pytest.raises(
        ValueError, match="page 'no/page' does not exist; the pages are: start/home"
    ):
        page_row("no/page")
