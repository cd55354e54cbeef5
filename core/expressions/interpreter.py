"""A checked program, evaluated on real tensors, one operation at a time."""

import ast
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, ExitStack, nullcontext
from dataclasses import dataclass
from typing import Any, Final

import torch
from torch import Tensor

from core.expressions.dispatch import unwatched
from core.expressions.error import ExpressionError, Span
from core.expressions.evaluation import Expressions
from core.expressions.execution import Execute, Execution, run_plainly
from core.expressions.grammar import Program
from core.expressions.limits import MATERIALIZED, Limits
from core.expressions.names import LAYOUT, NAMESPACES, Profile, no_tensor
from core.expressions.operation import BINARY, IN_PLACE, INDEX, RESET, WRITE, Value
from core.expressions.syntax import PLAIN, Statement
from core.expressions.values import kind_of
from core.language import _

__all__ = ["NAMESPACES", "Evaluation", "Execute", "evaluate", "run_plainly", "unwatched"]

_BLOCKS: Final[Mapping[str, type[AbstractContextManager[Any]]]] = {
    "torch.no_grad": torch.no_grad,
    "torch.enable_grad": torch.enable_grad,
    "torch.inference_mode": torch.inference_mode,
}


@dataclass(frozen=True, kw_only=True, slots=True)
class Evaluation:
    """What a program came to.

    Attributes:
        variables: Every name at the end, those handed in too.
        result: The last statement's tensor, or tuple of tensors; where gradients are recorded, the
            last of any statement, and None if none gave one.
    """

    variables: Mapping[str, Value]
    result: Value


def evaluate(
    program: Program,
    tensors: Mapping[str, Tensor],
    limits: Limits = MATERIALIZED,
    profile: Profile = LAYOUT,
    execute: Execute = run_plainly,
    before: Callable[[int, Mapping[str, Value]], None] | None = None,
) -> Evaluation:
    """Evaluate every statement in order.

    Args:
        program: What `parse` returned.
        tensors: By name; a program that writes changes them, so hand in copies.
        limits: How much it may use.
        profile: What it may call.
        execute: Called for every operation that passed its dry run; returns its value. Where the
            profile records gradients, torch's own switch is as the program has set it, and what a
            backward pass of `create_graph` made of a leaf's gradient can be read until the end:
            then only its values are left. What `execute` does for itself, it does `unwatched`.
        before: Called before each statement with its number and the variables of then.

    Raises:
        ExpressionError: If something is not known, not allowed, too large, or refused by torch;
            what ran before has been told to `execute`.
        ValueError: If the program was parsed with the syntax of another profile.
    """
    if program.syntax not in {PLAIN, profile.syntax}:
        raise ValueError("the program was parsed with the syntax of another profile")
    execution = Execution(limits, execute, records_gradients=profile.records_gradients)
    interpreter = _Interpreter(program, dict(tensors), profile, execution)
    result: Value = None
    with torch.enable_grad() if profile.records_gradients else nullcontext():
        try:
            for number, statement in enumerate(program.statements):
                if before:
                    before(number, interpreter.variables)
                result = interpreter.do(statement)
        finally:
            execution.cut_gradients()
    if profile.records_gradients:
        return Evaluation(variables=interpreter.variables, result=interpreter.last)
    if not _is_of_tensors(result):
        message = _("The last line must give a tensor; this gives {what}.")
        span = Span.of(program.statements[-1])
        raise ExpressionError(message.format(what=kind_of(result)), span)
    return Evaluation(variables=interpreter.variables, result=result)


def _is_of_tensors(value: Value) -> bool:
    outputs = value if type(value) is tuple else (value,)
    return bool(outputs) and all(isinstance(x, Tensor) for x in outputs)


