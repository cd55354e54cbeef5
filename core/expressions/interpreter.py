"""A checked program, evaluated on real tensors, one operation at a time."""

import ast
import math
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from types import EllipsisType
from typing import Final

import torch
from torch import Tensor

from core.expressions.dry_run import REFUSALS, Allowance
from core.expressions.error import ExpressionError, Span
from core.expressions.functions import CONSTANTS
from core.expressions.grammar import Program
from core.expressions.limits import INT64, MATERIALIZED, Limits
from core.expressions.operation import (
    BINARY,
    COMPARISONS,
    INDEX,
    UNARY,
    WRITE,
    Operation,
    Value,
    tensors_in,
)
from core.expressions.profiles import LAYOUT, Profile
from core.expressions.signature import Call
from core.language import _

NAMESPACES: Final = {"torch": "torch", "F": "F", "torch.nn.functional": "F", "einops": ""}
Execute = Callable[[Operation, torch.Generator], Value]


@dataclass(frozen=True, kw_only=True, slots=True)
class Evaluation:
    """What a program came to.

    Attributes:
        variables: Every name at the end, those handed in too.
        result: The last statement's tensor, or tuple of tensors.
    """

    variables: Mapping[str, Value]
    result: Value


def run_plainly(operation: Operation, generator: torch.Generator) -> Value:
    """Do an operation, and nothing else."""
    return operation.run(generator)


def evaluate(
    program: Program,
    tensors: Mapping[str, Tensor],
    limits: Limits = MATERIALIZED,
    profile: Profile = LAYOUT,
    execute: Execute = run_plainly,
) -> Evaluation:
    """Evaluate every statement in order.

    Args:
        program: What `parse` returned.
        tensors: By name; a program that writes changes them, so hand in copies.
        limits: How much it may use.
        profile: What it may call.
        execute: Called for every operation that passed its dry run; returns its value.

    Raises:
        ExpressionError: If something is not known, not allowed, too large, or refused by torch;
            what ran before has been told to `execute`.
    """
    interpreter = _Interpreter(program, dict(tensors), limits, profile, execute)
    result: Value = None
    for statement in program.statements:
        result = interpreter.do(statement)
    outputs = result if type(result) is tuple else (result,)
    if not outputs or not all(isinstance(x, Tensor) for x in outputs):
        message = _("The last line must give a tensor; this gives {what}.")
        span = Span.of(program.statements[-1])
        raise ExpressionError(message.format(what=_kind_of(result)), span)
    return Evaluation(variables=interpreter.variables, result=result)


