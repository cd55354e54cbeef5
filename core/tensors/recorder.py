"""Runs the operations of a program and notes where every element lies after each."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

import torch
from torch import Tensor

from core.expressions.dispatch import Watching, storage_id
from core.expressions.operation import Operation, Value, tensors_in
from core.tensors.layout import Layout
from core.tensors.rules import Kind
from core.tensors.steps import AtenRow, Step, TracedStorage, TracedTensor

# What makes a storage and only moves numbers there, or finds out which: the rest computes.
_MOVING: Final = {
    *("clone", "copy", "_to_copy", "cat", "stack", "flip", "roll", "rot90", "repeat", "im2col"),
    *("index", "index_select", "gather", "take", "masked_select", "embedding", "diagonal_copy"),
    *("arange", "empty", "new_empty"),
}
MAX_VALUES: Final = 4096  # of a storage that are handed on to be drawn


class Recorder:
    """Runs operations and remembers; it keeps every tensor alive, so that numbers stay unique."""

    def __init__(self) -> None:
        self.steps: list[Step] = []
        self.refused_shape: tuple[int, ...] | None = None
        self.refused_tensor = ""
        self._tensors: dict[int, tuple[Tensor, TracedTensor]] = {}  # by id of the object
        self._storages: dict[int, tuple[str, Tensor]] = {}

    def tensor(self, x: Tensor, text: str) -> TracedTensor:
        """Return what is known of a tensor; a new one gets the next key."""
        if id(x) in self._tensors:
            return self._tensors[id(x)][1]
        storage, _first = self._storages.setdefault(storage_id(x), (f"S{len(self._storages)}", x))
        told = TracedTensor(
            key=f"t{len(self._tensors)}",
            text=text,
            layout=layout_of(x),
            dtype=str(x.dtype).removeprefix("torch."),
            storage=storage,
        )
        self._tensors[id(x)] = (x, told)
        return told

    def keys(self, value: Value) -> tuple[str, ...]:
        """Return the keys of the tensors of a value."""
        return tuple(
            self._tensors[id(x)][1].key for x in tensors_in(value) if id(x) in self._tensors
        )

    def execute(self, operation: Operation, generator: torch.Generator | None) -> Value:
        """Run an operation, and note what it did."""
        before = self._snapshots() if operation.call.writes else {}
        rows: list[AtenRow] = []
        try:
            with Watching(lambda *told: rows.append(_row_of(*told))):
                result = operation.run(generator)
        except RuntimeError:
            if operation.call.name == "view" and type(operation.arguments[1]) is tuple:
                self.refused_shape = operation.arguments[1]
                self.refused_tensor = self.tensor(operation.inputs[0], "").key
            raise
        written = operation.inputs[:1] if operation.call.writes else ()
        outputs = tuple(tensors_in(result)) or written
        if outputs:
            self.steps.append(self._step(operation, outputs, rows, before))
        return result

    def _step(
        self,
        operation: Operation,
        outputs: Sequence[Tensor],
        rows: Sequence[AtenRow],
        before: Mapping[int, Tensor],
    ) -> Step:
        inputs = operation.inputs
        kind = _kind_of(outputs[0], inputs, rows)
        return Step(
            text=operation.text,
            call=operation.call.name,
            span=operation.span,
            inputs=tuple(self.tensor(x, "").key for x in inputs),
            outputs=tuple(self.tensor(x, operation.text) for x in outputs),
            kind=kind,
            bytes_made=sum(row.num_bytes for row in rows),
            aten=tuple(rows),
            changed=self._changes(before),
        )

    def _snapshots(self) -> dict[int, Tensor]:
        return {
            key: _flat(x).clone()
            for key, (_name, x) in self._storages.items()
            if not x.is_meta  # without data nothing changes that could be seen
        }

    def _changes(self, before: Mapping[int, Tensor]) -> dict[str, tuple[int, ...]]:
        changes = {}
        for key, old in before.items():
            name, x = self._storages[key]
            differs = (_flat(x) != old) & ~(_flat(x).isnan() & old.isnan())
            if differs.any():
                changes[name] = tuple(differs.nonzero().flatten().tolist())
        return changes

    def storages(self) -> Iterator[TracedStorage]:
        """Yield every storage with its values as they are now."""
        for name, x in self._storages.values():
            values = () if x.is_meta else tuple(_plain(_flat(x)[:MAX_VALUES]))
            yield TracedStorage(
                key=name,
                num_bytes=x.untyped_storage().nbytes(),
                itemsize=x.element_size(),
                dtype=str(x.dtype).removeprefix("torch."),
                values=values,
            )


def layout_of(x: Tensor) -> Layout:
    """Return where a tensor's elements lie."""
    return Layout(
        shape=tuple(x.shape),
        stride=x.stride(),
        offset=int(x.storage_offset()),
        itemsize=x.element_size(),
        storage_bytes=x.untyped_storage().nbytes(),
    )


def _flat(x: Tensor) -> Tensor:
    """Return the whole storage of a tensor, in its dtype, as it is: without a lazy conjugate."""
    num_elements = x.untyped_storage().nbytes() // x.element_size()
    return torch.empty(0, dtype=x.dtype).set_(x.untyped_storage(), 0, (num_elements,), (1,))


def _plain(values: Tensor) -> Iterator[float]:
    real = torch.view_as_real(values).flatten() if values.is_complex() else values
    return iter(real.double().tolist())


def _row_of(
    overload: Any,  # noqa: ANN401
    inputs: Sequence[Tensor],
    outputs: Sequence[Tensor],
    flops: int,
) -> AtenRow:
    known = {storage_id(x) for x in inputs}
    made = {storage_id(x): x.untyped_storage().nbytes() for x in outputs}
    return AtenRow(
        name=str(overload),
        shapes=tuple(tuple(x.shape) for x in outputs),
        num_bytes=sum(size for key, size in made.items() if key not in known),
        is_view=made.keys() <= known,
        flops=flops,
    )


def _kind_of(x: Tensor, inputs: Sequence[Tensor], rows: Sequence[AtenRow]) -> Kind:
    if not inputs:
        return "new"
    if any(x is each for each in inputs):
        return "same"
    if storage_id(x) in {storage_id(each) for each in inputs}:
        return "view"
    made = {row.name.split(".")[1] for row in rows if not row.is_view}
    is_gathered = "gather" in made  # take_along_dim computes where, and then only moves
    return "copy" if made <= _MOVING or is_gathered else "new"
