"""The training process: `python -m core.train.worker RUN_DIR`.

Takes the device, goes on from the newest checkpoint if there is one, and trains until the last
step or a stop. A browser, a rerun or a server restart cannot reach it; only commands can.
"""

import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Final

import torch

from core.language import N_, _
from core.train.checkpoint import checkpoints, load_checkpoint
from core.train.config import TrainConfig
from core.train.control import Inbox
from core.train.dataset import load_dataset
from core.train.device_lock import DeviceBusyError, hold_device
from core.train.disk import RunStorageError
from core.train.info import read_info
from core.train.lock import RunBusyError, hold_worker_lock
from core.train.observer import Observer
from core.train.precision import pick_device
from core.train.sampler import Sampler
from core.train.session import Session
from core.train.state import read_state
from core.train.store import RunStore
from core.train.trainer import Trainer

EXIT_BUSY: Final = 75  # EX_TEMPFAIL of sysexits.h: try again later
EXIT_FAILED: Final = 1

FAILURES: Final = {
    "out_of_memory": N_(
        "The device ran out of memory. Halve the batch and double the accumulation steps."
    ),
    "disk": N_("The run directory can no longer be written to; what was written is kept."),
    "device_busy": N_("Another run is training on this device; stop it first."),
    "error": N_("The worker stopped on an error; stdout.log in the run directory has it."),
}


def main(arguments: list[str]) -> int:
    """Train the run in the directory that is named; return the exit status."""
    directory = Path(arguments[0]).resolve()
    try:
        with hold_worker_lock(directory):
            return work(directory)
    except RunBusyError as error:
        sys.stderr.write(f"{error}\n")
        return EXIT_BUSY


def work(directory: Path) -> int:
    """Train the run; the caller holds its lock."""
    info = read_info(directory)
    attempt = 1 + last_attempt(directory)
    with RunStore(directory, attempt) as store, failures_are_told(store) as status:
        before = read_state(directory)
        store.write_state(
            "starting", step=before.step, max_steps_per_second=before.max_steps_per_second
        )
        config = TrainConfig.from_json(
            {**info["config"], "precision": info["resolved"]["precision"]}
        )
        torch.set_num_threads(info["resolved"]["threads"])
        with hold_device(info["resolved"]["device"], directory.name):
            session = make_session(config, directory, store, info["resolved"]["device"])
            stop_on_signals(session)
            session.run()
    return status.code


def last_attempt(directory: Path) -> int:
    """Return the number of the newest attempt; 0 before the first."""
    state = read_state(directory)
    return state.attempt if state.pid is not None else 0


def make_session(
    config: TrainConfig, directory: Path, store: RunStore, device_kind: str
) -> Session:
    """Return the session, at its newest checkpoint that can be read."""
    before = read_state(directory)
    max_steps_per_second = (
        before.max_steps_per_second if store.attempt > 1 else config.max_steps_per_second
    )
    dataset = load_dataset(directory / "data")
    trainer = Trainer(
        config,
        dataset.training_tokens,
        dataset.validation_tokens,
        dataset.tokenizer.vocab_size,
        pick_device("cpu" if device_kind == "cpu" else "auto"),
    )
    for path in reversed(checkpoints(directory)):
        try:
            load_checkpoint(path, trainer)
            break
        except ValueError as error:
            store.append_event(
                "finding", 0, finding="damaged_checkpoint", tensor=path.name, message=str(error)
            )
    sampler = Sampler(dataset.text, dataset.tokenizer, dataset.prompt, config.seed)
    observer = Observer(trainer, store, directory, sampler)
    return Session(observer, Inbox(directory), max_steps_per_second)


def stop_on_signals(session: Session) -> None:
    """Let SIGTERM and Ctrl-C stop the run as the button does: after the step, with a checkpoint."""

    def stop(_number: int, _frame: FrameType | None) -> None:
        session.stop_requested = True

    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, stop)


class _Status:
    code = 0


@contextmanager
def failures_are_told(store: RunStore) -> Iterator[_Status]:
    """Turn what ends a worker into its state "failed" with a reason."""
    status = _Status()
    try:
        yield status
    except DeviceBusyError as error:
        status.code = EXIT_BUSY
        _tell(store, "device_busy", str(error))
    except (torch.OutOfMemoryError, MemoryError):
        status.code = EXIT_FAILED
        _tell(store, "out_of_memory", FAILURES["out_of_memory"])
    except RunStorageError as error:
        status.code = EXIT_FAILED
        sys.stderr.write(f"{error}\n")
        _tell(store, "disk", FAILURES["disk"])
    except Exception:
        _tell(store, "error", FAILURES["error"])
        raise


def _tell(store: RunStore, reason: str, message: str) -> None:
    """Write the failure down; a disk that refuses even that leaves it to the log."""
    step = read_state(store.directory).step
    try:
        store.append_event("state", step, state="failed", reason=reason, message=message)
        store.write_state("failed", step=step, reason=reason, message=message)
    except RunStorageError as error:
        sys.stderr.write(_("The failure could not be written down: {error}\n").format(error=error))


if __name__ == "__main__":
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
    sys.exit(main(sys.argv[1:]))
