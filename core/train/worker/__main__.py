"""The training process: `python -m core.train.worker RUN_DIR`.

Takes the device, goes on from the newest checkpoint if there is one, and trains until the last
step or a stop. A browser, a rerun or a server restart cannot reach it; only commands can.
Torch is imported once the device is ours: a run that waits for it holds little memory, and CUDA
finds only the GPU whose lock is held. Under `torchrun` the same command is one rank of several:
rank 0 does all this, the others follow it.
"""

import argparse
import os
import sys
import traceback
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import psutil

from core.language import _
from core.train.config import config_of_run
from core.train.control.commands import StopSignal
from core.train.control.device import DeviceGoneError, TrainingDevice, hold_device
from core.train.control.ranks import (
    SHARDINGS,
    Processes,
    RanksError,
    processes_of,
    rank_here,
    threads_of,
)
from core.train.run.directory import read_info
from core.train.run.disk import RunStorageError
from core.train.run.reader import RunReader
from core.train.run.state import RunBusyError, RunState, hold_worker_lock, read_state
from core.train.run.store import RunStore
from core.train.worker.failures import EXIT_BUSY, EXIT_FAILED, Failure, failure_of
from core.train.worker.turn import QUEUED, QueuedListener, QueueLeftError, device_in_turn

if TYPE_CHECKING:
    from core.train.worker.company import Company

Info = Mapping[str, Any]


def main(arguments: list[str]) -> int:
    """Train the run in the directory that is named; return the exit status."""
    parser = argparse.ArgumentParser(prog="python -m core.train.worker", description=__doc__)
    parser.add_argument("directory", type=Path)
    parser.add_argument(
        "--asked-at", type=float, help="wait for the device; the unix time is the place in line"
    )
    parser.add_argument("--sharding", choices=SHARDINGS, help="how several processes share it")
    chosen = parser.parse_args(arguments)
    directory = chosen.directory.resolve()
    rank = rank_here()
    if not rank.leads:
        from core.train.worker.company import follow

        return follow(rank)
    try:
        with hold_worker_lock(directory):
            return _open_and_work(directory, chosen.asked_at, chosen.sharding or "")
    except (RunBusyError, RunStorageError) as error:
        sys.stderr.write(f"{error}\n")
        return EXIT_BUSY if isinstance(error, RunBusyError) else EXIT_FAILED


def _open_and_work(directory: Path, asked_at: float | None, sharding: str) -> int:
    try:
        info = read_info(directory)
        store = RunStore(directory, 1 + last_attempt(directory))
    except ValueError as error:  # not a run of ours, or of a newer version: nothing is written
        sys.stderr.write(f"{error}\n")
        return EXIT_FAILED
    with store:
        return work_or_tell(store, info, asked_at, sharding)


def last_attempt(directory: Path) -> int:
    """Return the number of the newest attempt, whichever file still knows it; 0 if none does."""
    state, increment = read_state(directory), RunReader(directory).read_new()
    in_events = [event.get("attempt") or 0 for event in increment.events]
    in_records = int(increment.records["attempt"].max(initial=0))
    in_state = state.attempt if state.pid is not None else 0
    return max(in_state, in_records, *in_events)


def work(store: RunStore, info: Info, asked_at: float | None, sharding: str = "") -> None:
    """Train the run; the caller holds its lock.

    Args:
        store: The run, open for writing.
        info: Its run.json.
        asked_at: Place in the queue for the device; None for a run that will not wait.
        sharding: How several processes share the model, if it is not as run.json says.
    """
    before, stop = read_state(store.directory), StopSignal().listen()
    store.write_state("starting", step=before.step, **_dials(before))
    with _company(store, info, sharding, stop) as company:
        try:
            with _device(store, info, asked_at, stop) as device:
                os.environ.update(device.environment)
                store.gpu = device.gpu
                _train(store, info, stop, company)
        except QueueLeftError:
            store.append_event("state", before.step, state="stopped", reason="queued", message="")
            store.write_state("stopped", step=before.step, **_dials(before))


@contextmanager
def _company(
    store: RunStore, info: Info, sharding: str, stop: StopSignal
) -> Iterator["Company | None"]:
    """Give the other ranks of the run, all met, until it ends; None for a run of one process."""
    rank = rank_here()
    if rank.count == 1:
        yield None
        return
    sharding = sharding or processes_of(info["resolved"]).sharding
    try:
        Processes(count=rank.count, sharding=sharding).check(config_of_run(info))
    except ValueError as error:
        raise RanksError("processes", str(error)) from error
    from core.train.worker.company import lead

    with lead(rank, sharding, stop, lambda: store.step or 0) as company:
        yield company


def _dials(state: RunState) -> dict[str, float | None]:
    """Return what a reader has set while the run trained; a new attempt goes on with it."""
    multiplier, limit = state.learning_rate_multiplier, state.max_steps_per_second
    return {"learning_rate_multiplier": multiplier, "max_steps_per_second": limit}


def _device(
    store: RunStore, info: Info, asked_at: float | None, stop: StopSignal
) -> AbstractContextManager[TrainingDevice]:
    kind, run = info["resolved"]["device"], store.directory.name
    gpu = info["config"].get("gpu", "")  # runs of earlier versions name none
    if asked_at is None:
        return hold_device(kind, run, gpu)
    before = read_state(store.directory)
    store.write_state(
        "starting", step=before.step, reason="queued", message=QUEUED, **_dials(before)
    )
    listener = QueuedListener(store, before.step, stop)
    return device_in_turn(kind, run, asked_at, listener.gives_up, gpu)


def _train(store: RunStore, info: Info, stop: StopSignal, company: "Company | None") -> None:
    import torch

    from core.train.learning.precision import multiply_fp32_in_fp32, pick_device
    from core.train.worker.session import open_session

    try:  # no other device than that whose lock is held
        device = pick_device(info["resolved"]["device"])
    except ValueError as error:
        raise DeviceGoneError(str(error)) from error
    torch.set_num_threads(threads_of(info["resolved"]))
    multiply_fp32_in_fp32()
    open_session(config_of_run(info), store, device, stop, company).run()


def work_or_tell(store: RunStore, info: Info, asked_at: float | None, sharding: str = "") -> int:
    """Do `work` and return the exit status; what ends it early becomes the state "failed".

    What nobody foresaw is raised again.
    """
    failure = None
    try:
        work(store, info, asked_at, sharding)
    except Exception as error:
        failure = failure_of(error, info)
        traceback.print_exc()
        if not failure.is_known:
            _tell(store, failure)
            raise
    # Outside the except block nothing holds on to the tensors of the step that failed.
    if failure is None:
        return 0
    _tell(store, failure)
    return failure.exit_status


def _tell(store: RunStore, failure: Failure) -> None:
    """Write the failure down; a disk that refuses even that leaves it to the log."""
    step = read_state(store.directory).step if store.step is None else store.step
    told = {"reason": failure.reason, "message": failure.message, "values": failure.values}
    resident = psutil.Process().memory_info().rss
    with _disk_may_refuse():
        store.append_event("state", step, state="failed", **told)
    with _disk_may_refuse():  # the file of the state is small: it may fit where no event does
        store.write_state("failed", step=step, **told, resident_bytes=resident)


@contextmanager
def _disk_may_refuse() -> Iterator[None]:
    try:
        yield
    except RunStorageError as error:
        sys.stderr.write(_("The failure could not be written down: {error}\n").format(error=error))


if __name__ == "__main__":
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
    sys.exit(main(sys.argv[1:]))
