"""One run a device: a lock that its worker holds while it trains, and the queue of those who wait.

Both lie in the user's state folder, for the CPU and for each GPU of each machine. In the queue each
has a ticket, first come first served, and the dead do not count. Who may train on any GPU stands in
the queues of all, and takes the first that becomes free.
"""

import json
import platform
import re
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from filelock import FileLock, Timeout

from core.language import _
from core.machine import state_directory
from core.machine.nvml import VISIBLE, Gpu, least_busy_first, named_gpu, visible_gpus
from core.train.run.disk import write_atomically

_PATIENCE_SECONDS: Final = 2.0
# Who asks whether the lock is free holds it for microseconds: ask again before believing it.
_LOOKS: Final = 4
_SECONDS_BETWEEN_LOOKS: Final = 0.02


class DeviceBusyError(ValueError):
    """Another run is training on the device."""


class DeviceGoneError(ValueError):
    """The device that a run trains on is not there any more."""


class NoSuchGpuError(ValueError):
    """The GPU that a run asks for is not among those that it may see."""


@dataclass(frozen=True, slots=True)
class TrainingDevice:
    """The CPU, or one GPU; where nobody tells which GPUs there are, all of them together."""

    kind: str
    gpu: Gpu | None = None

    @property
    def file_name(self) -> str:
        """How its files begin: a home that machines share holds the locks of each."""
        words = (platform.node()[:64], self.kind, self.gpu.uuid if self.gpu else "")
        return "-".join(re.sub(r"[^A-Za-z0-9-]", "_", word) for word in words if word)

    @property
    def environment(self) -> dict[str, str]:
        """What shows a process this GPU alone, if it is set before CUDA looks for GPUs."""
        return {VISIBLE: self.gpu.uuid} if self.gpu else {}


def training_devices(kind: str, gpu: str = "") -> tuple[TrainingDevice, ...]:
    """Return what a run may train on, at least one: the GPUs from the least busy on, or the named.

    `kind` is "cpu", "cuda" or "mps"; `gpu` a UUID or its beginning, or a number among the visible
    GPUs; empty for any.

    Raises:
        NoSuchGpuError: that names no GPU here, or several.
    """
    if kind != "cuda":
        return (TrainingDevice(kind),)
    gpus = visible_gpus()
    if not gpu:
        return tuple(TrainingDevice(kind, each) for each in least_busy_first(gpus) or (None,))
    named = named_gpu(gpus, gpu)
    if named is None:
        there = _(", ").join(
            f"{number} {each.name} ({each.uuid})" for number, each in enumerate(gpus)
        )
        message = _(
            "gpu is {gpu!r}, which names no GPU here, or several of them. There are: {there}. Give "
            "the number of one or the beginning of its UUID, or nothing for the least busy."
        )
        raise NoSuchGpuError(message.format(gpu=gpu, there=there or _("none that can be told")))
    return (TrainingDevice(kind, named),)


def locks_folder() -> Path:
    """Return the folder of the device locks, made on demand."""
    folder = state_directory() / "locks"
    folder.mkdir(exist_ok=True)
    return folder


def _files(device: TrainingDevice) -> tuple[Path, Path]:
    folder = locks_folder()
    return folder / f"{device.file_name}.lock", folder / f"{device.file_name}.json"


@contextmanager
def hold_device(
    kind: str, run: str, gpu: str = "", *, patience: float = _PATIENCE_SECONDS
) -> Iterator[TrainingDevice]:
    """Hold the device while the block runs, and give it: of several GPUs the first that is free.

    Raises:
        DeviceBusyError: other runs hold it, or wait for it: of several GPUs for each.
        NoSuchGpuError: there is no such GPU.
    """
    with hold_first(_unclaimed(training_devices(kind, gpu)), run, patience=patience) as device:
        yield device


@contextmanager
def hold_first(
    devices: Sequence[TrainingDevice], run: str, *, patience: float = 0.0
) -> Iterator[TrainingDevice]:
    """Hold the first of the devices that is free, whoever waits for it; give it."""
    device, lock = _lock_first(devices, patience)
    _lock_file, holder_file = _files(device)
    try:
        write_atomically(holder_file, json.dumps({"run": run, "time": time.time()}))
        yield device
    finally:
        holder_file.unlink(missing_ok=True)
        lock.release()


