"""The command that makes the recorded runs, on a training of a few steps."""

import json
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from benchmarks import record_run
from benchmarks.record_run import main, thinned
from core.train.run.reader import RunReader
from core.train.run.recorded import unpack
from core.train.run.records import RECORD_DTYPE
from core.train.start.launch import start_run


@pytest.fixture
def short(monkeypatch, prepare_small, made_timing):
    """Let every preset be a run of twelve steps."""
    prepared = prepare_small()
    timed = replace(prepared, timing=made_timing)
    monkeypatch.setattr(record_run, "plan_run", lambda _wish: timed)

    def start(plan, *, seconds, runs_dir):
        assert seconds == 60
        return start_run(plan, runs_dir=runs_dir)

    monkeypatch.setattr(record_run, "start_run", start)


def test_the_command_records_a_run_by_the_worker_that_trains_every_run(short, tmp_path, capsys):
    main(["one_minute"], tmp_path)
    assert "one_minute.zip: " in capsys.readouterr().err
    reader = RunReader(unpack(tmp_path / "one_minute.zip", tmp_path))
    everything, state = reader.read_new(), reader.read_state()
    assert (state.state, state.step, state.pid) == ("finished", 12, None)
    assert everything.records["step"].tolist() == list(range(1, 13))
    assert any(event["kind"] == "sample" for event in everything.events)
    label = reader.info["recorded"]
    assert label["cores"] >= 1
    assert label["machine"] == reader.info["resolved"]["device_name"]
    assert str(tmp_path) not in json.dumps(reader.info)


def test_of_a_long_run_the_first_the_last_and_every_nth_step_stay():
    records = np.zeros(5001, RECORD_DTYPE)
    records["step"] = np.arange(1, 5002)
    kept, every = thinned(records)
    assert every == 7
    assert len(kept) <= record_run.MOST_KEPT + 2
    assert kept["step"].tolist() == [1, *range(7, 5001, 7), 5001]
    assert thinned(records[:1000])[1] == 1


def test_a_run_that_did_not_end_well_is_not_recorded(short, tmp_path, monkeypatch):
    failed = SimpleNamespace(is_final=True, state="failed", step=3, message="no memory")
    monkeypatch.setattr(record_run, "start_run", lambda *_, **__: tmp_path / "run")
    monkeypatch.setattr(record_run, "read_state", lambda *_: failed)
    with pytest.raises(RuntimeError, match="failed at step 3: no memory"):
        main(["one_minute"], tmp_path)
    assert not list(tmp_path.glob("*.zip"))
