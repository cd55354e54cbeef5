"""A worker is killed again and again, at random moments and at the worst ones: nothing is lost.

The oracle is a trainer that is never interrupted and never written down.
"""

import itertools
import json
import os
import random
import subprocess
import sys
import threading
import time
from collections import Counter

import pytest
import torch

from core.train.control.commands import send
from core.train.learning.trainer import Trainer
from core.train.run.events import parse_lines
from core.train.run.reader import RunReader
from core.train.run.records import HEADER, RECORD, newest, parse_records
from core.train.run.state import read_state
from core.train.start.timing import child_environment
from core.train.text.dataset import load_dataset
from core.train.worker.faults import POINTS

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not hasattr(os, "fork"), reason="the host forks its workers"),
]

NUM_RUNS = 5
KILLS_PER_RUN = 11
NUM_STEPS = 400
MULTIPLIERS = {1: 0.5, 4: 2.0, 7: 0.25}  # life: multiplier sent while it trains, or just after
SETTINGS = (
    {"num_steps": NUM_STEPS, "warmup_steps": 10, "max_steps_per_second": 300.0}
    | {"checkpoint_interval": 25, "eval_interval": 100}
    | {"sample_interval": 200, "memory_interval": 100}
)
CRASH_SECONDS = 3.0  # until a reader calls a dead worker crashed

# Imports torch once, then forks a worker for each life: nothing of torch runs before the fork, so
# the child is as a fresh process is. An order is one line of JSON; after `delay` seconds (if it is
# a number) the worker is killed. The answer is one line: how it ended.
HOST = """
import json
import os
import signal
import sys
import time

import torch._dynamo  # every optimizer imports it
from core.train.worker import faults, session
from core.train.worker.__main__ import main

def live(order):
    pid = os.fork()
    if pid == 0:
        faults.arm(order["fault"])
        os._exit(main([order["directory"]]))
    deadline = time.monotonic() + (order["delay"] or 1e9)
    while True:
        ended, status = os.waitpid(pid, os.WNOHANG)
        if ended:
            return os.waitstatus_to_exitcode(status)
        if time.monotonic() >= deadline:
            os.kill(pid, signal.SIGKILL)
            deadline += 1e9
        time.sleep(0.001)

print("ready", flush=True)
for line in sys.stdin:
    print(live(json.loads(line)), flush=True)
"""


@pytest.fixture
def live_once(root):
    """Return live(directory, fault, delay): one life of a worker; its exit code is returned."""
    command = [sys.executable, "-c", HOST]
    # A process that dies in the middle of a line cannot finish its coverage file.
    counted = {name for name in os.environ if name.startswith("COVERAGE")}
    usual = {name: value for name, value in child_environment().items() if name not in counted}
    environment = {**usual, "OMP_NUM_THREADS": "1"}
    with subprocess.Popen(
        command,
        cwd=root,
        env=environment,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    ) as host:
        assert host.stdout.readline() == "ready\n"

        def live(directory, fault="", delay=None):
            order = {"directory": str(directory), "fault": fault, "delay": delay}
            host.stdin.write(json.dumps(order) + "\n")
            host.stdin.flush()
            return int(host.stdout.readline())

        yield live
        host.stdin.close()


def seconds_until_crashed(directory):
    began = time.monotonic()
    while (state := read_state(directory)).state != "crashed":
        assert time.monotonic() - began < CRASH_SECONDS, state
        time.sleep(0.01)
    return time.monotonic() - began


def committed(directory, before=b""):
    """Return metrics.bin; everything that was in it before is still there, and nothing is torn."""
    path = directory / "metrics.bin"
    data = path.read_bytes() if path.exists() else b""
    assert data.startswith(before), "a committed step is gone"
    assert not data or (len(data) - HEADER.size) % RECORD.size == 0, "a record is torn"
    assert not data or parse_records(data[HEADER.size :])[1].all(), "a record is damaged"
    events = directory / "events.jsonl"
    lines = events.read_bytes() if events.exists() else b""
    assert lines.endswith(b"\n") or not lines, "an event is torn"
    assert parse_lines(lines)[1] == 0, "an event is damaged"
    return data


