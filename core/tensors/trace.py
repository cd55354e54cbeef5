"""A program run on real tensors, step by step: where every element lies after each."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import torch
from torch import Tensor

from core.expressions.dispatch import Watching, storage_id
from core.expressions.error import ExpressionError, Span
from core.expressions.grammar import Program, parse, script
from core.expressions.interpreter import evaluate
from core.expressions.limits import MATERIALIZED, Limits
from core.expressions.names import LAYOUT, Profile
from core.expressions.operation import Operation, Value, tensors_in
from core.tensors.layout import Layout
from core.tensors.rules import Kind

# What makes a storage and only moves numbers there, or finds out which: the rest computes.
_MOVING: Final = {
    *("clone", "copy", "_to_copy", "cat", "stack", "flip", "roll", "rot90", "repeat", "im2col"),
    *("index", "index_select", "gather", "take", "masked_select", "embedding", "diagonal_copy"),
    *("arange", "empty", "new_empty"),
}
MAX_VALUES: Final = 4096  # of a storage that are handed on to be drawn


@dataclass(frozen=True, kw_only=True, slots=True)
class TracedTensor:
    """A tensor at one moment, as plain data."""

    key: str  # "t0", "t1", ... in order of appearance; the same object has one key.
    text: str  # the piece of source that it comes of, or its name
    layout: Layout  # where its elements lie
    dtype: str  # as torch writes it, without "torch."
    storage: str  # key of its storage: "S0", "S1",


@dataclass(frozen=True, kw_only=True, slots=True)
class TracedStorage:
    """A piece of memory that tensors share."""

    key: str  # "S0", "S1", ...
    num_bytes: int
    itemsize: int  # of the tensor that it was first seen with
    dtype: str  # of the same; `values` are read in it
    values: tuple[float, ...]  # from its beginning, at most 4,096; empty where there is no data


@dataclass(frozen=True, kw_only=True, slots=True)
class AtenRow:
    """An operation underneath a step: what autograd and compilers see."""

    name: str  # "aten.clone.default"
    shapes: tuple[tuple[int, ...], ...]  # of its outputs
    num_bytes: int  # of storages that it made; 0 of a view
    is_view: bool  # whether it made none, not even an empty one
    flops: int  # of a product, torch's own count


@dataclass(frozen=True, kw_only=True, slots=True)
class Step:
    """One operation.

    Attributes:
        kind: "view" shares a storage that it read, "copy" has the same numbers in a storage of its
            own, "same" is an object that it read, "new" has numbers that were computed, or read no
            tensor. Of several outputs, that of the first.
        changed: For a step that writes: storage key -> addresses whose values differ now.
    """

    text: str  # the source up to and with it
    call: str  # its name: "view", "@", "[]"
    span: Span  # where it stands
    inputs: tuple[str, ...]  # keys of the tensors that it read
    outputs: tuple[TracedTensor, ...]  # what came of it
    kind: Kind
    bytes_made: int  # of all storages that it made, hidden ones too
    aten: tuple[AtenRow, ...]  # what ran underneath
    changed: Mapping[str, tuple[int, ...]]

    @property
    def bytes_copied(self) -> int:
        """Bytes of the storage that a copy made for its result."""
        return self._bytes_kept if self.kind == "copy" else 0

    @property
    def bytes_hidden(self) -> int:
        """Bytes that it made in between and did not keep."""
        kept = self._bytes_kept if self.kind in {"copy", "new"} else 0
        return max(self.bytes_made - kept, 0)

    @property
    def _bytes_kept(self) -> int:
        storages = {each.storage: each for each in self.outputs}.values()
        return sum(each.layout.storage_bytes for each in storages)


@dataclass(frozen=True, kw_only=True, slots=True)
class Trace:
    """All steps of a program up to its end or its first error, as plain data."""

    inputs: tuple[TracedTensor, ...]  # what it began with
    steps: tuple[Step, ...]  # in order
    storages: tuple[TracedStorage, ...]  # all that were seen, with their values at the end
    variables: Mapping[str, tuple[str, ...]]  # name -> keys of its tensors at the end
    error: ExpressionError | None = None  # what ended it, if something did
    refused_shape: tuple[int, ...] | None = None  # what a refused `view` was asked for
    refused_tensor: str = ""  # key of the tensor that it was asked of
    script: str = ""  # the statements up to the result, or before the error, as plain Python
    printed: tuple[str, ...] = ()  # what it prints, a text each time

    @property
    def tensors(self) -> tuple[TracedTensor, ...]:
        """Every tensor once, in order of appearance."""
        found = {each.key: each for each in self.inputs}
        for step in self.steps:
            found |= {each.key: each for each in step.outputs if each.key not in found}
        return tuple(found.values())


def trace(
    source: str,
    tensors: Mapping[str, Tensor],
    limits: Limits = MATERIALIZED,
    profile: Profile = LAYOUT,
) -> Trace:
    """Run a program and tell of every step; an error ends it, and is told too.

    Args:
        source: What the reader wrote.
        tensors: By name. A program that writes changes them.
        limits: `MATERIALIZED`, or `ON_META` for tensors without data, of any size.
        profile: What may be called.
    """
    recorder = Recorder()
    inputs = tuple(recorder.tensor(x, name) for name, x in tensors.items())
    variables: Mapping[str, Value] = tensors
    error, program, num_statements = None, None, 0
    printed: tuple[str, ...] = ()
    try:
        program = parse(source, profile.syntax)
        ended = evaluate(program, tensors, limits, profile, recorder.execute)
        variables, printed = ended.variables, ended.printed
        num_statements = ended.num_statements
    except ExpressionError as refused:
        error, printed = refused, refused.printed
        num_statements = num_sound(program, error) if program else 0
    return Trace(
        inputs=inputs,
        steps=tuple(recorder.steps),
        storages=tuple(recorder.storages()),
        variables={name: recorder.keys(value) for name, value in variables.items()},
        error=error,
        refused_shape=recorder.refused_shape,
        refused_tensor=recorder.refused_tensor,
        script=script(program, num_statements) if program else "",
        printed=printed,
    )


def num_sound(program: Program, error: ExpressionError | None) -> int:
    """Return how many statements ended before an error."""
    if error is None:
        return len(program.statements)
    place = (error.line, error.column)
    return sum((each.end_lineno, each.end_col_offset) <= place for each in program.statements)


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