class _Interpreter:
    def __init__(
        self,
        program: Program,
        variables: dict[str, Value],
        limits: Limits,
        profile: Profile,
        execute: Execute,
    ) -> None:
        self.variables = variables
        self._program, self._limits, self._profile = program, limits, profile
        self._execute = execute
        self._allowance = Allowance(limits)
        self._num_steps = 0
        self._ends = time.monotonic() + limits.seconds
        self._generator = torch.Generator().manual_seed(0)

    # statements

    def do(self, statement: ast.Expr | ast.Assign) -> Value:
        if isinstance(statement, ast.Expr):
            return self._value(statement.value)
        target = statement.targets[0]
        if isinstance(target, ast.Subscript):
            return self._write(target, statement)
        value = self._value(statement.value)
        names = target.elts if isinstance(target, (ast.Tuple, ast.List)) else [target]
        if target is not names[0]:
            self._unpack(names, value)
        else:
            self._name(names[0], value)
        return value

    def _unpack(self, names: list[ast.expr], value: Value) -> None:
        if type(value) not in {tuple, list} or len(value) != len(names):
            message = _("{count} names stand on the left; on the right is {what}.")
            what = _kind_of(value)
            raise ExpressionError(message.format(count=len(names), what=what), Span.of(names[0]))
        for name, each in zip(names, value, strict=True):
            self._name(name, each)

    def _name(self, target: ast.expr, value: Value) -> None:
        if not isinstance(target, ast.Name):
            raise TypeError(type(target))  # the grammar lets only names through
        if target.id in NAMESPACES or target.id in self._profile.functions:
            message = _("{name} is taken; choose another name.").format(name=target.id)
            raise ExpressionError(message, Span.of(target))
        self.variables[target.id] = value

    def _write(self, target: ast.Subscript, statement: ast.Assign) -> Value:
        x = self._value(target.value)
        if not self._profile.writes_elements or not isinstance(x, Tensor):
            message = _("Here nothing is written into tensors; assign to a name.")
            raise ExpressionError(message, Span.of(target))
        value = self._value(statement.value)
        index = self._index(target.slice)
        if type(value) not in {int, float, bool, Tensor}:
            message = _("A number or a tensor can be written, not {what}.")
            span = Span.of(statement.value)
            raise ExpressionError(message.format(what=_kind_of(value)), span)
        self._perform(WRITE, (x, index, value), statement)
        return x

    # expressions

    def _value(self, node: ast.expr) -> Value:
        match node:
            case ast.Constant(value=value):
                return value
            case ast.Tuple(elts=items) | ast.List(elts=items):
                values = [self._value(item) for item in items]
                return tuple(values) if isinstance(node, ast.Tuple) else values
            case ast.Name():
                return self._variable(node)
            case ast.Call():
                return self._called(node)
            case ast.Attribute():
                return self._attribute(node)
        return self._operated(node)

    def _operated(self, node: ast.expr) -> Value:
        match node:
            case ast.Subscript(value=value, slice=index):
                return self._indexed(node, self._value(value), index)
            case ast.BinOp(left=left, op=op, right=right):
                return self._binary(node, BINARY[type(op)], self._value(left), self._value(right))
            case ast.Compare(left=left, ops=[op], comparators=[right]):
                call = COMPARISONS[type(op)]
                return self._binary(node, call, self._value(left), self._value(right))
            case ast.UnaryOp(op=op, operand=operand):
                return self._unary(node, UNARY[type(op)], self._value(operand))
        raise ExpressionError(_("A slice stands only in brackets."), Span.of(node))

    def _variable(self, node: ast.Name) -> Value:
        if node.id in self.variables:
            return self.variables[node.id]
        if node.id in NAMESPACES or node.id in self._profile.functions:
            message = _("{name} is no value; call one of its functions.")
            raise ExpressionError(message.format(name=node.id), Span.of(node))
        message = _("There is no {name} here. Known: {names}.")
        names = ", ".join(sorted(self.variables)) or "-"
        raise ExpressionError(message.format(name=node.id, names=names), Span.of(node))

    def _attribute(self, node: ast.Attribute) -> Value:
        if name := _dotted(node):
            if name in CONSTANTS:
                return CONSTANTS[name]
            message = _("{name} is not among the names that can be used here.")
            raise ExpressionError(message.format(name=name), Span.of(node))
        value = self._value(node.value)
        if not isinstance(value, Tensor):
            raise self._no_tensor(node, value)
        if call := self._profile.properties.get(node.attr):
            return self._perform(call, (value,), node)
        if node.attr in self._profile.methods:
            message = _("{name} is a method; call it: {name}().").format(name=node.attr)
            raise ExpressionError(message, Span.of(node))
        raise self._unknown(node, node.attr, self._profile.properties)

    def _called(self, node: ast.Call) -> Value:
        call, own = self._callee(node.func)
        positional = [self._value(argument) for argument in node.args]
        named: dict[str, Value] = {}
        for each in node.keywords:
            name = str(each.arg)
            if name in named:
                message = _("{name} is given twice").format(name=name)
                raise ExpressionError(message, Span.of(each))
            named[name] = self._value(each.value)
        return self._perform(call, (*own, *call.bind(positional, named, node)), node)

    def _callee(self, function: ast.expr) -> tuple[Call, tuple[Tensor, ...]]:
        """Return the row of what is called, and a method's tensor."""
        if isinstance(function, ast.Name) or (
            isinstance(function, ast.Attribute) and _dotted(function)
        ):
            return self._function(function), ()
        if not isinstance(function, ast.Attribute):
            raise ExpressionError(_("This cannot be called."), Span.of(function))
        value = self._value(function.value)
        if not isinstance(value, Tensor):
            raise self._no_tensor(function, value)
        call = self._profile.methods.get(function.attr)
        if call is None:
            raise self._unknown(function, function.attr, self._profile.methods)
        return call, (value,)

    def _function(self, node: ast.Name | ast.Attribute) -> Call:
        name = node.id if isinstance(node, ast.Name) else _dotted(node)
        functions = self._profile.functions
        if name in functions:
            return functions[name]
        for written in (f"torch.{name}", f"F.{name}"):
            if written in functions:
                message = _("Write {name}.").format(name=written)
                raise ExpressionError(message, Span.of(node))
        raise self._unknown(node, name, functions)

    def _no_tensor(self, node: ast.Attribute, value: Value) -> ExpressionError:
        message = _("Only a tensor has {name}; this is {what}.")
        what = _kind_of(value)
        return ExpressionError(message.format(name=node.attr, what=what), Span.of(node))

    def _unknown(self, node: ast.expr, name: str, known: Mapping[str, Call]) -> ExpressionError:
        message = _("{name} is not among the calls that can be used here.").format(name=name)
        if near := get_close_matches(name, known, n=3):
            message += " " + _("Near to it: {names}.").format(names=", ".join(near))
        return ExpressionError(message, Span.of(node))

    # operators

    def _binary(self, node: ast.expr, call: Call, left: Value, right: Value) -> Value:
        has_tensor = isinstance(left, Tensor) or isinstance(right, Tensor)
        if {type(left), type(right)} <= {Tensor, int, float, bool} and has_tensor:
            return self._perform(call, (left, right), node)
        if {type(left), type(right)} <= {int, float} and isinstance(node, ast.BinOp):
            return _number(node, left, right)
        message = _("{symbol} stands between tensors and numbers, not {left} and {right}.")
        words = {"symbol": call.name, "left": _kind_of(left), "right": _kind_of(right)}
        raise ExpressionError(message.format(**words), Span.of(node))

    def _unary(self, node: ast.expr, call: Call, value: Value) -> Value:
        if isinstance(value, Tensor):
            return self._perform(call, (value,), node)
        if type(value) in {int, float} and call.name == "-":
            return -value
        message = _("{symbol} stands before a tensor or a number, not {what}.")
        words = {"symbol": call.name, "what": _kind_of(value)}
        raise ExpressionError(message.format(**words), Span.of(node))

    def _indexed(self, node: ast.expr, value: Value, index: ast.expr) -> Value:
        if isinstance(value, Tensor):
            return self._perform(INDEX, (value, self._index(index)), node)
        place = self._index(index)
        if type(value) not in {tuple, list} or type(place) not in {int, slice}:
            message = _("{what} cannot be indexed like this.").format(what=_kind_of(value))
            raise ExpressionError(message, Span.of(node))
        try:
            return value[place]
        except IndexError:
            message = _("There are {count} items; {index} is outside.")
            counts = {"count": len(value), "index": place}
            raise ExpressionError(message.format(**counts), Span.of(node)) from None

    def _index(self, node: ast.expr) -> Value:
        """Return what stands in brackets: integers, slices, None, ..., lists, tensors."""
        if isinstance(node, ast.Tuple):
            return tuple(self._index(item) for item in node.elts)
        if isinstance(node, ast.Slice):
            ends = (node.lower, node.upper, node.step)
            return slice(*(self._end_of_slice(end) for end in ends))
        value = self._value(node)
        if not _is_index(value):
            message = _("{what} is no index.").format(what=_kind_of(value))
            raise ExpressionError(message, Span.of(node))
        return value

    def _end_of_slice(self, node: ast.expr | None) -> int | None:
        if node is None:
            return None
        value = self._value(node)
        if value is not None and type(value) is not int:
            message = _("A slice takes integers, not {what}.").format(what=_kind_of(value))
            raise ExpressionError(message, Span.of(node))
        return value

    # real tensors

    def _perform(
        self, call: Call, arguments: tuple[Value, ...], node: ast.expr | ast.stmt
    ) -> Value:
        text = self._program.text(node)
        operation = Operation(call=call, arguments=arguments, text=text, span=Span.of(node))
        self._check_effort(operation)
        try:
            self._allowance.check(operation)
        except REFUSALS as error:
            if isinstance(error, ExpressionError):
                raise
            refused: Exception | None = error
        else:
            refused = None
        try:
            with torch.no_grad():
                result = self._execute(operation, self._generator)
        except REFUSALS as error:
            raise _refusal(operation, error) from None
        if refused is not None:
            self._allowance.check_result(operation, result)
        return result

    def _check_effort(self, operation: Operation) -> None:
        self._num_steps += 1
        if self._num_steps > self._limits.num_steps:
            message = _("More than {limit} steps; shorten the program.")
            limit = self._limits.num_steps
            raise ExpressionError(message.format(limit=limit), operation.span)
        if time.monotonic() > self._ends:
            message = _("The program took longer than {seconds} s.")
            raise ExpressionError(message.format(seconds=self._limits.seconds), operation.span)


