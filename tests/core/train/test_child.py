"""A training process: what is around it."""

import os
import platform
import subprocess
import sys

import pytest

from core.train.child import ROOT, child_environment

NINE_STEPS = """
import resource
import numpy as np
def faults():
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt
def step():
    held = [np.ones(2**19) for _ in range(12)]  # 4 MiB each, freed together
step()
before = faults()
for _ in range(9):
    step()
print(faults() - before)
"""


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="only glibc reads these settings")
def test_a_training_process_keeps_freed_memory_and_takes_no_page_twice():
    def num_faults(environment):
        command = [sys.executable, "-c", NINE_STEPS]
        return int(subprocess.check_output(command, env=environment, cwd=ROOT))

    plain = {name: value for name, value in os.environ.items() if "MALLOC" not in name}
    assert num_faults(plain) > 10_000
    assert num_faults({**plain, **child_environment()}) < 1_000


def test_a_reader_may_choose_the_allocator_of_a_training_process(monkeypatch):
    monkeypatch.setenv("MALLOC_TRIM_THRESHOLD_", "131072")
    assert child_environment()["MALLOC_TRIM_THRESHOLD_"] == "131072"
