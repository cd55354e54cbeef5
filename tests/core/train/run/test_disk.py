import errno
import os

import pytest
from filelock import FileLock, Timeout

from core.train.run import disk
from core.train.run.disk import (
    AppendFile,
    RunStorageError,
    sentence_of,
    storage_error,
    to_json,
    write_atomically,
)


def keep_all(data):
    return len(data)


def test_a_part_that_fits_only_half_is_taken_back_also_when_that_fails_at_first(
    tmp_path, monkeypatch, fails
):
    file = AppendFile(tmp_path / "log", keep_all)
    file.append(b"first ")
    write, truncate = os.write, os.ftruncate
    monkeypatch.setattr(disk.os, "write", lambda fd, part: write(fd, part[:3]))
    fails("os.ftruncate", OSError(errno.EIO, "Input/output error"))
    with pytest.raises(RunStorageError, match=r"log \(Input/output error\)"):
        file.append(b"second ")
    assert (tmp_path / "log").read_bytes() == b"first sec"
    monkeypatch.setattr(disk.os, "ftruncate", truncate)
    with pytest.raises(RunStorageError, match=r"log \(No space left on device\)"):
        file.append(b"second ")
    assert (tmp_path / "log").read_bytes() == b"first "
    monkeypatch.setattr(disk.os, "write", write)
    file.append(b"second ")
    file.close()
    file.close()
    assert (tmp_path / "log").read_bytes() == b"first second "


def test_an_error_names_a_file_and_its_folder_but_never_where_it_lies(tmp_path):
    """What the system says, also of a lock, becomes a sentence that a whole class may read."""
    place = tmp_path / "runs" / "state.json"
    with pytest.raises(FileNotFoundError) as unread:
        place.read_bytes()
    with pytest.raises(RunStorageError) as unwritten:
        write_atomically(place, "{}")
    with FileLock(tmp_path / "a.lock"), pytest.raises(Timeout) as locked:
        FileLock(tmp_path / "a.lock", timeout=0).acquire()
    from_lock = storage_error(place, locked.value)
    for error in (unread.value, unwritten.value, locked.value, from_lock):
        assert str(tmp_path.parent) not in sentence_of(error), error
    assert sentence_of(unread.value) == "runs/state.json: No such file or directory"
    assert sentence_of(unwritten.value).startswith("Cannot write runs/state.json (No such file or")
    assert f"{tmp_path.name}/a.lock: another process holds it" in sentence_of(from_lock)


def test_opening_keeps_what_is_sound(tmp_path):
    (tmp_path / "log").write_bytes(b"sound torn")
    file = AppendFile(tmp_path / "log", lambda data: data.index(b" ") + 1)
    file.append(b"more")
    file.close()
    assert (tmp_path / "log").read_bytes() == b"sound more"


def test_a_file_is_replaced_as_a_whole_and_no_scrap_stays(tmp_path):
    path = tmp_path / "state.json"
    write_atomically(path, "one")
    write_atomically(path, "two 长", durable=False)
    assert path.read_text(encoding="utf-8") == "two 长"
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.skipif(os.name == "nt", reason="plays Windows on another system")
def test_a_reader_that_holds_the_old_file_open_on_windows_is_waited_for(tmp_path, monkeypatch):
    refusals = [PermissionError(errno.EACCES, "Access is denied")] * 3
    replace = type(tmp_path).replace

    def sometimes(self, target):
        if refusals:
            raise refusals.pop()
        return replace(self, target)

    monkeypatch.setattr(type(tmp_path), "replace", sometimes)
    with pytest.raises(RunStorageError, match="Access is denied"):
        write_atomically(tmp_path / "state.json", "one")
    assert len(refusals) == 2
    monkeypatch.setattr(disk, "_READERS_BLOCK_REPLACING", True)
    write_atomically(tmp_path / "state.json", "two")
    assert (tmp_path / "state.json").read_text(encoding="utf-8") == "two"


def test_json_is_strict_at_every_depth():
    value = {"a": [float("nan"), {"b": (float("-inf"), 1, None, "NaN")}], 3: True}
    assert to_json(value) == '{"a":[null,{"b":[null,1,null,"NaN"]}],"3":true}'