def _refusal(operation: Operation, error: Exception) -> ExpressionError:
    if isinstance(error, ExpressionError):
        return error
    message = _("{call} is refused.").format(call=operation.call.name)
    return ExpressionError(message, operation.span, torch_message=str(error))


def _number(node: ast.BinOp, left: float, right: float) -> int | float:
    """Return the result of plain arithmetic on sizes."""
    if isinstance(node.op, (ast.Add, ast.Sub, ast.Mult, ast.Div, ast.FloorDiv, ast.Mod)):
        try:
            result = BINARY[type(node.op)].run(left, right)
        except (ZeroDivisionError, OverflowError):
            raise ExpressionError(
                _("This divides by zero or is too large."), Span.of(node)
            ) from None
        if math.isfinite(result) and abs(result) <= INT64:
            return result  # type: ignore[no-any-return]
    raise ExpressionError(_("Write the number itself."), Span.of(node))


def _dotted(node: ast.expr) -> str:
    """Return "torch.arange" of a name in a namespace; empty of everything else."""
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    if not (isinstance(node, ast.Name) and node.id in NAMESPACES and parts):
        return ""
    *inner, name = [node.id, *reversed(parts)]
    namespace = NAMESPACES.get(".".join(inner), ".".join(inner))
    return f"{namespace}.{name}" if namespace else name


def _is_index(value: Value) -> bool:
    if type(value) is list:
        return all(_is_index(each) and type(each) is not EllipsisType for each in value)
    if type(value) is Tensor:
        return not value.is_floating_point()
    return value is None or type(value) in {int, bool, EllipsisType, slice}


def _kind_of(value: Value) -> str:
    """Return what a value is, in the reader's language."""
    if type(value) in {tuple, list}:
        is_of_tensors = bool(value) and all(type(each) is Tensor for each in tensors_in(value))
        return _("a list of {count}").format(count=len(value)) if is_of_tensors else _("a list")
    words = {
        Tensor: _("a tensor"),
        int: _("an integer"),
        float: _("a number"),
        bool: _("True or False"),
        str: _("a text"),
        type(None): "None",
        EllipsisType: "...",
        slice: _("a slice"),
    }
    return words.get(type(value), _("a name of PyTorch"))