class _Interpreter:
    def __init__(
        self,
        program: Program,
        variables: dict[str, Value],
        profile: Profile,
        execution: Execution,
    ) -> None:
        self.variables, self.last = variables, None
        self._profile = profile
        self._expressions = Expressions(program, variables, profile, execution)

    def do(self, statement: Statement) -> Value:
        """Do a statement; return its value."""
        value = self._done(statement)
        if _is_of_tensors(value):
            self.last = value
        return value

    def _done(self, statement: Statement) -> Value:
        match statement:
            case ast.Expr(value=value):
                return self._expressions.value(value)
            case ast.AugAssign():
                return self._update(statement)
            case ast.With():
                return self._block(statement)
            case ast.Assign(targets=[ast.Subscript() as target]):
                return self._write(target, statement)
            case ast.Assign(targets=[ast.Attribute() as target]):
                return self._reset(target, statement)
        return self._assign(statement)

    def _assign(self, statement: ast.Assign) -> Value:
        target = statement.targets[0]
        value = self._expressions.value(statement.value)
        names = target.elts if isinstance(target, (ast.Tuple, ast.List)) else [target]
        if target is not names[0]:
            self._unpack(names, value)
        else:
            self._name(names[0], value)
        return value

    def _block(self, block: ast.With) -> Value:
        """Do the statements of a block with torch's switch as it says."""
        with ExitStack() as stack:
            for item in block.items:
                if not isinstance(item.context_expr, ast.Call):
                    raise TypeError(type(item.context_expr))  # the grammar lets only calls through
                stack.enter_context(_BLOCKS[ast.unparse(item.context_expr.func)]())
            for statement in block.body:
                if not isinstance(statement, Statement):
                    raise TypeError(type(statement))  # nor does it let anything else through
                self.do(statement)
        return None

    def _reset(self, target: ast.Attribute, statement: ast.Assign) -> Value:
        """Do `w.grad = None`."""
        x = self._tensor_of(target)
        return self._expressions.perform(RESET, (x,), statement)

    def _update(self, statement: ast.AugAssign) -> Value:
        """Do `w -= ...`: a tensor is changed in place, a number replaced, as Python does it."""
        target, operator = statement.target, type(statement.op)
        if isinstance(target, ast.Subscript):
            return self._update_elements(target, statement)
        old = self._expressions.value(target)
        new = self._expressions.value(statement.value)
        call = IN_PLACE[operator] if isinstance(old, Tensor) else BINARY[operator]
        value = self._expressions.binary(statement, call, old, new)
        if isinstance(target, ast.Name):
            self._name(target, value)
        elif not isinstance(old, Tensor):
            message = _("{name} is None; there is nothing to change in place.")
            raise ExpressionError(message.format(name=ast.unparse(target)), Span.of(target))
        return value

    def _update_elements(self, target: ast.Subscript, statement: ast.AugAssign) -> Value:
        """Do `x[i] += ...`: read the elements, change what was read, write it back, as Python."""
        x, index = self._elements(target)
        old = self._expressions.perform(INDEX, (x, index), target)
        new = self._expressions.value(statement.value)
        value = self._expressions.binary(statement, IN_PLACE[type(statement.op)], old, new)
        self._expressions.perform(WRITE, (x, index, value), statement)
        return x

    def _elements(self, target: ast.Subscript) -> tuple[Tensor, Value]:
        """Return what a subscript on the left stands for: a tensor, and where in it."""
        x = self._expressions.value(target.value)
        if not self._profile.writes_elements or not isinstance(x, Tensor):
            message = _("Elements of {what} cannot be assigned here; assign to a name.")
            raise ExpressionError(message.format(what=kind_of(x)), Span.of(target))
        return x, self._expressions.index(target.slice)

    def _tensor_of(self, node: ast.Attribute) -> Tensor:
        value = self._expressions.value(node.value)
        if not isinstance(value, Tensor):
            raise no_tensor(node, value)
        return value

    def _unpack(self, names: list[ast.expr], value: Value) -> None:
        if type(value) not in {tuple, list} or len(value) != len(names):
            message = _("There are {count} names on the left, but {what} on the right.")
            what = kind_of(value)
            raise ExpressionError(message.format(count=len(names), what=what), Span.of(names[0]))
        for name, each in zip(names, value, strict=True):
            self._name(name, each)

    def _name(self, target: ast.expr, value: Value) -> None:
        if not isinstance(target, ast.Name):
            raise TypeError(type(target))  # the grammar lets only names through
        if target.id in NAMESPACES or target.id in self._profile.functions:
            message = _(
                "{name} is the name of a function or a module; choose another name."
            ).format(name=target.id)
            raise ExpressionError(message, Span.of(target))
        self.variables[target.id] = value

    def _write(self, target: ast.Subscript, statement: ast.Assign) -> Value:
        x, index = self._elements(target)
        value = self._expressions.value(statement.value)
        if type(value) not in {int, float, bool, Tensor}:
            message = _("Only a number or a tensor can be assigned to elements, not {what}.")
            span = Span.of(statement.value)
            raise ExpressionError(message.format(what=kind_of(value)), span)
        self._expressions.perform(WRITE, (x, index, value), statement)
        return x
