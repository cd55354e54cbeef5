"""A reader's program captured: its backward passes, writes and resets in the order it has them."""

import time
import warnings
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, Final

import torch
from torch import Tensor

from core.autograd.capture import all_warnings, finish
from core.autograd.engine import Moment
from core.autograd.forward import Limits
from core.autograd.graph import Capture, EventKind, TensorInfo
from core.autograd.session import Session
from core.expressions import ExpressionError
from core.expressions.grammar import names_given, parse
from core.expressions.interpreter import evaluate
from core.expressions.limits import GRADIENTS
from core.expressions.names import GRADIENT
from core.expressions.operation import RESET, Operation, Value, tensors_in
from core.language import _
from core.models.chance import alone_with_chance

DEFAULT: Final = Limits()
_READS: Final = {"grad", "requires_grad", "is_leaf", "shape", "ndim", "dtype", "data"}


def capture_program(
    source: str, tensors: Mapping[str, Tensor], limits: Limits = DEFAULT, jacobian_of: str = ""
) -> Capture:
    """Run a program about gradients and return the graph that the engine ran.

    A program that never calls `backward` has it called on its last value, if a gradient can reach
    that. An error of the program, or of torch, ends the capture and is told in it.

    Args:
        source: What the reader wrote.
        tensors: What its names stand for at first; copies are used.
        limits: Where they end the capture, what was captured until then is kept.
        jacobian_of: Id of a node whose local Jacobian is wanted; ids never change.
    """
    with alone_with_chance(), all_warnings() as told:
        session = Session(tensors, None, limits, jacobian_of)
        run = _Run(session)
        return finish(session, lambda: run.whole(source), told)


def function_of(source: str, *, is_weighted: bool = False) -> Callable[..., Tensor]:
    """Return a program as a function of its tensors: what it first calls `backward` on, or its end.

    What follows that call needs the gradients that it makes, and does not run. A gradient that is
    handed to the call weighs the elements, if asked for: it is of their weighted sum.

    Calling it raises ExpressionError as the program does, and ValueError if it gives no tensor. All
    calls of one function share the seconds of one program.
    """
    program = parse(source, GRADIENT.syntax)
    limits = replace(GRADIENTS, ends=time.monotonic() + GRADIENTS.seconds)

    def function(**leaves: Tensor) -> Tensor:
        def execute(operation: Operation, generator: torch.Generator | None) -> Value:
            if operation.call.name == "backward":
                root, weights = operation.arguments[:2]
                is_sum = is_weighted and weights is not None
                raise _RootReached((root * weights).sum() if is_sum else root)
            return operation.run(generator)

        with alone_with_chance(), warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the capture tells them
            try:
                ended = evaluate(program, leaves, limits, GRADIENT, execute)
            except _RootReached as reached:
                return reached.root
        for x in tensors_in(ended.result):
            return x
        raise ValueError(_("The program gives no tensor."))

    return function


class _RootReached(Exception):  # noqa: N818  it is no error
    def __init__(self, root: Tensor) -> None:
        super().__init__()
        self.root = root


class _Run:
    """Does the operations of a program, each in its place of the session."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._names: dict[tuple[int, str], str] = {}

    def whole(self, source: str) -> Tensor | None:
        """Run a program; return its last tensor.

        Raises:
            ExpressionError: If it is refused, by us or by torch.
            LimitReached: If the capture has used up what it may.
        """
        program = parse(source, GRADIENT.syntax)
        self._names = names_given(program)
        try:
            ended = evaluate(program, self._session.inputs, GRADIENTS, GRADIENT, self.execute)
        except ExpressionError as refused:
            self._session.printed = refused.printed
            raise
        self._session.printed = ended.printed
        result = next(reversed(list(tensors_in(ended.result))), None)
        if result is not None and result.requires_grad and not self._session.engine.passes:
            self._session.backward(result)
        return result

    def execute(self, operation: Operation, generator: torch.Generator | None) -> Value:
        """Do one operation, watched."""
        session, name = self._session, operation.call.name
        if name == "backward":
            return self._backward(operation)
        if name in _READS:
            return operation.run(generator)
        if operation.call is RESET or operation.call.writes:
            return self._write(operation, generator)
        with session.recording(operation.text, operation.span.line):
            result = operation.run(generator)
        self._note_leaves(operation, result)
        return result

    def _backward(self, operation: Operation) -> None:
        x, gradient, retain_graph, create_graph = operation.arguments
        self._session.recorder.place.line = operation.span.line
        self._session.backward(x, gradient, retain_graph=retain_graph, create_graph=create_graph)

    def _write(self, operation: Operation, generator: torch.Generator | None) -> Value:
        """Do a write, and note which leaf or which gradient it changed."""
        session, x = self._session, operation.arguments[0]
        kind, leaf = self._written(operation, x)
        before = self._seen(kind, leaf)
        with session.recording(operation.text, operation.span.line):
            result = operation.run(generator)
        session.graph.look_into(x)
        if leaf is not None:
            told: dict[str, Any] = {"before": before, "after": self._seen(kind, leaf)}
            session.moments.append(
                Moment(kind=kind, leaf=leaf, text=operation.text, backward=None, **told)
            )
        return result

    def _written(self, operation: Operation, x: Tensor) -> tuple[EventKind, Tensor | None]:
        if operation.call is RESET:
            return "reset", x
        for leaf in self._session.leaves.values():
            if leaf is x:
                return "update", leaf
            if leaf.grad is not None and leaf.grad is x:
                return "reset", leaf
        return "update", None

    def _seen(self, kind: EventKind, leaf: Tensor | None) -> TensorInfo | None:
        x = leaf.grad if leaf is not None and kind == "reset" else leaf
        return self._session.budget.info(x) if x is not None else None

    def _note_leaves(self, operation: Operation, result: Value) -> None:
        """Note leaves that a program makes itself, under the name that it gives them."""
        made = operation.inputs if operation.call.name == "requires_grad_" else tensors_in(result)
        for x in made:
            known = self._session.leaves
            if x.requires_grad and x.is_leaf and all(x is not y for y in known.values()):
                name = self._names.get((operation.span.line, operation.text), operation.text)
                name = name if name not in known else f"{name} ({operation.span.line})"
                self._session.leaves[name] = x
                self._session.first_values[name] = self._session.budget.info(x)