def _lock_first(
    devices: Sequence[TrainingDevice], patience: float
) -> tuple[TrainingDevice, FileLock]:
    until = time.monotonic() + patience
    while True:
        for device in devices:
            lock = FileLock(_files(device)[0], blocking=False)
            with suppress(Timeout):
                lock.acquire()
                return device, lock
        if time.monotonic() >= until:
            raise _busy(devices[0].kind, _holder(devices[0]))
        time.sleep(_SECONDS_BETWEEN_LOOKS)


def device_holder(kind: str, gpu: str = "") -> str:
    """Return the run that trains on the device now; "" if it, or one of several GPUs, is free."""
    holders = [_holder(device) for device in training_devices(kind, gpu)]
    return holders[0] if all(holders) else ""


def _holder(device: TrainingDevice) -> str:
    lock_file, holder_file = _files(device)
    for look in range(_LOOKS):
        time.sleep(_SECONDS_BETWEEN_LOOKS if look else 0.0)
        try:
            with FileLock(lock_file, blocking=False):
                return ""
        except Timeout:
            with suppress(OSError, ValueError, KeyError):
                return str(json.loads(holder_file.read_text(encoding="utf-8"))["run"])
    return "?"


def is_held_by(run: str, kind: str, gpu: str = "") -> bool:
    """Say whether the run trains on the device now, or on one of several GPUs."""
    return any(_holder(device) == run for device in training_devices(kind, gpu))


def device_for_now(kind: str, gpu: str = "") -> TrainingDevice:
    """Return what a run would train on if it began now; where none is free, the least busy."""
    devices = training_devices(kind, gpu)
    return next((device for device in devices if not _holder(device)), devices[0])


def refuse_if_busy(kind: str, gpu: str = "", *, by: str = "") -> None:
    """Raise if other runs train on the device now, or wait for it: of several GPUs, on each.

    `by`: the run that asks: its own last worker, which may be just ending, is no other run.

    Raises:
        DeviceBusyError: naming one of them.
        NoSuchGpuError: there is no such GPU.
    """
    devices = training_devices(kind, gpu)
    holders = ["" if (run := _holder(device)) == by else run for device in devices]
    if all(holders):
        raise _busy(kind, holders[0])
    _unclaimed([device for device, run in zip(devices, holders, strict=True) if not run])


def _busy(kind: str, run: str) -> DeviceBusyError:
    text = _(
        "The run {run} is training on this {device}; one run at a time. Stop it, or wait for it."
    )
    return DeviceBusyError(text.format(run=run, device=kind.upper()))


def _unclaimed(devices: Sequence[TrainingDevice]) -> list[TrainingDevice]:
    """Return the devices that nobody waits for."""
    waiting = [next(_living(_queue_folder(device)), "") for device in devices]
    if all(waiting):
        text = _(
            "The run {run} waits for this {device} and comes first. Stop it, or wait in line "
            "behind it."
        )
        told = {"run": _run_of(waiting[0]), "device": devices[0].kind.upper()}
        raise DeviceBusyError(text.format(**told))
    return [device for device, ticket in zip(devices, waiting, strict=True) if not ticket]


def _run_of(ticket: str) -> str:
    return ticket.partition("-")[2].removesuffix(".lock")


@contextmanager
def stand_in_queue(
    kind: str, run: str, asked_at: float, gpu: str = ""
) -> Iterator[Callable[[], tuple[TrainingDevice, ...]]]:
    """Hold a ticket while the block runs; gives a function that says where its turn has come.

    The place in the queue is the unix time at which the start was asked for.
    """
    queues = {device: _queue_folder(device) for device in training_devices(kind, gpu)}
    name = f"{int(asked_at * 1e6):020d}-{run}.lock"
    with ExitStack() as tickets:
        for folder in queues.values():
            tickets.enter_context(_ticket(folder / name))
        yield lambda: tuple(
            it for it, queue in queues.items() if next(_living(queue), name) == name
        )


@contextmanager
def _ticket(path: Path) -> Iterator[None]:
    try:
        with FileLock(path, poll_interval=0.02):
            yield
    finally:
        with suppress(OSError):  # somebody looks at it just now and will sweep it away
            path.unlink(missing_ok=True)


def _queue_folder(device: TrainingDevice) -> Path:
    folder = locks_folder() / f"{device.file_name}-queue"
    folder.mkdir(exist_ok=True)
    return folder


def _living(folder: Path) -> Iterator[str]:
    """Yield the tickets that some process holds, oldest first; sweep the others away."""
    for path in sorted(folder.glob("*.lock")):
        try:
            with FileLock(path, blocking=False):
                path.unlink(missing_ok=True)
        except Timeout:
            yield path.name
        except OSError:
            continue  # a ticket that vanished, or of another user: not one that could be served
