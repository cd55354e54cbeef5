"""How long the tensors of a forward and a backward pass live: bytes kept for later, per operation.

Every operation of aten is watched, and every storage that it makes is held weakly: the moment at
which it is gone is the moment at which the last node of the graph let go of it.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import accumulate
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from torch import Tensor

Phase = Literal["forward", "recompute", "backward"]


@dataclass(frozen=True, kw_only=True, slots=True)
class Moment:
    """What is alive after an operation that made a tensor."""

    phase: Phase
    operation: str  # as aten names it; "" at the very end, when the last node has let go
    held: int  # bytes that forward passes left behind for a backward pass
    recomputed: int  # bytes that recomputation left behind for it
    flops: int  # of this operation: torch's count, of matrix products

    @property
    def num_bytes(self) -> int:
        """All activations that are kept now."""
        return self.held + self.recomputed


@dataclass(slots=True)
class _Life:
    """A storage from the moment after which it is there to the one after which it is gone."""

    storage: Any  # torch's weak reference
    num_bytes: int
    phase: Phase
    number: int  # of its pass
    born: int
    died: int | None = None


class Lifetimes:
    """Watches what runs within `watch` and tells what was kept, operation by operation.

    A tensor counts as kept if it outlives the pass that made it: what is gone before the next
    operation was a step on the way. Parameters and inputs are alive anyway and are left out, as
    are gradients. No tensor is kept alive by being watched.
    """

    def __init__(self, alive_anyway: Sequence["Tensor"]) -> None:
        self._others = {_key(tensor) for tensor in alive_anyway}
        self._lives: dict[int, _Life] = {}
        self._alive: list[_Life] = []
        self._ran: list[tuple[Phase, str, int]] = []
        self._ends: list[int] = []  # of each pass: the moment at which it ended
        self._phase: Phase = "backward"
        self._number = -1

    @contextmanager
    def watch(self) -> Iterator[None]:
        """Watch all operations of this thread."""
        from core.expressions.dispatch import Watching

        with Watching(self._tell):
            yield
        self._ran.append(("backward", "", 0))
        self._bury()

    @contextmanager
    def passing(self, phase: Phase) -> Iterator[None]:
        """Run a forward pass, or a part of it again; what is outside of both is backward."""
        outer = self._phase, self._number
        self._ends.append(0)
        self._phase, self._number = phase, len(self._ends) - 1
        number = self._number
        try:
            yield
        finally:
            self._ends[number] = len(self._ran)
            self._phase, self._number = outer

    def leave_out(self, tensor: "Tensor") -> None:
        """Do not count a tensor: the loss, which the caller holds."""
        self._lives[_key(tensor)].phase = "backward"

    def moments(self) -> tuple[Moment, ...]:
        """Return what was alive after each operation that made a tensor, in their order."""
        curves = {phase: self._curve(phase) for phase in ("forward", "recompute")}
        return tuple(
            Moment(phase=phase, operation=name, held=held, recomputed=again, flops=flops)
            for (phase, name, flops), held, again in zip(
                self._ran, curves["forward"], curves["recompute"], strict=True
            )
        )

    def _curve(self, phase: str) -> list[int]:
        changes = [0] * (len(self._ran) + 1)
        for life in self._lives.values():
            if life.phase == phase and self._is_kept(life):
                changes[life.born] += life.num_bytes
                changes[len(self._ran) if life.died is None else life.died] -= life.num_bytes
        return list(accumulate(changes[:-1]))

    def _is_kept(self, life: _Life) -> bool:
        # The frames of a recomputation end with the next operation: what only they held dies there.
        return life.died is None or life.died > self._ends[life.number]

    def _tell(
        self,
        operation: Any,  # noqa: ANN401  torch's OpOverload
        _inputs: Sequence["Tensor"],
        outputs: Sequence["Tensor"],
        flops: int,
    ) -> None:
        made = [each for each in outputs if self._is_new(each)]
        if not made:  # views of what is there
            return
        self._ran.append((self._phase, operation._overloadpacket.__name__, flops))
        for tensor in made:
            self._lives[_key(tensor)] = self._born(tensor)
            self._alive.append(self._lives[_key(tensor)])
        self._bury()

    def _is_new(self, tensor: "Tensor") -> bool:
        # A weak reference keeps the number of a storage from being used again.
        known = _key(tensor) in self._others or _key(tensor) in self._lives
        return not known and tensor.untyped_storage().nbytes() > 0

    def _born(self, tensor: "Tensor") -> _Life:
        from torch.multiprocessing.reductions import StorageWeakRef

        storage = tensor.untyped_storage()
        return _Life(
            storage=StorageWeakRef(storage), num_bytes=storage.nbytes(), phase=self._phase,
            number=self._number, born=len(self._ran) - 1,
        )  # fmt: skip

    def _bury(self) -> None:
        for life in self._alive:
            if life.storage.expired():
                life.died = len(self._ran) - 1
        self._alive = [life for life in self._alive if life.died is None]


def _key(tensor: "Tensor") -> int:
    from core.expressions.dispatch import storage_id

    return storage_id(tensor)