def uninterrupted(directory, config, changes):
    """Return the losses of a trainer that nobody interrupts, multiplier changes at their steps."""
    dataset = load_dataset(directory / "data")
    tokens = dataset.training_tokens, dataset.validation_tokens
    trainer = Trainer(config, *tokens, dataset.tokenizer.vocab_size, torch.device("cpu"))
    losses = []
    for step in range(1, config.num_steps + 1):
        trainer.learning_rate_multiplier = changes.get(step, trainer.learning_rate_multiplier)
        losses.append(trainer.train_step().loss)
    return losses


def kills(number):
    """Yield (fault, delay) for each life of a run: one in four dies at a fault."""
    chance, points = random.Random(number), itertools.cycle(POINTS)  # noqa: S311
    for life in range(KILLS_PER_RUN):
        if life % 3 == 2 or life == 0:
            point = next(points)
            passes = chance.randint(5, 60) if point == "step_recorded" else chance.randint(1, 2)
            yield f"{point}:{passes}", None
        else:
            yield "", chance.uniform(0.0, 0.3)


def changes_of(directory):
    """Return {step: multiplier} as acknowledged; whoever decided last decided for what follows."""
    changes = {}
    for event in RunReader(directory).read_new().events:
        if event["kind"] == "ack" and event["op"] == "set_learning_rate_multiplier":
            changes = {step: value for step, value in changes.items() if step < event["step"]}
            changes[event["step"]] = event["value"]
    return changes


def send_multiplier(directory, multiplier):
    if multiplier:
        send(directory, "set_learning_rate_multiplier", multiplier)


def kill_again_and_again(directory, number, live_once):
    """Give the run its lives; return how often it died at each point, and the slowest discovery."""
    died, slowest, data = Counter(), 0.0, b""
    for life, (fault, delay) in enumerate(kills(number)):
        sender = threading.Timer(0.15, send_multiplier, (directory, MULTIPLIERS.get(life)))
        sender.start()
        code = live_once(directory, fault, delay)
        sender.join()
        data = committed(directory, data)
        if code == 0:
            break
        assert code == -9
        slowest = max(slowest, seconds_until_crashed(directory))
        died[fault.partition(":")[0] or "random"] += 1
    return died, slowest


def test_forty_kills_tear_nothing_lose_nothing_and_change_no_loss(
    prepared_run, small_config, live_once, capsys
):
    died, slowest, num_redone, num_changes = Counter(), 0.0, 0, 0
    for number in range(NUM_RUNS):
        directory = prepared_run(**SETTINGS, seed=number)
        deaths, seconds = kill_again_and_again(directory, number, live_once)
        died, slowest = died + deaths, max(slowest, seconds)
        send(directory, "set_max_steps_per_second", None)
        assert live_once(directory) == 0
        records = RunReader(directory).read_new().records
        kept = newest(records)
        assert kept["step"].tolist() == list(range(1, NUM_STEPS + 1))
        changes = changes_of(directory)
        config = small_config(**SETTINGS, seed=number)
        assert kept["loss"].tolist() == uninterrupted(directory, config, changes)
        num_redone += len(records) - len(kept)
        num_changes += len(changes)
    with capsys.disabled():
        sys.stdout.write(
            f"\n  {died.total()} kills: {dict(died)}; {num_redone} steps done again, all equal; "
            f"{num_changes} rate changes; a crash was seen after at most {slowest:.3f} s\n"
        )
    assert died.total() >= 40
    assert num_changes >= NUM_RUNS
    assert set(died) == {"random", *POINTS}
    assert 4 * sum(died[point] for point in POINTS) >= died.total()
