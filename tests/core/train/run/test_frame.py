"""A run's steps for pandas: the same numbers as the CSV, and what a reader of the run gets."""

import math
from importlib.metadata import requires

import pandas as pd
import pytest

from core.train.__main__ import main
from core.train.run.reader import RunReader
from core.train.run.records import COLUMNS, newest


@pytest.fixture
def resumed_run(run_directory, write_steps):
    """Five steps, of which a resume did two again; one loss is no number, one not finite."""
    write_steps(run_directory, (1, 2, 3), loss=0.1 + 0.2)
    write_steps(run_directory, (2, 3), attempt=2, resident_bytes=2**63)
    write_steps(run_directory, (4,), attempt=2, loss=math.nan)
    write_steps(run_directory, (5,), attempt=2, loss=-math.inf)
    return run_directory


def export(directory, kind, file):
    assert main(["export", str(directory), f"--{kind}", str(file)]) == 0
    return file


def test_csv_and_parquet_hold_the_newest_records_bit_for_bit(resumed_run, tmp_path, capsys):
    file = export(resumed_run, "parquet", tmp_path / "run.parquet")
    assert capsys.readouterr().out == f"5 steps written to {file}\n"
    frame, records = pd.read_parquet(file), newest(RunReader(resumed_run).read_new().records)
    assert frame["step"].tolist() == [1, 2, 3, 4, 5]
    assert frame["attempt"].tolist() == [1, 2, 2, 2, 2]
    for name in COLUMNS:
        assert frame[name].to_numpy().tobytes() == records[name].tobytes(), name
    written = pd.read_csv(
        export(resumed_run, "csv", tmp_path / "run.csv"), dtype=dict(frame.dtypes)
    )
    pd.testing.assert_frame_equal(frame, written, check_exact=True)
    assert list(tmp_path.glob("*.tmp")) == []


def test_a_run_without_a_step_has_the_same_columns_of_the_same_types(run_directory, tmp_path):
    frame = pd.read_parquet(export(run_directory, "parquet", tmp_path / "run.parquet"))
    whole = dict.fromkeys(("step", "resident_bytes"), "uint64")
    whole |= dict.fromkeys(("attempt", "flags"), "uint32")
    kinds = {name: str(kind) for name, kind in frame.dtypes.items()}
    assert kinds == dict.fromkeys(COLUMNS, "float64") | whole
    assert len(frame) == 0


def test_a_damaged_run_is_refused_with_a_sentence_and_nothing_is_written(
    run_directory, tmp_path, capsys
):
    (run_directory / "run.json").write_text("{", encoding="utf-8")
    assert main(["export", str(run_directory), "--parquet", str(tmp_path / "x.parquet")]) == 2
    assert "run.json cannot be read (it is not JSON)" in capsys.readouterr().err
    assert not (tmp_path / "x.parquet").exists()


@pytest.mark.parametrize("kinds", [[], ["--csv", "a", "--parquet", "b"]])
def test_one_kind_of_file_is_asked_for(run_directory, kinds, capsys):
    with pytest.raises(SystemExit, match="2"):
        main(["export", str(run_directory), *kinds])
    assert "--parquet" in capsys.readouterr().err


def test_what_writes_parquet_comes_with_streamlit():
    assert any(line.startswith("pyarrow") for line in requires("streamlit"))
