"""A program run on real tensors, step by step: where every element lies after each.

Torch is the truth; the rules of `core.tensors.rules` predict beside it where there is one.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import torch
from torch import Tensor

from core.expressions.dispatch import Watching, storage_id
from core.expressions.error import ExpressionError, Span
from core.expressions.grammar import Program, parse
from core.expressions.interpreter import evaluate
from core.expressions.limits import MATERIALIZED, Limits
from core.expressions.operation import Operation, Value, tensors_in
from core.expressions.profiles import LAYOUT, Profile
from core.expressions.script import script
from core.tensors.layout import Layout
from core.tensors.prediction import RULES
from core.tensors.rules import Kind, Predicted

MAX_VALUES: Final = 4096  # of a storage that are handed on to be drawn


@dataclass(frozen=True, kw_only=True, slots=True)
class TracedTensor:
    """A tensor at one moment, as plain data.

    Attributes:
        key: "t0", "t1", ... in order of appearance; the same object has one key.
        text: The piece of source that it comes of, or its name.
        layout: Where its elements lie.
        dtype: As torch writes it, without "torch.".
        storage: Key of its storage: "S0", "S1", ...
        is_channels_last: Whether it has four dimensions in the order N, H, W, C.
    """

    key: str
    text: str
    layout: Layout
    dtype: str
    storage: str
    is_channels_last: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class TracedStorage:
    """A piece of memory that tensors share.

    Attributes:
        key: "S0", ...
        num_bytes: Its size.
        itemsize, dtype: Of the tensor that it was first seen with; `values` are read in it.
        values: From its beginning, at most 4,096; empty where there is no data.
    """

    key: str
    num_bytes: int
    itemsize: int
    dtype: str
    values: tuple[float, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class AtenRow:
    """An operation underneath a step: what autograd and compilers see.

    Attributes:
        name: "aten.clone.default".
        shapes: Of its outputs.
        num_bytes: Of storages that it made; 0 of a view.
        flops: Of a product, torch's own count.
    """

    name: str
    shapes: tuple[tuple[int, ...], ...]
    num_bytes: int
    flops: int


@dataclass(frozen=True, kw_only=True, slots=True)
class Step:
    """One operation.

    Attributes:
        text: The source up to and with it.
        call: Its name: "view", "@", "[]".
        span: Where it stands.
        inputs: Keys of the tensors that it read.
        outputs: What came of it.
        kind: "view" shares a storage that it read, "copy" has a storage of its own, "same" is an
            object that it read, "new" read no tensor. Of several outputs, that of the first.
        bytes_made: Of all storages that it made, hidden ones too.
        predicted: What the rule says; None where there is no rule.
        is_as_predicted: Whether torch did the same; True without a rule.
        aten: What ran underneath.
        changed: For a step that writes: storage key -> addresses whose values differ now.
    """

    text: str
    call: str
    span: Span
    inputs: tuple[str, ...]
    outputs: tuple[TracedTensor, ...]
    kind: Kind
    bytes_made: int
    predicted: Predicted | None
    is_as_predicted: bool
    aten: tuple[AtenRow, ...]
    changed: Mapping[str, tuple[int, ...]]

    @property
    def bytes_copied(self) -> int:
        """Bytes of the storage that a copy made for its result."""
        storages = {each.storage: each for each in self.outputs}.values()
        size = sum(each.layout.storage_bytes for each in storages)
        return size if self.kind == "copy" else 0


@dataclass(frozen=True, kw_only=True, slots=True)
class Trace:
    """All steps of a program up to its end or its first error, as plain data.

    Attributes:
        inputs: What it began with.
        steps: In order.
        storages: All that were seen, with their values at the end.
        variables: Name -> keys of the tensors that it stands for at the end.
        error: What ended it, if something did.
        refused_shape: What a refused `view` was asked for.
        script: The statements before the error as plain Python, without what makes the inputs.
    """

    inputs: tuple[TracedTensor, ...]
    steps: tuple[Step, ...]
    storages: tuple[TracedStorage, ...]
    variables: Mapping[str, tuple[str, ...]]
    error: ExpressionError | None = None
    refused_shape: tuple[int, ...] | None = None
    script: str = ""

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
    recorder = _Recorder()
    inputs = tuple(recorder.tensor(x, name) for name, x in tensors.items())
    variables: Mapping[str, Value] = tensors
    error, program = None, None
    try:
        program = parse(source)
        ended = evaluate(program, tensors, limits, profile, recorder.execute)
        variables = ended.variables
    except ExpressionError as refused:
        error = refused
    return Trace(
        inputs=inputs,
        steps=tuple(recorder.steps),
        storages=tuple(recorder.storages()),
        variables={name: recorder.keys(value) for name, value in variables.items()},
        error=error,
        refused_shape=recorder.refused_shape,
        script=script(program, _num_sound(program, error)) if program else "",
    )


def _num_sound(program: Program, error: ExpressionError | None) -> int | None:
    """Return how many statements ended before the error; None for all."""
    if error is None:
        return None
    return sum((each.end_lineno or 0) < error.line for each in program.statements)


class _Recorder:
    """Runs operations and remembers; it keeps every tensor alive, so that numbers stay unique."""

    def __init__(self) -> None:
        self.steps: list[Step] = []
        self.refused_shape: tuple[int, ...] | None = None
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
            is_channels_last=x.ndim == 4 and x.is_contiguous(memory_format=torch.channels_last),
        )
        self._tensors[id(x)] = (x, told)
        return told

    def keys(self, value: Value) -> tuple[str, ...]:
        """Return the keys of the tensors of a value."""
        return tuple(
            self._tensors[id(x)][1].key for x in tensors_in(value) if id(x) in self._tensors
        )

    def execute(self, operation: Operation, generator: torch.Generator) -> Value:
        """Run an operation, and note what it did."""
        before = self._snapshots() if operation.call.writes else {}
        rows: list[AtenRow] = []
        try:
            with Watching(lambda *told: rows.append(_row_of(*told))):
                result = operation.run(generator)
        except RuntimeError:
            if operation.call.name == "view" and type(operation.arguments[1]) is tuple:
                self.refused_shape = operation.arguments[1]
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
        kind = _kind_of(outputs[0], inputs)
        predicted = _prediction(operation)
        actual = Predicted(kind, layout_of(outputs[0]))
        return Step(
            text=operation.text,
            call=operation.call.name,
            span=operation.span,
            inputs=tuple(self.tensor(x, "").key for x in inputs),
            outputs=tuple(self.tensor(x, operation.text) for x in outputs),
            kind=kind,
            bytes_made=sum(row.num_bytes for row in rows),
            predicted=predicted,
            is_as_predicted=predicted is None or predicted == actual,
            aten=tuple(rows),
            changed=self._changes(before),
        )

    def _snapshots(self) -> dict[int, Tensor]:
        return {key: _flat(x).clone() for key, (_name, x) in self._storages.items()}

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
    """Return the whole storage of a tensor, in its dtype."""
    num_elements = x.untyped_storage().nbytes() // x.element_size()
    return x.detach().resolve_conj().as_strided((num_elements,), (1,), 0)


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
        flops=flops,
    )


def _kind_of(x: Tensor, inputs: Sequence[Tensor]) -> Kind:
    if not inputs:
        return "new"
    if any(x is each for each in inputs):
        return "same"
    return "view" if storage_id(x) in {storage_id(each) for each in inputs} else "copy"


def _prediction(operation: Operation) -> Predicted | None:
    rule = RULES.get(operation.call.name)
    if rule is None or not isinstance(operation.arguments[0], Tensor):
        return None
    return rule(layout_of(operation.arguments[0]), *operation.arguments[1:])
