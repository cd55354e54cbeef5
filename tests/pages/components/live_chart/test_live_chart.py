"""The browser part's Python side: its words, and the commands that come back."""

import re
from pathlib import Path

import pytest

from core.language import install_provider
from core.language.extract import ROOT
from core.train.control.commands import RANGES, check_command
from core.train.text.pieces import SIGNS
from pages.components.live_chart import live_chart as part
from pages.components.live_chart.words import live_words

FOLDER = Path(part.__file__).parent
JAVASCRIPT = "\n".join(path.read_text(encoding="utf-8") for path in FOLDER.glob("*.js"))
HTML = (FOLDER / "live_chart.html").read_text(encoding="utf-8")
COMMAND = {"op": "pause", "value": None, "nonce": "n1", "run": "a-run"}


def test_every_word_that_the_javascript_asks_for_comes_from_python():
    asked = set(re.findall(r"words\.([a-z_]+)\b(?!\[)", JAVASCRIPT))
    asked |= set(re.findall(r'data-(?:word|label)="([a-z_]+)"', HTML))
    asked |= set(re.findall(r'\["([a-z_]+)", (?:resetZoom|savePicture)\]', JAVASCRIPT))
    assert asked - set(live_words()) == set()


def test_the_javascript_and_the_html_hold_no_words_of_their_own():
    without_comments = re.sub(r"//.*", "", JAVASCRIPT)
    texts = re.findall(r'"([^"]*)"', without_comments)
    sentences = [text for text in texts if re.search(r"[A-Za-z]{3,} [A-Za-z]{3,}", text)]
    selectors = (".live", "input,")
    assert [text for text in sentences if not text.startswith(selectors)] == []
    assert re.findall(r">\s*[A-Za-z]{2,}", HTML) == []


def test_the_signs_for_what_cannot_be_seen_stand_in_core_alone():
    pairs = live_words()["signs"]
    assert dict(zip(pairs[::2], pairs[1::2], strict=True)) == SIGNS
    for path in (
        *ROOT.glob("pages/**/*.js"),
        *ROOT.glob("pages/**/*.py"),
        *ROOT.glob("core/**/*.py"),
    ):
        if path != ROOT / "core/train/text/pieces.py":
            assert not set(SIGNS.values()) & set(path.read_text(encoding="utf-8")), path


def test_the_words_are_asked_for_anew_at_every_call():
    english = live_words()["op_pause"]
    install_provider(lambda: "zh")
    assert live_words().keys()
    install_provider(None)
    assert live_words()["op_pause"] == english == "Pause"


def test_every_position_of_the_dials_is_a_command_that_a_run_accepts():
    dials = {
        "set_learning_rate_multiplier": part.MULTIPLIERS,
        "set_max_steps_per_second": part.GOVERNORS,
    }
    assert set(dials) == set(RANGES)
    for op, values in dials.items():
        for value in values:
            check_command(op, value)
    assert 1 in part.MULTIPLIERS
    assert None in part.GOVERNORS


def test_a_command_is_answered_with_its_number():
    sent = []

    def on_command(*command):
        sent.append(command)
        return 7

    assert part._receipt(COMMAND, on_command) == {"nonce": "n1", "number": 7, "error": ""}
    assert sent == [("a-run", "pause", None)]


def test_a_command_that_our_script_cannot_have_sent_is_neither_obeyed_nor_an_error():
    sent = []
    wrong = [{**COMMAND, name: None} for name in ("nonce", "run", "op")]
    wrong += [{key: COMMAND[key] for key in COMMAND if key != "nonce"}, {**COMMAND, "nonce": ""}]
    wrong += [{**COMMAND, "nonce": 1}, {**COMMAND, "nonce": ["n"]}, {**COMMAND, "nonce": "n" * 101}]
    for command in (*wrong, None, "pause", [], {}):
        assert part._receipt(command, lambda *each: sent.append(each)) is None, command
    assert sent == []


@pytest.mark.parametrize("error", [ValueError("no such run"), OSError("disk full")])
def test_a_command_that_cannot_be_sent_is_answered_with_the_sentence(error):
    def on_command(*_command):
        raise error

    assert part._receipt(COMMAND, on_command)["error"] == str(error)
