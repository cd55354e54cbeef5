"""A program of ours in a fresh process, and what becomes of its failures."""

import platform

import pytest

from core.machine.child import error_line, lines_of

CUDA_ERROR = """Traceback (most recent call last):
  File "core/train/start/stopwatch.py", line 70, in time_steps
    trainer.train_step()
torch.AcceleratorError: CUDA error: no kernel image is available for execution on the device
CUDA kernel errors might be asynchronously reported at some other API call, so the stacktrace \
below might be incorrect.
For debugging consider passing CUDA_LAUNCH_BLOCKING=1
Compile with `TORCH_USE_CUDA_DSA` to enable device-side assertions.

"""


def test_each_line_comes_out_without_its_end():
    [line] = lines_of("platform", ["--nonaliased"], seconds=60)
    assert line == platform.platform(aliased=False)


def test_a_failure_is_told_in_the_programs_last_words():
    with pytest.raises(ValueError, match=r"The program core.no_such_program failed: .*No module"):
        list(lines_of("core.no_such_program", seconds=60))


@pytest.mark.parametrize(
    ("complaints", "line"),
    [
        (CUDA_ERROR, "torch.AcceleratorError: CUDA error: no kernel image is available for"),
        ("ValueError: first\nDuring handling\nKeyError: 'second'\n", "KeyError: 'second'"),
        ("/bin/python: No module named core.x\n", "/bin/python: No module named core.x"),
        ("/opt/course/bin/python: No module named x", "bin/python: No module named x"),
        (
            "OSError: [Errno 2] No such file: '/srv/course/runs/a/1.pt'",
            "OSError: [Errno 2] No such file: 'a/1.pt'",
        ),
        ("URLError: https://example.org/a/b/c/d", "URLError: https://example.org/a/b/c/d"),
        ("  ", "exit status 3"),
    ],
)
def test_of_a_failed_program_the_error_is_told_not_the_advice_below_it(complaints, line):
    assert error_line(complaints, 3).startswith(line)


@pytest.mark.slow
def test_a_program_that_is_not_done_in_time_is_ended():
    with pytest.raises(ValueError, match=r"The program http.server was not done in time"):
        list(lines_of("http.server", ["0", "--bind", "127.0.0.1"], seconds=1))


def test_who_stops_listening_ends_the_program():
    lines = lines_of("http.server", ["0", "--bind", "127.0.0.1"], seconds=60)
    lines.close()
    assert list(lines) == []
