"""The forward pass as it runs: every aten operation, with what makes its node known afterwards.

Why apart: it knows torch's dispatch mode, and holds living tensors.
"""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import torch
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves
from torch.utils.flop_counter import flop_registry

from core.autograd.graph import TensorInfo
from core.autograd.torch_private import load_compiler, sequence_number
from core.expressions.dispatch import storage_id

Tell = Callable[[Any, Sequence[Tensor], Sequence[Tensor], int], None]
# Torch's table lacks the CPU's attention: its GPU twin's rule, and how many tensors that takes.
_ON_GPU: Final = {
    "aten._scaled_dot_product_flash_attention_for_cpu": (
        "_scaled_dot_product_flash_attention", 3,
    ),
    "aten._scaled_dot_product_flash_attention_for_cpu_backward": (
        "_scaled_dot_product_flash_attention_backward", 4,
    ),
}  # fmt: skip


class LimitReached(Exception):  # noqa: N818  it is no error: what came before is kept
    """A capture has used up what it may; `limit` is a word of `Capture.limits_hit`."""

    def __init__(self, limit: str) -> None:
        super().__init__(limit)
        self.limit = limit


@dataclass(frozen=True, kw_only=True, slots=True)
class Limits:
    """What one capture may use.

    Attributes:
        num_nodes: Of the graph.
        num_calls: Of aten operations, forward and backward.
        num_bytes: Of memory that its operations may make.
        seconds: Of its own thread: a busy server does not cut a graph short.
        num_values: Of one tensor that are kept.
    """

    num_nodes: int = 2000
    num_calls: int = 20_000
    num_bytes: int = 256_000_000
    seconds: float = 2.0
    num_values: int = 4096


@dataclass(kw_only=True, slots=True)
class Record:
    """One aten operation of the forward pass.

    Attributes:
        name: "mul".
        text, line, module: Where it stands in the program, and which module called it.
        inputs, outputs: The living tensors.
        infos: The outputs as they were then.
        versions: Storage -> its version counter then.
        sequence: The number of its node, if it made one.
        grad_enabled, inference: The modes it ran in.
        flops: torch's count.
        layer: 1 while a backward ran.
    """

    name: str
    text: str
    line: int | None
    module: str
    inputs: list[Tensor]
    outputs: list[Tensor]
    infos: list[TensorInfo]
    versions: dict[int, int]
    sequence: int | None
    grad_enabled: bool
    inference: bool
    flops: int
    layer: int = 0


@dataclass(kw_only=True, slots=True)
class Place:
    """Where in the reader's program, and in which module, the next operation stands."""

    text: str = ""
    line: int | None = None
    modules: list[str] = field(default_factory=list)


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


class Telling(TorchDispatchMode):
    """Calls `tell` after each aten operation within."""

    def __init__(self, tell: Tell, *, count_flops: bool = True) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self._tell, self._count_flops = tell, count_flops

    @classmethod
    def _should_skip_dynamo(cls) -> bool:
        """Say that no compiler is kept away: it would be loaded for that, 800 modules of it."""
        return False

    def __torch_dispatch__(
        self,
        func: Any,  # noqa: ANN401
        types: Sequence[type],
        args: Sequence[Any] = (),
        kwargs: Mapping[str, Any] | None = None,
    ) -> Any:  # noqa: ANN401
        """Run the operation, then tell of it."""
        named = dict(kwargs or {})
        result = func(*args, **named)
        inputs = [each for each in tree_leaves((args, named)) if isinstance(each, Tensor)]
        outputs = [each for each in tree_leaves(result) if isinstance(each, Tensor)]
        flops = _flops(func, args, named, result) if self._count_flops else 0
        self._tell(func, inputs, outputs, flops)
        return result


def _flops(func: Any, args: Sequence[Any], named: Mapping[str, Any], result: Any) -> int:  # noqa: ANN401
    """Return torch's count; attention's CPU kernel is missing in torch's table."""
    kernel = _ON_GPU.get(str(func._overloadpacket))
    if kernel is not None:
        name, num_sizes = kernel
        count = flop_registry[getattr(torch.ops.aten, name)]
        return int(count(*args[:num_sizes], out_val=result))
    count = flop_registry.get(func._overloadpacket)
    return int(count(*args, **named, out_val=result)) if count else 0


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

    def mode(self) -> Telling:
        """Return the mode in which operations are noted."""
        self._sequence = sequence_number()
        return Telling(self._tell)

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
