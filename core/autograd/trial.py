"""A program run again, not captured: whether it runs, and which of its writes keep it from that."""

import ast
import time
import warnings
from bisect import bisect_left
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Final

import torch
from torch import Tensor

from core.autograd.refusals import refusal_of
from core.autograd.rewrites import is_write
from core.autograd.torch_private import load_compiler
from core.expressions import ExpressionError
from core.expressions.dispatch import storage_id
from core.expressions.error import Span
from core.expressions.execution import load_checks
from core.expressions.grammar import Program, names_given, parse
from core.expressions.interpreter import evaluate
from core.expressions.limits import GRADIENTS
from core.expressions.names import GRADIENT
from core.expressions.operation import Operation, Value, tensors_in
from core.models.chance import alone_with_chance

SECONDS: Final = 2.0  # of its own thread, for all runs of one program


class TimeUp(Exception):  # noqa: N818  what is known until then is told
    """The runs of one program have taken as long as they may."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Write:
    """A change in place as it stands in a program: `e[0] = 6`."""

    span: Span
    text: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Trial:
    """How a program ran.

    Attributes:
        owners: Of each write, the names of tensors whose memory it changed: itself, views, bases.
        gradients: Of the tensors that it was handed, by name, at the end; without those of None.
    """

    message: str = ""  # what torch, or this engine, refused it with; "" if it ran to its end
    line: int | None = None  # where that was
    roots: tuple[Tensor, ...] = ()  # what it called `backward` on, as it was then
    owners: Mapping[Span, tuple[str, ...]] = field(default_factory=dict)
    gradients: Mapping[str, Tensor] = field(default_factory=dict)

    @property
    def is_version_conflict(self) -> bool:
        """Whether a saved tensor had been changed in place."""
        return bool(self.message) and refusal_of(self.message).kind == "version"


class Trials:
    """Runs programs with the same tensors; all of them share `SECONDS`."""

    def __init__(self, tensors: Mapping[str, Tensor]) -> None:
        load_compiler()
        load_checks()
        self._tensors = tensors
        self._guilty: dict[str, tuple[Write, ...]] = {}
        self._ends = time.thread_time() + SECONDS

    def run(self, source: str, writes: Collection[Span] | None = None) -> Trial:
        """Run a program on copies of the tensors.

        Args:
            source: The program; as in a capture, backward is called on its last value if it never
                calls it itself.
            writes: Those that are done, the others are left out; None does all.

        Raises:
            TimeUp: If there is no time for it.
        """
        leaves = {name: _copy(x) for name, x in self._tensors.items()}
        run, began = _Run(writes, leaves), time.monotonic()
        message, line = "", None
        with alone_with_chance(), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                program = parse(source, GRADIENT.syntax)
                run.whole(program)
            except ExpressionError as error:
                message, line = error.torch_message or error.message, error.line
            except RuntimeError as error:  # of the backward that nobody wrote
                message = str(error)
        # A program that ran out of its own time was not refused by torch.
        if time.thread_time() > self._ends or time.monotonic() - began > GRADIENTS.seconds:
            raise TimeUp
        grads = {name: x.grad for name, x in leaves.items() if x.is_leaf and x.grad is not None}
        return Trial(
            message=message, line=line, roots=tuple(run.roots), owners=run.owners(), gradients=grads
        )

    def guilty_writes(self, source: str) -> tuple[Write, ...]:
        """Return the writes that changed what was saved, in the order in which they run.

        Without them no saved tensor is changed, and with any one of them one is. Writes are put
        back in their order: the one that brings the conflict while all later ones are left out has
        changed something that was saved before it.

        Raises:
            TimeUp: If there is no time for it.
        """
        if source not in self._guilty:
            self._guilty[source] = self._find_guilty(source)
        return self._guilty[source]

    def _find_guilty(self, source: str) -> tuple[Write, ...]:
        writes, guilty = writes_of(source), list[Write]()
        if len(writes) == 1:  # nobody else can be
            return writes if self.run(source).is_version_conflict else ()

        def conflicts_up_to(number: int) -> bool:
            done = {each.span for each in writes[: number + 1] if each not in guilty}
            return self.run(source, done).is_version_conflict

        at = -1
        while True:
            later = range(at + 1, len(writes))
            at = later.start + bisect_left(later, True, key=conflicts_up_to)
            if at >= len(writes):
                return tuple(guilty)
            guilty.append(writes[at])


def writes_of(source: str) -> tuple[Write, ...]:
    r"""Return what changes a tensor in place, in the order in which it runs.

    >>> [each.text for each in writes_of("b = x.exp().add_(1)\nb[0] = 2\nb += 1")]
    ['x.exp().add_(1)', 'b[0] = 2', 'b += 1']
    """
    nodes = ast.walk(ast.parse(source))
    found = [node for node in nodes if isinstance(node, ast.expr | ast.stmt) and is_write(node)]
    found.sort(key=lambda node: (node.end_lineno, node.end_col_offset, -node.col_offset))
    return tuple(
        Write(
            span=Span.of_last(node) if isinstance(node, ast.Call) else Span.of(node),
            text=ast.get_source_segment(source, node) or "",
        )
        for node in found
    )


class _Run:
    """Notes what a program makes, changes and calls backward on, and leaves writes out."""

    def __init__(self, writes: Collection[Span] | None, leaves: Mapping[str, Tensor]) -> None:
        self.roots: list[Tensor] = []
        self._writes, self._leaves = writes, leaves
        self._written: dict[Span, Tensor] = {}
        self._named = list(leaves.items())
        self._names: Mapping[tuple[int, str], str] = {}

    def whole(self, program: Program) -> None:
        self._names = names_given(program)
        ended = evaluate(program, self._leaves, GRADIENTS, GRADIENT, self._execute)
        x = next(reversed(list(tensors_in(ended.result))), None)
        if x is not None and x.requires_grad and not self.roots:
            self.roots.append(x.detach().clone())
            x.backward()

    def _execute(self, operation: Operation, generator: torch.Generator | None) -> Value:
        if operation.call.writes:
            self._written[operation.span] = operation.arguments[0]
            if self._writes is not None and operation.span not in self._writes:
                return operation.arguments[0]
        if operation.call.name == "backward":
            self.roots.append(operation.arguments[0].detach().clone())
        result = operation.run(generator)
        name = self._names.get((operation.span.line, operation.text))
        self._named += [(name, x) for x in tensors_in(result) if name]
        return result

    def owners(self) -> dict[Span, tuple[str, ...]]:
        storages = [(name, storage_id(x)) for name, x in self._named]
        return {
            span: tuple(name for name, storage in storages if storage == storage_id(x))
            for span, x in self._written.items()
        }


def _copy(x: Tensor) -> Tensor:
    return x.detach().clone().requires_grad_(x.requires_grad)
