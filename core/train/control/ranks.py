"""A run of several processes: what torchrun tells each, what is refused, and what a lost one means.

Without torch: who only starts a run asks here too.
"""

import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from core.language import N_, _
from core.machine.nvml import visible_gpus
from core.train.config import TrainConfig

SHARDINGS: Final = ("ddp", "fsdp2")
MAX_PROCESSES: Final = 64

LOST: Final = N_(
    "One of {count} ranks was lost after step {step}; resume goes on from the last checkpoint, "
    "with any number of processes. What that rank said stands in stdout.log of the run directory."
)
NOT_MET: Final = N_(
    "The {count} ranks did not all meet: one was lost or stopped before training began. "
    "stdout.log in the run directory has what they said; then resume, with any number of processes."
)


class RanksError(RuntimeError):
    """The ranks of a run cannot train it, or no longer: a word for programs, values of a sentence.

    reason: "rank_lost", or "processes" where so many cannot train the run at all.
    """

    def __init__(self, reason: str, message: str, **values: float) -> None:
        super().__init__(message)
        self.reason, self.values = reason, values


@dataclass(frozen=True, slots=True)
class Rank:
    """This process among those of its run, as torchrun names it.

    Attributes:
        number: From 0, over all machines; rank 0 writes the run directory and leads.
        count: How many there are.
        local: From 0, on this machine: of several GPUs each takes its own.
        local_count: How many are on this machine.
    """

    number: int = 0
    count: int = 1
    local: int = 0
    local_count: int = 1

    @property
    def leads(self) -> bool:
        """Whether it writes and decides."""
        return self.number == 0


def rank_here() -> Rank:
    """Return what torchrun told this process; the only rank if it was started without."""
    names = ("RANK", "WORLD_SIZE", "LOCAL_RANK", "LOCAL_WORLD_SIZE")
    told = (os.environ.get(name, "") for name in names)
    return Rank(*(int(text or first) for text, first in zip(told, (0, 1, 0, 1), strict=True)))


@dataclass(frozen=True, kw_only=True, slots=True)
class Processes:
    """How many processes train a run, and how they share its model."""

    count: int = 1
    sharding: str = SHARDINGS[0]

    @property
    def command(self) -> list[str]:
        """What starts a module of ours in all of them, on this machine."""
        if self.count == 1:
            return [sys.executable, "-m"]
        alone = ["--standalone", "--nproc-per-node", str(self.count)]
        return [sys.executable, "-m", "torch.distributed.run", *alone, "-m"]

    @property
    def environment(self) -> dict[str, str]:
        """What they are given beside what one is: neither torchrun nor the profiler talks of it."""
        return {"OMP_NUM_THREADS": "1", "KINETO_LOG_LEVEL": "6"} if self.count > 1 else {}

    @property
    def resolved(self) -> dict[str, Any]:
        """What run.json says of them; nothing for one alone."""
        return {"processes": self.count, "sharding": self.sharding} if self.count > 1 else {}

    def check(self, config: TrainConfig) -> None:
        """Accept a run, or say why so many cannot train it so; one process may do anything.

        Raises:
            ValueError: The batch has too few sequences, or FSDP2 cannot do what the config asks.
        """
        if not 1 <= self.count <= MAX_PROCESSES:
            message = _("processes is {processes}; choose a number from 1 to {most}.")
            raise ValueError(message.format(processes=self.count, most=MAX_PROCESSES))
        if self.sharding not in SHARDINGS:
            message = _("sharding is {sharding!r}; choose one of {choices}.")
            choices = _(", ").join(SHARDINGS)
            raise ValueError(message.format(sharding=self.sharding, choices=choices))
        if config.batch_size < self.count:
            message = _(
                "A batch of {batch_size} sequences cannot be split over {processes} processes: "
                "each needs one. Choose a larger batch, or at most {batch_size} processes."
            )
            sizes = {"batch_size": config.batch_size, "processes": self.count}
            raise ValueError(message.format(**sizes))
        if self.count > 1 and self.sharding == "fsdp2":
            _check_sharded(config)

    def check_device(self, kind: str) -> None:
        """Accept so many processes on this machine; on CUDA each takes a GPU of its own.

        Raises:
            ValueError: There are fewer GPUs, or the device is one that torch cannot join.
        """
        if self.count == 1 or kind == "cpu":
            return
        if kind != "cuda":
            message = _("Several processes train on CPUs or on NVIDIA GPUs, not on {kind}.")
            raise ValueError(message.format(kind=kind))
        if len(gpus := visible_gpus()) < self.count:
            message = _(
                "{processes} processes need as many GPUs, one each; {there} can be told here. "
                "Start fewer, or choose device=cpu."
            )
            raise ValueError(message.format(processes=self.count, there=len(gpus)))


ALONE: Final = Processes()


def _check_sharded(config: TrainConfig) -> None:
    refused = {
        "optimizer": config.optimizer == "muon",  # its update needs whole matrices
        "precision": config.precision == "fp16",  # a rank's scale would see its own pieces alone
        "compile": config.compile,
    }
    for name, is_refused in refused.items():
        if is_refused:
            message = _(
                "FSDP2 gives each process a piece of every matrix; {name}={value} does not work "
                "on pieces here. Choose sharding=ddp, or another {name}."
            )
            raise ValueError(message.format(name=name, value=getattr(config, name)))


def processes_of(resolved: Mapping[str, Any]) -> Processes:
    """Return the processes that a run was started with, from run.json; they say only what to begin.

    A resume may take another number.
    """
    sharding = str(resolved.get("sharding") or SHARDINGS[0])
    return Processes(count=int(resolved.get("processes") or 1), sharding=sharding)


def threads_of(resolved: Mapping[str, Any]) -> int:
    """Return the threads of this process: those of the run, shared by its ranks on this machine."""
    return max(int(resolved["threads"]) // rank_here().local_count, 1)
