"""A program run on real tensors, step by step: where every element lies after each."""

from collections.abc import Mapping
from dataclasses import dataclass

from torch import Tensor

from core.expressions.error import ExpressionError
from core.expressions.grammar import Program, parse, script
from core.expressions.interpreter import evaluate
from core.expressions.limits import MATERIALIZED, Limits
from core.expressions.names import LAYOUT, Profile
from core.expressions.operation import Value
from core.tensors.recorder import MAX_VALUES, Recorder, layout_of
from core.tensors.steps import AtenRow, Step, TracedStorage, TracedTensor

__all__ = [
    "MAX_VALUES",
    "AtenRow",
    "Step",
    "Trace",
    "TracedStorage",
    "TracedTensor",
    "layout_of",
    "trace",
]


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
        refused_tensor: Key of the tensor that it was asked of.
        script: The statements before the error as plain Python, without what makes the inputs.
    """

    inputs: tuple[TracedTensor, ...]
    steps: tuple[Step, ...]
    storages: tuple[TracedStorage, ...]
    variables: Mapping[str, tuple[str, ...]]
    error: ExpressionError | None = None
    refused_shape: tuple[int, ...] | None = None
    refused_tensor: str = ""
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
    recorder = Recorder()
    inputs = tuple(recorder.tensor(x, name) for name, x in tensors.items())
    variables: Mapping[str, Value] = tensors
    error, program = None, None
    try:
        program = parse(source, profile.syntax)
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
        refused_tensor=recorder.refused_tensor,
        script=script(program, num_sound(program, error)) if program else "",
    )


def num_sound(program: Program, error: ExpressionError | None) -> int:
    """Return how many statements ended before an error."""
    if error is None:
        return len(program.statements)
    place = (error.line, error.column)
    return sum((each.end_lineno, each.end_col_offset) <= place for each in program.statements)
