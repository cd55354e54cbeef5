"""A finished run as one HTML file: what is in it, how large it is, who gets one."""

import json
import re

import pytest

from core.train.run.directory import write_info
from core.train.run.reader import RunReader
from core.train.run.recorded import recorded_run
from core.train.run.records import StepRecord, to_columns
from core.train.run.state import RunState, write_state
from core.train.run.store import RunStore
from pages.components.live_chart.feed import COLUMNS
from pages.components.run_player.run_player import MAX_BYTES, MAX_RECORDS, player_html

NAME = "20260102t030405z-one-minute-00ff"


def run_of(page):
    found = re.search(r'<script type="application/json" id="run">(.*?)</script>', page, re.DOTALL)
    return json.loads(found[1])


@pytest.fixture
def ended(tmp_path):
    """Return ended(num_steps, sample): the directory of a run that has finished."""

    def make(num_steps=3, sample="a text", state="finished"):
        directory = tmp_path / NAME
        directory.mkdir()
        info = dict(RunReader(recorded_run("one_minute")).info)
        del info["recorded"]
        write_info(directory, info)
        with RunStore(directory) as store:
            for step in range(1, num_steps + 1):
                store.append_step(
                    StepRecord(
                        step=step,
                        time=1e9 + step,
                        seconds=0.0123456789,
                        loss=1 / step + 1 / 3,
                        learning_rate=1 / 3,
                        grad_norm=2 / 3,
                        tokens_per_second=1e5 / 3,
                        resident_bytes=353 << 20,
                    )
                )
            for number in range(200 if num_steps > 10 else 1):
                written = [[letter, 4.321, [[["e", 0.123]] * 5]] for letter in sample]
                told = {"prompt": "The ", "num_words": 2, "num_real_words": 1}
                store.append_event("sample", number, text=sample, written=written, **told)
        write_state(directory, RunState(state=state, step=num_steps))
        return directory

    return make


def test_every_number_of_a_recorded_run_is_in_it_and_all_words_in_both_languages():
    directory = recorded_run("one_minute")
    page = player_html(directory, "zh")
    run, reader = run_of(page), RunReader(directory)
    assert run["columns"] == to_columns(reader.read_new().records, COLUMNS)
    assert run["language"] == "zh"
    assert run["words"]["en"].keys() == run["words"]["zh"].keys()
    assert run["words"]["zh"]["player_play"] != run["words"]["en"]["player_play"]
    assert len(page.encode()) < 1_000_000


def test_it_asks_for_nothing_from_elsewhere():
    page = player_html(recorded_run("one_minute"))
    assert not re.search(r"<[a-z]+ [^>]*(src|href)=|@import|url\(http|fetch\(|EventSource", page)
    addresses = set(re.findall(r"https?://[^\s\"']+", page))
    assert addresses == {"http://www.w3.org/2000/svg"}  # a name, that nobody asks for


def test_a_sample_that_looks_like_the_end_of_a_script_stays_a_sample(ended):
    evil = "</script><script>alert(1)</script><!--"
    page = player_html(ended(sample=evil))
    assert evil not in page
    assert run_of(page)["events"][0]["text"] == evil


def test_the_longest_run_stays_below_six_megabytes(ended):
    directory = ended(60_000, sample="的" * 400)
    page = player_html(directory)
    assert len(page.encode()) <= MAX_BYTES
    shown = run_of(page)["columns"]["step"]
    assert len(shown) <= MAX_RECORDS * 1.1
    assert (shown[0], shown[-1]) == (1, 60_000)
    assert run_of(page)["totals"]["num"] == 60_000


@pytest.mark.parametrize("state", ["running", "paused"])
def test_a_run_that_has_not_ended_is_not_exported(ended, state, monkeypatch):
    directory = ended(state=state)
    monkeypatch.setattr("core.train.run.state.worker_is_alive", lambda _directory: True)
    with pytest.raises(ValueError, match="has not ended"):
        player_html(directory)
