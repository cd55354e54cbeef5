"""A program of ours in a fresh process, and what becomes of its failures."""

import platform

import pytest

from core.machine.child import lines_of


def test_each_line_comes_out_without_its_end():
    [line] = lines_of("platform", ["--nonaliased"], seconds=60)
    assert line == platform.platform(aliased=False)


def test_a_failure_is_told_in_the_programs_last_words():
    with pytest.raises(ValueError, match=r"The program core.no_such_program failed: .*No module"):
        list(lines_of("core.no_such_program", seconds=60))


@pytest.mark.slow
def test_a_program_that_is_not_done_in_time_is_ended():
    with pytest.raises(ValueError, match=r"The program http.server was not done in time"):
        list(lines_of("http.server", ["0", "--bind", "127.0.0.1"], seconds=1))


def test_who_stops_listening_ends_the_program():
    lines = lines_of("http.server", ["0", "--bind", "127.0.0.1"], seconds=60)
    lines.close()
    assert list(lines) == []
