"""A finished run as one HTML file: what is in it, how large it is, who gets one."""

import json
import re

import numpy as np
import pytest

from core.train.control.orders import Orders, standing_orders
from core.train.run.directory import write_info
from core.train.run.evaluations import validation_curve
from core.train.run.reader import RunReader
from core.train.run.recorded import recorded_run
from core.train.run.records import StepRecord, to_columns
from core.train.run.replay import ReplayReader
from core.train.run.shelf import summarize
from core.train.run.state import RunState, write_state
from core.train.run.store import RunStore
from pages.components.live_chart.feed import COLUMNS, Feed
from pages.components.run_player.run_player import MAX_RECORDS, player_html

MAX_BYTES = 6_000_000

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
    directory = ended(25_000, sample="的" * 400)
    page = player_html(directory)
    assert len(page.encode()) <= MAX_BYTES
    shown = run_of(page)["columns"]["step"]
    assert len(shown) <= MAX_RECORDS * 1.1
    assert (shown[0], shown[-1]) == (1, 25_000)
    assert run_of(page)["totals"]["num"] == 25_000


def test_of_a_run_with_damaged_events_the_rest_is_exported_and_the_damage_is_told(spoilt_run):
    directory, sound = spoilt_run
    increment = RunReader(directory).read_new()
    assert increment.num_damaged > 300
    assert increment.events[: len(sound)] == sound
    page = run_of(player_html(directory))
    assert page["num_damaged"] == increment.num_damaged
    assert validation_curve(directory).losses
    replay = ReplayReader(directory, 60).replay
    for moment in np.linspace(0, replay.seconds, 10):
        replay.state(replay.place(moment))
    for reader in (RunReader(directory), ReplayReader(directory, 60)):
        feed = Feed(directory, reader)
        feed.take(feed.look())
        assert feed.message(None)
    assert standing_orders(directory, Orders()).multiplier_changes


def test_a_run_json_with_a_damaged_field_is_exported_or_refused_with_a_sentence(ended, damaged):
    directory = ended()
    path = directory / "run.json"
    info = json.loads(path.read_text("utf-8"))
    info["config"] = {"name": "a", "batch_size": 16, "learning_rate": 1e-3}
    refused = []
    for wrong in damaged(info):
        path.write_text(json.dumps(wrong), "utf-8")
        summarize(directory)
        for export in (player_html, validation_curve):
            try:
                export(directory)
            except ValueError as error:
                refused.append(str(error))
    assert len(refused) > 100
    assert any("section 'text' of" in each and "run.json is damaged" in each for each in refused)


@pytest.mark.parametrize("state", ["running", "paused"])
def test_a_run_that_has_not_ended_is_not_exported(ended, state, monkeypatch):
    directory = ended(state=state)
    monkeypatch.setattr("core.train.run.state.worker_is_alive", lambda _directory: True)
    with pytest.raises(ValueError, match="has not ended"):
        player_html(directory)
