"""The state folder: where it lies and what happens when it cannot."""

import os
import stat
from concurrent.futures import ThreadPoolExecutor

import platformdirs
import pytest

from core.machine import state_directory
from core.machine.state import kept_secret


def test_the_environment_variable_decides_where_state_lies(monkeypatch, tmp_path):
    monkeypatch.setenv("B2G_STATE_DIR", str(tmp_path / "deep" / "state"))
    assert state_directory() == (tmp_path / "deep" / "state").resolve()
    assert state_directory().is_dir()


def test_without_it_the_operating_systems_own_place_is_used(monkeypatch, tmp_path):
    monkeypatch.delenv("B2G_STATE_DIR")
    monkeypatch.setattr(platformdirs, "user_state_path", lambda name: tmp_path / name)
    assert state_directory().name == "bits-to-gpt"


def test_a_file_in_the_way_is_named_with_what_to_do(monkeypatch, tmp_path):
    (tmp_path / "taken").write_text("a file")
    monkeypatch.setenv("B2G_STATE_DIR", str(tmp_path / "taken"))
    with pytest.raises(
        ValueError, match=r"taken cannot be written to .*set B2G_STATE_DIR"
    ) as error:
        state_directory()
    assert str(tmp_path.parent) not in str(error.value)


def test_a_secret_is_made_once_and_only_its_user_can_read_it():
    with ThreadPoolExecutor(8) as pool:
        made = set(pool.map(lambda _: kept_secret("a-secret"), range(8)))
    assert len(made) == 1
    assert made == {kept_secret("a-secret")} != {kept_secret("another")}
    file = state_directory() / "a-secret"
    assert file.read_bytes() in made
    assert len(file.read_bytes()) == 32
    if os.name == "posix":
        assert stat.S_IMODE(file.stat().st_mode) == 0o600


def test_half_a_secret_is_none():
    whole = kept_secret("a-secret")
    (state_directory() / "a-secret").write_bytes(whole[:7])
    assert len(kept_secret("a-secret")) == len(whole)
