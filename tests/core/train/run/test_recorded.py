"""The recorded runs that come with the app, and how they are packed."""

import json
import platform
import re
import zipfile
from dataclasses import replace
from pathlib import Path

import pytest

from core.train.config import TrainConfig
from core.train.run.reader import RunReader
from core.train.run.recorded import (
    RECORDED,
    check_preset,
    pack,
    recorded_run,
    unpack,
)
from core.train.start.presets import DURATIONS, preset_config

MAX_BYTES = 2_250_000

NAME = "20260102t030405z-one-minute-00ff"
SHIPPED = sorted(path.stem for path in RECORDED.glob("*.zip"))
INTERVALS = ("eval", "sample", "checkpoint", "memory")


def test_all_recordings_together_are_small():
    assert sum(path.stat().st_size for path in RECORDED.iterdir()) <= MAX_BYTES


@pytest.mark.parametrize("preset", SHIPPED)
def test_a_shipped_run_is_whole_and_read_by_todays_reader(preset):
    reader = RunReader(recorded_run(preset))
    everything, state = reader.read_new(), reader.read_state()
    assert everything.num_damaged == 0
    assert (state.state, state.pid) == ("finished", None)
    every = reader.info["recorded"]["every"]
    kept = {1, state.step, *range(every, state.step + 1, every)}
    assert everything.records["step"].tolist() == sorted(kept)
    assert set(reader.info["recorded"]) == {"machine", "cores", "date", "every"}


@pytest.mark.parametrize("preset", SHIPPED)
def test_a_shipped_run_is_that_preset_and_has_learnt_something(preset):
    reader = RunReader(recorded_run(preset))
    config, events = TrainConfig.from_json(reader.info["config"]), reader.read_new().events
    fitted = {f"{name}_interval": getattr(config, f"{name}_interval") for name in INTERVALS}
    fitted |= {"num_steps": config.num_steps, "warmup_steps": config.warmup_steps}
    assert replace(preset_config(preset), **fitted) == config
    losses = [event["validation_loss"] for event in events if event["kind"] == "eval"]
    assert losses[0] > reader.info["text"]["unigram_entropy"]
    assert losses[-1] < reader.info["text"]["bigram_entropy"]


@pytest.mark.parametrize("preset", SHIPPED)
def test_a_shipped_run_has_the_surprise_of_every_character_of_its_samples(preset):
    samples = [
        event
        for event in RunReader(recorded_run(preset)).read_new().events
        if event["kind"] == "sample"
    ]
    bits = []
    for sample in samples:
        assert "".join(text for text, _bits, _candidates in sample["written"]) == sample["text"]
        bits.append(sum(each[1] for each in sample["written"]) / len(sample["text"]))
    assert bits[-1] < bits[0] / 2


@pytest.mark.parametrize("preset", SHIPPED)
def test_a_shipped_run_tells_nothing_of_the_machine_that_made_it(preset):
    directory = recorded_run(preset)
    texts = (path.read_text("utf-8") for path in directory.glob("*.json*"))
    written = "\n".join(texts)
    assert not re.search(r"/(tmp|home|root|Users|work)\b", written)
    assert not re.search(rf"\b{re.escape(platform.node() or 'nobody')}\b", written)
    assert {path.name for path in directory.iterdir()} == {
        "run.json",
        "state.json",
        "metrics.bin",
        "events.jsonl",
    }


def test_every_preset_has_a_recording_of_its_own_for_a_cpu():
    assert {duration.key for duration in DURATIONS} == set(SHIPPED)
    names = {recorded_run(duration.key).name for duration in DURATIONS}
    assert len(names) == len(DURATIONS)


@pytest.mark.parametrize("name", ["", "../one", "a.b", "a/b", "A", "x" * 41])
def test_a_name_from_outside_reaches_no_other_file(name):
    with pytest.raises(ValueError, match="is not the name of a preset"):
        check_preset(name)


def test_a_packed_run_is_unpacked_as_it_was_and_packs_the_same_again(tmp_path):
    files = {"run.json": json.dumps({"a": 1}).encode(), "metrics.bin": bytes(range(256))}
    (tmp_path / "own.zip").write_bytes(pack(NAME, files))
    directory = unpack(tmp_path / "own.zip", tmp_path)
    assert directory == tmp_path / NAME
    assert {path.name: path.read_bytes() for path in directory.iterdir()} == files
    assert pack(NAME, files) == (tmp_path / "own.zip").read_bytes()


@pytest.mark.parametrize("names", [[], [f"{NAME}/a", "20260102t030405z-other-00ff/a"]])
def test_a_file_that_holds_more_or_less_than_one_run_is_refused(tmp_path, names):
    path = Path(tmp_path / "own.zip")
    with zipfile.ZipFile(path, "w") as archive:
        for name in names:
            archive.writestr(name, b"")
    with pytest.raises(ValueError, match="runs, not one"):
        unpack(path, tmp_path)
