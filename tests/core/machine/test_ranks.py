"""Starting ranks on this machine; that they compute is tested with the programs of the cards."""

import psutil
import pytest

from core.machine.ranks import HOST, loopback_interface, run_ranks


def test_every_rank_is_told_who_it_is_as_torchrun_tells_it():
    names = ("RANK", "LOCAL_RANK", "WORLD_SIZE", "LOCAL_WORLD_SIZE", "MASTER_ADDR")
    program = f"import os\nprint(*(os.environ[name] for name in {names}))\nprint('两')"
    assert run_ranks(program) == (f"0 0 2 2 {HOST}", "两", f"1 1 2 2 {HOST}", "两")


def test_the_loopback_interface_has_the_local_address(monkeypatch):
    name = loopback_interface()
    assert any(each.address == HOST for each in psutil.net_if_addrs()[name])
    monkeypatch.setattr(psutil, "net_if_addrs", dict)
    assert not loopback_interface()


def test_a_rank_that_fails_is_a_sentence_and_the_other_one_does_not_wait():
    program = (
        "import os, time\n{}[os.environ['RANK']] if os.environ['RANK'] == '1' else time.sleep(60)"
    )
    with pytest.raises(ValueError, match="A rank failed: KeyError: '1'"):
        run_ranks(program)


def test_a_rank_without_last_words_tells_its_status():
    with pytest.raises(ValueError, match="A rank failed: exit status 3"):
        run_ranks("raise SystemExit(3)")


def test_ranks_that_never_end_are_ended():
    before = {child.pid for child in psutil.Process().children()}
    with pytest.raises(ValueError, match="The ranks were not done in time; try again"):
        run_ranks("import time\ntime.sleep(60)", seconds=0.2)
    assert {child.pid for child in psutil.Process().children()} == before
