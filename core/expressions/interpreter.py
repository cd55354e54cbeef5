"""A checked program, evaluated on real tensors, one operation at a time."""

import ast
from collections.abc import Mapping
from dataclasses import dataclass

from torch import Tensor

from core.expressions.error import ExpressionError, Span
from core.expressions.execution import Execute, Execution, run_plainly
from core.expressions.grammar import Program
from core.expressions.limits import MATERIALIZED, Limits
from core.expressions.names import (
    LAYOUT,
    NAMESPACES,
    Profile,
    constant,
    dotted,
    function,
    no_tensor,
    unknown,
    variable,
)
from core.expressions.operation import (
    BINARY,
    COMPARISONS,
    INDEX,
    UNARY,
    WRITE,
    Operation,
    Value,
)
from core.expressions.signature import Call
from core.expressions.values import calculated, is_index, item_of, kind_of
from core.language import _

__all__ = ["NAMESPACES", "Evaluation", "Execute", "evaluate", "run_plainly"]


@dataclass(frozen=True, kw_only=True, slots=True)
class Evaluation:
    """What a program came to.

    Attributes:
        variables: Every name at the end, those handed in too.
        result: The last statement's tensor, or tuple of tensors.
    """

    variables: Mapping[str, Value]
    result: Value


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
    execution = Execution(limits, execute)
    interpreter = _Interpreter(program, dict(tensors), profile, execution)
    result: Value = None
    for statement in program.statements:
        result = interpreter.do(statement)
    outputs = result if type(result) is tuple else (result,)
    if not outputs or not all(isinstance(x, Tensor) for x in outputs):
        message = _("The last line must give a tensor; this gives {what}.")
        span = Span.of(program.statements[-1])
        raise ExpressionError(message.format(what=kind_of(result)), span)
    return Evaluation(variables=interpreter.variables, result=result)


class _Interpreter:
    def __init__(
        self,
        program: Program,
        variables: dict[str, Value],
        profile: Profile,
        execution: Execution,
    ) -> None:
        self.variables = variables
        self._program, self._profile, self._execution = program, profile, execution

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
        x = self._value(target.value)
        if not self._profile.writes_elements or not isinstance(x, Tensor):
            message = _("Elements of {what} cannot be assigned here; assign to a name.")
            raise ExpressionError(message.format(what=kind_of(x)), Span.of(target))
        value = self._value(statement.value)
        index = self._index(target.slice)
        if type(value) not in {int, float, bool, Tensor}:
            message = _("Only a number or a tensor can be assigned to elements, not {what}.")
            span = Span.of(statement.value)
            raise ExpressionError(message.format(what=kind_of(value)), span)
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
                return variable(node, self.variables, self._profile)
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
        raise ExpressionError(_("A slice is only allowed in brackets."), Span.of(node))

    def _attribute(self, node: ast.Attribute) -> Value:
        if name := dotted(node):
            return constant(node, name)
        value = self._value(node.value)
        if not isinstance(value, Tensor):
            raise no_tensor(node, value)
        if call := self._profile.properties.get(node.attr):
            return self._perform(call, (value,), node)
        if node.attr in self._profile.methods:
            message = _("{name} is a method; call it: {name}().").format(name=node.attr)
            raise ExpressionError(message, Span.of_last(node))
        raise unknown(node, node.attr, self._profile.properties)

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

    def _callee(self, node: ast.expr) -> tuple[Call, tuple[Tensor, ...]]:
        """Return the row of what is called, and a method's tensor."""
        if isinstance(node, ast.Name) or (isinstance(node, ast.Attribute) and dotted(node)):
            return function(node, self._profile), ()
        if not isinstance(node, ast.Attribute):
            raise ExpressionError(_("This cannot be called."), Span.of(node))
        value = self._value(node.value)
        if not isinstance(value, Tensor):
            raise no_tensor(node, value)
        call = self._profile.methods.get(node.attr)
        if call is None:
            raise unknown(node, node.attr, self._profile.methods)
        return call, (value,)

    # operators

    def _binary(self, node: ast.expr, call: Call, left: Value, right: Value) -> Value:
        has_tensor = isinstance(left, Tensor) or isinstance(right, Tensor)
        if {type(left), type(right)} <= {Tensor, int, float, bool} and has_tensor:
            return self._perform(call, (left, right), node)
        if {type(left), type(right)} <= {int, float} and isinstance(node, ast.BinOp):
            return calculated(node, left, right)
        message = _("{symbol} cannot be applied to {left} and {right}.")
        words = {"symbol": call.name, "left": kind_of(left), "right": kind_of(right)}
        raise ExpressionError(message.format(**words), Span.of(node))

    def _unary(self, node: ast.expr, call: Call, value: Value) -> Value:
        if isinstance(value, Tensor):
            return self._perform(call, (value,), node)
        if type(value) in {int, float} and call.name == "-":
            return -value
        message = _("{symbol} cannot be applied to {what}.")
        words = {"symbol": call.name, "what": kind_of(value)}
        raise ExpressionError(message.format(**words), Span.of(node))

    def _indexed(self, node: ast.expr, value: Value, index: ast.expr) -> Value:
        if isinstance(value, Tensor):
            return self._perform(INDEX, (value, self._index(index)), node)
        return item_of(value, self._index(index), node)

    def _index(self, node: ast.expr) -> Value:
        """Return what stands in brackets: integers, slices, None, ..., lists, tensors."""
        if isinstance(node, ast.Tuple):
            return tuple(self._index(item) for item in node.elts)
        if isinstance(node, ast.Slice):
            ends = (node.lower, node.upper, node.step)
            return slice(*(self._end_of_slice(end) for end in ends))
        value = self._value(node)
        if not is_index(value):
            message = _("An index cannot be {what}.").format(what=kind_of(value))
            raise ExpressionError(message, Span.of(node))
        return value

    def _end_of_slice(self, node: ast.expr | None) -> int | None:
        if node is None:
            return None
        value = self._value(node)
        if value is not None and type(value) is not int:
            message = _("A slice takes integers, not {what}.").format(what=kind_of(value))
            raise ExpressionError(message, Span.of(node))
        return value

    def _perform(
        self, call: Call, arguments: tuple[Value, ...], node: ast.expr | ast.stmt
    ) -> Value:
        text = self._program.text(node)
        is_method = call.name in self._profile.methods or call.name in self._profile.properties
        span = Span.of_last(node) if is_method or call is INDEX else Span.of(node)
        operation = Operation(call=call, arguments=arguments, text=text, span=span)
        return self._execution.perform(operation)
