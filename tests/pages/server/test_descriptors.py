"""How many open pages the process carries, and what is said where they are few."""

import pytest

from pages.server import descriptors
from pages.server.descriptors import MAX_SESSIONS, carried, num_descriptors, shortage

resource = pytest.importorskip("resource")  # Unix only


@pytest.fixture
def limits(monkeypatch):
    """Return limits(soft, hard): the process has these from now on; what is set comes in a list."""
    now = []
    monkeypatch.setattr(resource, "getrlimit", lambda _which: tuple(now[-1]))
    monkeypatch.setattr(resource, "setrlimit", lambda _which, pair: now.append(pair))

    def begin(soft, hard):
        num_descriptors.cache_clear()
        now[:] = [(soft, hard)]
        return now

    yield begin
    num_descriptors.cache_clear()


def test_the_soft_limit_is_raised_as_far_as_it_goes_and_the_sessions_follow(limits):
    unlimited = resource.RLIM_INFINITY
    rows = (
        (256, 256, [(256, 256)], 64),
        (256, 1024, [(256, 1024), (1024, 1024)], 300),
        (256, unlimited, [(256, unlimited), (10_240, unlimited)], 300),  # macOS
        (1024, 2**20, [(1024, 2**20), (10_240, 2**20)], 300),  # Linux
        (20_000, 20_000, [(20_000, 20_000)], 300),
        (unlimited, unlimited, [(unlimited, unlimited)], 300),
        (32, 32, [(32, 32)], 1),
    )
    for soft, hard, after, sessions in rows:
        now = limits(soft, hard)
        assert carried() == sessions, (soft, hard)
        assert now == after, (soft, hard)
        assert bool(shortage()) is (sessions < MAX_SESSIONS), (soft, hard)


def test_what_cannot_be_carried_is_said_with_what_would_help(limits):
    limits(256, 256)
    said = shortage()
    assert "only 256 files" in said
    assert "64 open pages, not 300" in said
    enough = int(said.partition("`ulimit -n ")[2].partition("`")[0])
    limits(enough, enough)
    assert (carried(), shortage()) == (MAX_SESSIONS, "")
    limits(enough - 1, enough - 1)
    assert carried() < MAX_SESSIONS


def test_a_system_that_raises_no_limit_keeps_the_one_it_has(limits, monkeypatch):
    def refuse(_which, _pair):
        raise ValueError("not allowed to raise maximum limit")

    limits(256, 1024)
    monkeypatch.setattr(resource, "setrlimit", refuse)
    assert (num_descriptors(), carried()) == (256, 64)


def test_windows_has_no_such_limit(monkeypatch):
    num_descriptors.cache_clear()
    monkeypatch.setattr(descriptors.sys, "platform", "win32")
    assert carried() == MAX_SESSIONS
    num_descriptors.cache_clear()
