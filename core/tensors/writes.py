"""A program that writes into tensors: which variables hold other numbers after its last write.

Before the statement of the last write every variable is read, and read again at the end.
"""

import ast
import contextlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np
from torch import Tensor

from core.expressions.error import ExpressionError, Span
from core.expressions.grammar import Program, parse
from core.expressions.interpreter import evaluate
from core.expressions.limits import MATERIALIZED
from core.expressions.methods import WRITES
from core.expressions.names import MUTATION
from core.expressions.operation import IN_PLACE, WRITE, Value
from core.tensors.layout import MAX_ADDRESSES, Layout
from core.tensors.trace import Recorder, Step, Trace, TracedTensor, num_sound, trace

WRITING: Final = frozenset({WRITE.name, *WRITES, *(call.name for call in IN_PLACE.values())})
_LIMITS: Final = replace(MATERIALIZED, num_elements=MAX_ADDRESSES)  # each of them is looked at
Values = Any  # a number, or nested lists of numbers
MAX_NUMBERS: Final = 36  # of a variable that are handed on to be written out


@dataclass(frozen=True, kw_only=True, slots=True)
class Variable:
    """A name of the program, before its last write and at its end."""

    name: str  # as the reader wrote it
    tensor: TracedTensor  # where its elements lie
    before: Values  # its numbers, nested as its dimensions are; none if there are more than 36
    after: Values  # the same at the end
    changed: tuple[int, ...]  # positions of the elements that differ, in its own order


@dataclass(frozen=True, kw_only=True, slots=True)
class Overlap:
    """A write of more elements than there are addresses for them."""

    text: str
    num_elements: int
    num_addresses: int


@dataclass(frozen=True, kw_only=True, slots=True)
class Written:
    """What a program wrote.

    Attributes:
        variables: Those that were there before the last write, in order of appearance.
        changed: Storage key -> addresses whose values that statement changed, in elements.
        before, writing: The program as plain Python, up to the statement of the last write and from
            it on, as far as it was not refused.
    """

    trace: Trace  # its steps
    variables: tuple[Variable, ...]
    changed: Mapping[str, tuple[int, ...]]
    before: str = ""
    writing: str = ""
    refused: str = ""  # the statement that PyTorch itself refused; empty if there is none

    @property
    def writes(self) -> tuple[Step, ...]:
        """The steps that write."""
        return tuple(step for step in self.trace.steps if step.call in WRITING)

    @property
    def names(self) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Names of the variables that changed, and of those that did not."""
        changed = tuple(each.name for each in self.variables if each.changed)
        return changed, tuple(each.name for each in self.variables if not each.changed)

    @property
    def num_addresses(self) -> int:
        """Addresses whose values differ, in all storages."""
        return sum(map(len, self.changed.values()))

    @property
    def overlaps(self) -> tuple[Overlap, ...]:
        """The writes into tensors whose elements share addresses."""
        return tuple(_overlap(step) for step in self.writes if _written(step).overlaps_itself)

    @property
    def first_index(self) -> tuple[int, ...]:
        """The index of the first changed element of the tensor shown last; () if there is none."""
        last = self.trace.steps[-1].outputs[0] if self.trace.steps else None
        if last is None or last.storage not in self.changed:
            return ()
        places = np.isin(last.layout.addresses(), self.changed[last.storage])
        return tuple(int(place) for place in np.argwhere(places)[0]) if places.any() else ()


def run_writes(source: str, make: Callable[[], Mapping[str, Tensor]]) -> Written:
    """Run a program that may write; an error ends it, and is told in the trace.

    Args:
        source: What the reader wrote, in the calls of `core.expressions.names.MUTATION`.
        make: Returns fresh tensors by name, with the same numbers each time.
    """
    ran = trace(source, make(), _LIMITS, MUTATION)
    try:
        program = parse(source, MUTATION.syntax)
    except ExpressionError:
        return Written(trace=ran, variables=(), changed={})
    last, sound = _last_write(program, ran), num_sound(program, ran.error)
    return Written(
        trace=ran,
        variables=_variables(program, last, make),
        changed=_changed([step for step in ran.steps if _number(program, step.span) == last]),
        before=_code(program.statements[:last]),
        writing=_code(program.statements[last:sound]),
        refused=_refused(program, ran, sound),
    )


def _written(step: Step) -> Layout:
    return step.outputs[0].layout


def _overlap(step: Step) -> Overlap:
    layout = _written(step)
    return Overlap(
        text=step.text, num_elements=layout.numel, num_addresses=len(np.unique(layout.addresses()))
    )


def _refused(program: Program, ran: Trace, number: int) -> str:
    is_torchs = ran.error is not None and ran.error.torch_message
    return _code(program.statements[number : number + 1]) if is_torchs else ""


def _last_write(program: Program, ran: Trace) -> int:
    """Return the number of the statement that writes last, or of the one that was refused."""
    spans = [step.span for step in ran.steps if step.call in WRITING]
    if spans:
        return _number(program, spans[-1])
    return num_sound(program, ran.error)


def _number(program: Program, span: Span) -> int:
    """Return the number of the statement that a place lies in."""
    starts = [(each.lineno, each.col_offset) for each in program.statements]
    return sum(start <= (span.line, span.column) for start in starts) - 1


def _variables(
    program: Program, last: int, make: Callable[[], Mapping[str, Tensor]]
) -> tuple[Variable, ...]:
    """Run the program once more, and read its variables before a statement and at the end."""
    tensors, recorder = make(), Recorder()
    for name, x in tensors.items():
        recorder.tensor(x, name)  # storages bear the same keys as in the trace
    held: dict[str, tuple[Tensor, TracedTensor, Tensor]] = {}

    def read(number: int, variables: Mapping[str, Value]) -> None:
        if number == last:
            held.update(
                (name, (x, recorder.tensor(x, name), x.clone()))
                for name, x in variables.items()
                if isinstance(x, Tensor)
            )

    with contextlib.suppress(ExpressionError):  # the trace tells it; what was written stays
        run = recorder.execute
        ended = evaluate(program, tensors, _LIMITS, MUTATION, run, before=read)
        read(len(program.statements), ended.variables)
    return tuple(
        Variable(
            name=name,
            tensor=place,
            before=_numbers(before),
            after=_numbers(x),
            changed=_differing(before, x),
        )
        for name, (x, place, before) in held.items()
    )


def _code(statements: Sequence[ast.stmt]) -> str:
    return "\n".join(map(ast.unparse, statements))


def _numbers(x: Tensor) -> Values:
    return x.tolist() if x.numel() <= MAX_NUMBERS else []


def _differing(old: Tensor, new: Tensor) -> tuple[int, ...]:
    """Return where two tensors of one shape differ; NaN is like NaN."""
    differs = (new != old) & ~(new.isnan() & old.isnan())
    return tuple(differs.flatten().nonzero().flatten().tolist())


def _changed(steps: Sequence[Step]) -> dict[str, tuple[int, ...]]:
    """Return the addresses that any of these steps changed, by storage."""
    changed: dict[str, set[int]] = {}
    for step in steps:
        for storage, addresses in step.changed.items():
            changed.setdefault(storage, set()).update(addresses)
    return {storage: tuple(sorted(addresses)) for storage, addresses in changed.items()}
