"""The forward pass as it runs: every aten operation, with what makes its node known afterwards."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor

from core.autograd.graph import TensorInfo
from core.autograd.torch_private import load_compiler, sequence_number
from core.expressions.dispatch import Watching, storage_id


class LimitReached(Exception):  # noqa: N818  it is no error: what came before is kept
    """A capture has used up what it may; `limit` is a word of `Capture.limits_hit`."""

    def __init__(self, limit: str) -> None:
        super().__init__(limit)
        self.limit = limit


@dataclass(frozen=True, kw_only=True, slots=True)
class Limits:
    """What one capture may use."""

    num_nodes: int = 2000  # of the graph
    num_calls: int = 20_000  # of aten operations, forward and backward
    num_bytes: int = 256_000_000  # of memory that its operations may make
    seconds: float = 2.0  # of its own thread: a busy server does not cut a graph short
    num_values: int = 4096  # of one tensor that are kept


@dataclass(kw_only=True, slots=True)
class Record:
    """One aten operation of the forward pass, with the living tensors."""

    name: str  # "mul"
    text: str
    line: int | None
    module: str
    inputs: list[Tensor]
    outputs: list[Tensor]
    infos: list[TensorInfo]  # the outputs as they were then
    versions: dict[int, int]  # storage -> its version counter then
    sequence: int | None  # the number of its node, if it made one
    grad_enabled: bool  # the modes it ran in
    inference: bool
    flops: int  # torch's count
    layer: int = 0  # 1 while a backward ran


@dataclass(kw_only=True, slots=True)
class Place:
    """Where in the reader's program, and in which module, the next operation stands."""

    text: str = ""
    line: int | None = None
    modules: list[str] = field(default_factory=list)  # those that run, the innermost last
    ran: set[tuple[str, int | None]] = field(default_factory=set)  # came to their end


class Meter:
    """Counts calls, bytes and seconds of a capture."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        load_compiler()  # it is no part of what the reader runs
        self._ends = time.thread_time() + limits.seconds
        self._calls = self._bytes = 0

    def count(self, num_bytes: int) -> None:
        """Count one operation.

        Raises:
            LimitReached: If it was one too many.
        """
        self._calls += 1
        self._bytes += num_bytes
        if self._calls > self._limits.num_calls:
            raise LimitReached("calls")
        if self._bytes > self._limits.num_bytes:
            raise LimitReached("bytes")
        if time.thread_time() > self._ends:
            raise LimitReached("seconds")


def made_bytes(inputs: Sequence[Tensor], outputs: Sequence[Tensor]) -> int:
    """Return the bytes of the storages that an operation made."""
    known = {storage_id(x) for x in inputs}
    made = {storage_id(x): x.untyped_storage().nbytes() for x in outputs}
    return sum(size for key, size in made.items() if key not in known)


class Recorder:
    """Notes every operation, at the place that the reader's program has come to."""

    def __init__(
        self, meter: Meter, info: Callable[[Tensor], TensorInfo], moments: list[Any]
    ) -> None:
        self.records: list[Record] = []
        self._moments = moments
        self.place = Place()
        self.layer = 0
        self._meter, self._info = meter, info
        self._sequence = sequence_number()

    def mode(self) -> Watching:
        """Return the mode in which operations are noted."""
        self._sequence = sequence_number()
        return Watching(self._tell)

    def _tell(
        self,
        func: Any,  # noqa: ANN401
        inputs: Sequence[Tensor],
        outputs: Sequence[Tensor],
        flops: int,
    ) -> None:
        now = sequence_number()
        name = func._schema.name.removeprefix("aten::")
        writes = int(name.endswith("_") and not name.endswith("__"))
        place = self.place
        record = Record(
            name=name,
            text=place.text,
            line=place.line,
            module=place.modules[-1] if place.modules else "",
            inputs=list(inputs),
            outputs=list(outputs),
            infos=[self._info(x) for x in outputs],
            versions=_versions(inputs, outputs, writes),
            sequence=now - 1 if now > self._sequence else None,
            grad_enabled=torch.is_grad_enabled(),
            inference=torch.is_inference_mode_enabled(),
            flops=flops,
            layer=self.layer,
        )
        self._sequence = now
        self.records.append(record)
        self._moments.append(record)
        self._meter.count(made_bytes(inputs, outputs))


def _versions(inputs: Sequence[Tensor], outputs: Sequence[Tensor], writes: int) -> dict[int, int]:
    """Return the version of every storage after the operation: it counts a write later."""
    told = {storage_id(x): x._version for x in inputs if not x.is_inference()}
    for x in outputs:
        if not x.is_inference():
            told[storage_id(x)] = x._version + writes
    return told
