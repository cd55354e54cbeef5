"""The command line on runs that exist, and what it starts; the start is tested with launching."""

import csv
import json
from dataclasses import replace

import pytest

from core.train import __main__ as program
from core.train.__main__ import main
from core.train.run.records import NON_FINITE
from core.train.run.shelf import read_label
from core.train.run.state import RunState, write_state


@pytest.fixture
def finished_run(run_directory, write_steps):
    """Four steps, two of which a resume did again; the loss of the last is no number."""
    write_steps(run_directory, (1, 2, 3))
    write_steps(run_directory, (2, 3), attempt=2, loss=9.0)
    write_steps(run_directory, (4,), attempt=2, loss=float("nan"))
    write_state(run_directory, RunState(state="finished", step=4))
    return run_directory


def test_the_steps_are_exported_as_csv_each_once_from_the_newest_attempt(
    finished_run, tmp_path, capsys
):
    file = tmp_path / "out.csv"
    assert main(["export", str(finished_run), "--csv", str(file)]) == 0
    assert capsys.readouterr().out == f"4 steps written to {file}\n"
    with file.open(encoding="utf-8", newline="") as lines:
        rows = list(csv.DictReader(lines))
    assert [row["step"] + row["attempt"] for row in rows] == ["11", "22", "32", "42"]
    assert [row["loss"] for row in rows] == ["4.0", "9.0", "9.0", "nan"]
    assert rows[3]["flags"] == str(NON_FINITE)
    assert list(tmp_path.glob("*.tmp")) == []


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_an_export_into_a_folder_that_is_not_there_is_a_sentence(
    finished_run, tmp_path, capsys, kind
):
    file = tmp_path / "no" / f"x.{kind}"
    assert main(["export", str(finished_run), f"--{kind}", str(file)]) == 2
    assert f"Cannot write no/x.{kind}" in capsys.readouterr().err


def test_runs_are_listed_with_title_state_and_pin(finished_run, make_run, capsys):
    broken = make_run("20260101t000000z-broken-0001")
    (broken / "run.json").write_text("{", encoding="utf-8")
    assert main(["rename", str(finished_run), "Half the rate"]) == 0
    assert main(["pin", str(finished_run)]) == 0
    capsys.readouterr()
    assert main(["list", "--runs", str(finished_run.parent)]) == 0
    first, second = capsys.readouterr().out.splitlines()
    assert first.startswith(f"{finished_run.name}  2026-01-02 03:04 UTC  finished")
    assert first.endswith("4/100  Half the rate  (pinned)")
    assert "cannot be read" in second


def test_a_pinned_run_is_deleted_after_it_was_unpinned(finished_run, capsys):
    assert main(["pin", str(finished_run)]) == 0
    assert main(["delete", str(finished_run)]) == 2
    assert "is pinned" in capsys.readouterr().err
    assert main(["unpin", str(finished_run)]) == 0
    assert not read_label(finished_run).pinned
    assert main(["delete", str(finished_run)]) == 0
    assert not finished_run.exists()


def test_the_status_of_a_crash_says_what_happened_and_what_it_held(finished_run, capsys):
    state = RunState(state="running", step=3, pid=1, resident_bytes=300 << 20)
    write_state(finished_run, state)
    assert main(["status", str(finished_run)]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "crashed step 3"
    assert "It last held 300 MiB of memory" in lines[1]


def test_a_run_of_a_newer_version_is_left_alone(run_directory, capsys):
    info = json.loads((run_directory / "run.json").read_text())
    (run_directory / "run.json").write_text(json.dumps({**info, "format_version": 2}))
    before = sorted(path.name for path in run_directory.iterdir())
    for command in ("status", "resume", "stop"):
        assert main([command, str(run_directory)]) == 2
        assert "written by a newer version of this app" in capsys.readouterr().err
    assert sorted(path.name for path in run_directory.iterdir()) == before


@pytest.fixture
def started(monkeypatch, made_timing):
    """The configs that were to be started, on a machine whose probe knows a GPU."""
    configs = []

    def start(prepared, **_options):
        configs.append(prepared.config)
        return "a-run"

    hindered = replace(made_timing, gpu_trouble="no kernel image")
    monkeypatch.setattr(program, "start_run", start)
    monkeypatch.setattr(program, "device_in_use", lambda: ("cuda", "A GPU"))
    monkeypatch.setattr(program, "predicted_timing", lambda *_: hindered)
    return configs


@pytest.mark.parametrize(("settings", "hidden_dim"), [([], 128), (["--set", "device=cpu"], 64)])
def test_a_start_takes_the_preset_of_the_device_that_it_will_use(started, settings, hidden_dim):
    assert main(["start", "--preset", "one-minute", *settings]) == 0
    assert [config.hidden_dim for config in started] == [hidden_dim]


def test_a_start_that_could_not_have_the_gpu_says_why(started, capsys):
    assert main(["start"]) == 0
    run, reason = capsys.readouterr().out.splitlines()
    assert run == "a-run"
    assert "cannot use the GPU here (no kernel image)" in reason
