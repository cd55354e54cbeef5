"""What others build on, by its name: a move inside core.train must not lose it."""

import subprocess
import sys
from importlib import import_module

import pytest


@pytest.mark.parametrize(
    ("module", "name"),
    [
        ("core.train.config", "TrainConfig"),
        ("core.train.run.store", "RunStore"),
        ("core.train.run.reader", "RunReader"),
        ("core.train.run.shelf", "list_runs"),
    ],
)
def test_a_public_name_is_where_others_look_for_it(module, name):
    assert callable(getattr(import_module(module), name))


def answer(root, *command):
    """Return what `python -m core.train...` prints."""
    done = subprocess.run(
        [sys.executable, "-m", *command], cwd=root, capture_output=True, text=True, check=True
    )
    return done.stdout


def test_the_help_names_every_command(root):
    shown = answer(root, "core.train", "--help")
    commands = "start resume pause stop status export list rename pin unpin delete bench"
    for command in commands.split():
        assert f"\n    {command} " in shown


@pytest.mark.parametrize(
    ("command", "expects"),
    [
        ("start", "[--preset PRESET] [--set KEY=VALUE] [--runs DIR] [--wait]"),
        ("resume", "[--wait] [--processes N] [--sharding {ddp,fsdp2}] RUN_DIR"),
        ("pause", "RUN_DIR"),
        ("stop", "RUN_DIR"),
        ("status", "RUN_DIR"),
        ("export", "(--csv FILE | --parquet FILE | --safetensors FILE | --script FOLDER) RUN_DIR"),
        ("bench", "[--peer NANOGPT_CLONE]"),
    ],
)
def test_each_command_takes_what_is_written_of_it(command, expects, capsys):
    with pytest.raises(SystemExit, match="0"):
        import_module("core.train.__main__").main([command, "--help"])
    words = " ".join(capsys.readouterr().out.split())
    assert f"usage: python -m core.train {command}" in words
    assert expects in words


def test_the_worker_is_a_program_of_its_own(root):
    assert "usage: python -m core.train.worker" in answer(root, "core.train.worker", "--help")
