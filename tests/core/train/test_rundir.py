import os
import re
from pathlib import Path

import pytest

from core.train.rundir import (
    RUN_NAME,
    is_run_name,
    new_run_name,
    open_run_directory,
    runs_directory,
)

MALICIOUS = [
    "",
    ".",
    "..",
    "../20260102t030405z-a-00ff",
    "20260102t030405z-a-00ff/..",
    "20260102t030405z-../../etc-00ff",
    "/etc",
    "C:\\Windows",
    "20260102t030405z-a\\b-00ff",
    "20260102t030405z-a-00ff\n",
    "20260102t030405z-a-00ff\0",
    "20260102t030405z-A-00ff",
    "20260102t030405z--00f",
    "20260102t030405z-a-00fg",
    "20260102t030405z-" + "a" * 41 + "-00ff",
    "2026０102t030405z-a-00ff",
    "20260102t030405z-长-00ff",
    "x" * 100_000,
]


def test_a_name_that_no_run_can_have_is_refused_before_the_disk_is_touched(tmp_path):
    for name in MALICIOUS:
        with pytest.raises(ValueError, match=r"is not the name of a run\. Names look like 2026"):
            open_run_directory(tmp_path, name)


def test_a_refused_name_is_shown_cut_to_a_readable_length(tmp_path):
    with pytest.raises(ValueError, match="is not the name") as caught:
        open_run_directory(tmp_path, "x" * 100_000)
    assert len(str(caught.value)) < 300


def test_a_run_that_is_there_opens(run_directory):
    assert open_run_directory(run_directory.parent, run_directory.name) == run_directory


def test_a_run_that_is_not_there_is_named_in_the_error(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"no run 20260102t030405z-a-00ff in .*deleted"):
        open_run_directory(tmp_path, "20260102t030405z-a-00ff")


@pytest.mark.skipif(os.name == "nt", reason="links need a privilege on Windows")
def test_a_link_that_bears_a_runs_name_is_not_followed(tmp_path, run_directory):
    name = "20260102t030405z-link-00ff"
    (run_directory.parent / name).symlink_to(tmp_path, target_is_directory=True)
    with pytest.raises(FileNotFoundError, match="There is no run"):
        open_run_directory(run_directory.parent, name)


def test_a_new_name_is_always_one_that_can_be_opened():
    titles = ["One minute", "", "长长的名字", "../../etc/passwd", "a" * 200, "-", "é" * 50, "A\0\n"]
    for title in titles:
        name = new_run_name(title, 1_767_323_045.7)
        assert is_run_name(name), name
        assert RUN_NAME.fullmatch(name), name
        assert re.match("20260102t030405z-", name), name


def test_two_names_of_one_second_differ():
    assert new_run_name("a", 0.0) != new_run_name("a", 0.0)


def test_runs_lie_where_the_environment_says_else_beside_the_app(monkeypatch, tmp_path, root):
    monkeypatch.setenv("B2G_RUNS_DIR", str(tmp_path / "elsewhere"))
    assert runs_directory() == (tmp_path / "elsewhere").resolve()
    monkeypatch.delenv("B2G_RUNS_DIR")
    assert runs_directory() == Path(root) / "runs"
