"""The ranks of one run: rank 0 leads them from its run directory, the others follow from theirs.

The others need no run directory: rank 0 sends them all that they must know.
"""

import os
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Any, Final

import torch
import torch.distributed as dist

from core.train.config import TrainConfig
from core.train.control.commands import StopSignal
from core.train.control.device import DeviceBusyError, TrainingDevice, hold_device
from core.train.control.ranks import LOST, NOT_MET, Rank, RanksError
from core.train.learning.precision import multiply_fp32_in_fp32, pick_device
from core.train.learning.ranks import Line, RankTrainer, is_lost, meet
from core.train.learning.trainer import Trainer
from core.train.text.dataset import Dataset

MEETING_SECONDS: Final = 60.0  # torchrun starts all at once: an interpreter and its imports
_LOOK_SECONDS: Final = 0.05


class Company:
    """All ranks of a run, met, as rank 0 sees them."""

    trainer_kind = RankTrainer

    def __init__(self, sharding: str) -> None:
        self._sharding, self._line = sharding, Line()
        self._trainer: RankTrainer | None = None

    def begin(self, trainer: Trainer, dataset: Dataset, run: str) -> None:
        """Send the others what they must know, and give them the state of rank 0's trainer."""
        assert isinstance(trainer, RankTrainer)  # noqa: S101  the kind above
        told = {
            "config": trainer.config.to_json(),
            "training": dataset.training_tokens,
            "validation": dataset.validation_tokens,
            "vocab_size": dataset.tokenizer.vocab_size,
            "device": trainer.device.type,
            "threads": torch.get_num_threads(),
            "sharding": self._sharding,
            "run": run,
        }
        self._line.share(told)
        self._trainer = trainer.spread(self._line, self._sharding)

    def dismiss(self) -> None:
        """Let the others end, wherever rank 0 stands with them."""
        if self._trainer is None:
            self._line.share(None)
        else:
            self._trainer.dismiss()


@contextmanager
def lead(
    rank: Rank, sharding: str, stop: StopSignal, last_step: Callable[[], int]
) -> Iterator[Company]:
    """Meet the other ranks and give them; they are dismissed when the block ends well.

    Raises:
        RanksError: One of them did not come, or was lost on the way.
    """
    _meet(rank, stop)
    company = Company(sharding)
    try:
        yield company
        company.dismiss()
        dist.destroy_process_group()
    except RuntimeError as error:
        if isinstance(error, RanksError) or not is_lost(error):
            raise
        raise RanksError("rank_lost", LOST, count=rank.count, step=last_step()) from error


def _meet(rank: Rank, stop: StopSignal) -> None:
    """Wait for all; torchrun ends a run whose rank was lost by a signal, which nothing delays."""
    failed: list[RuntimeError] = []

    def come() -> None:
        try:
            meet(MEETING_SECONDS)
        except RuntimeError as error:
            failed.append(error)

    meeting = threading.Thread(target=come, daemon=True, name="meet the other ranks")
    meeting.start()
    while meeting.is_alive() and not stop.requested:
        meeting.join(_LOOK_SECONDS)
    if meeting.is_alive() or failed:
        raise RanksError("rank_lost", NOT_MET, count=rank.count) from (
            failed[0] if failed else None
        )


def follow(rank: Rank) -> int:
    """Be one of the other ranks until rank 0 dismisses it or is lost; return the exit status."""
    try:
        meet(MEETING_SECONDS)
        StopSignal().listen()  # torchrun passes a stop on to all, and rank 0 says what follows
        line = Line()
        if (told := line.share()) is not None:
            with _device_of(told, rank) as device:
                _work(told, line, device)
        dist.destroy_process_group()
    except RuntimeError as error:
        if not is_lost(error):
            raise
        sys.stderr.write(f"rank {rank.number} of {rank.count}: rank 0 is gone ({error})\n")
        return 1
    except DeviceBusyError as error:
        sys.stderr.write(f"rank {rank.number} of {rank.count}: {error}\n")
        return 1
    return 0


def _device_of(
    told: Mapping[str, Any], rank: Rank
) -> AbstractContextManager[TrainingDevice | None]:
    """Hold the GPU of this rank; on a CPU the first rank of each machine holds it for all."""
    kind = told["device"]
    return hold_device(kind, told["run"]) if kind == "cuda" or rank.local == 0 else nullcontext()


def _work(told: Mapping[str, Any], line: Line, device: TrainingDevice | None) -> None:
    if device:
        os.environ.update(device.environment)
    torch.set_num_threads(told["threads"])
    multiply_fp32_in_fp32()
    trainer = RankTrainer(
        TrainConfig.from_json(told["config"]),
        told["training"],
        told["validation"],
        told["vocab_size"],
        pick_device(told["device"]),
    )
    trainer.spread(line, told["sharding"]).follow()
