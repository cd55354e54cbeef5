"""What an expression comes to: one operation after the other, as Python orders them."""

import ast
from collections.abc import Mapping

from torch import Tensor

from core.expressions.error import ExpressionError, Span
from core.expressions.execution import Execution
from core.expressions.grammar import Program
from core.expressions.names import (
    Profile,
    constant,
    dotted,
    function,
    no_tensor,
    unknown,
    variable,
)
from core.expressions.operation import BINARY, COMPARISONS, INDEX, UNARY, Operation, Value
from core.expressions.signature import Call
from core.expressions.values import calculated, check_list, is_index, item_of, kind_of
from core.language import _


class Expressions:
    """Evaluates expressions with the variables that there are at the time."""

    def __init__(
        self,
        program: Program,
        variables: Mapping[str, Value],
        profile: Profile,
        execution: Execution,
    ) -> None:
        self._program, self._variables = program, variables
        self._profile, self._execution = profile, execution

    def value(self, node: ast.expr) -> Value:
        """Return what an expression comes to."""
        self._execution.check_time(Span.of(node))
        match node:
            case ast.Constant(value=value):
                return value
            case ast.Tuple(elts=items) | ast.List(elts=items):
                values = [self.value(item) for item in items]
                check_list(values, node)
                return tuple(values) if isinstance(node, ast.Tuple) else values
            case ast.Name():
                return variable(node, self._variables, self._profile)
            case ast.Call():
                return self._called(node)
            case ast.Attribute():
                return self.attribute(node)
        return self._operated(node)

    def _operated(self, node: ast.expr) -> Value:
        match node:
            case ast.Subscript(value=value, slice=index):
                return self._indexed(node, self.value(value), index)
            case ast.BinOp(left=left, op=op, right=right):
                return self.binary(node, BINARY[type(op)], self.value(left), self.value(right))
            case ast.Compare(left=left, ops=[op], comparators=[right]):
                call = COMPARISONS[type(op)]
                return self.binary(node, call, self.value(left), self.value(right))
            case ast.UnaryOp(op=op, operand=operand):
                return self._unary(node, UNARY[type(op)], self.value(operand))
        raise ExpressionError(_("A slice is only allowed in brackets."), Span.of(node))

    def attribute(self, node: ast.Attribute) -> Value:
        """Return a property of a tensor, or what a dotted name stands for."""
        if name := dotted(node):
            return constant(node, name)
        value = self.value(node.value)
        if not isinstance(value, Tensor):
            raise no_tensor(node, value)
        if call := self._profile.properties.get(node.attr):
            return self.perform(call, (value,), node)
        if node.attr in self._profile.methods:
            message = _("{name} is a method; call it: {name}().").format(name=node.attr)
            raise ExpressionError(message, Span.of_last(node))
        raise unknown(node, node.attr, self._profile.properties)

    def _called(self, node: ast.Call) -> Value:
        call, own = self._callee(node.func)
        positional = [self.value(argument) for argument in node.args]
        named: dict[str, Value] = {}
        for each in node.keywords:
            name = str(each.arg)
            if name in named:
                message = _("{name} is given twice").format(name=name)
                raise ExpressionError(message, Span.of(each))
            named[name] = self.value(each.value)
        return self.perform(call, (*own, *call.bind(positional, named, node)), node)

    def _callee(self, node: ast.expr) -> tuple[Call, tuple[Tensor, ...]]:
        """Return the row of what is called, and a method's tensor."""
        if isinstance(node, ast.Name) or (isinstance(node, ast.Attribute) and dotted(node)):
            return function(node, self._profile), ()
        if not isinstance(node, ast.Attribute):
            raise ExpressionError(_("This cannot be called."), Span.of(node))
        value = self.value(node.value)
        if not isinstance(value, Tensor):
            raise no_tensor(node, value)
        call = self._profile.methods.get(node.attr)
        if call is None:
            raise unknown(node, node.attr, self._profile.methods)
        return call, (value,)

    # operators

    def binary(
        self, node: ast.expr | ast.AugAssign, call: Call, left: Value, right: Value
    ) -> Value:
        """Return what an operator gives, of tensors or of plain numbers."""
        has_tensor = isinstance(left, Tensor) or isinstance(right, Tensor)
        if {type(left), type(right)} <= {Tensor, int, float, bool} and has_tensor:
            return self.perform(call, (left, right), node)
        are_plain = {type(left), type(right)} <= {int, float}
        if are_plain and isinstance(node, (ast.BinOp, ast.AugAssign)):
            return calculated(node, left, right)
        message = _("{symbol} cannot be applied to {left} and {right}.")
        words = {"symbol": call.name, "left": kind_of(left), "right": kind_of(right)}
        raise ExpressionError(message.format(**words), Span.of(node))

    def _unary(self, node: ast.expr, call: Call, value: Value) -> Value:
        if isinstance(value, Tensor):
            return self.perform(call, (value,), node)
        if type(value) in {int, float} and call.name == "-":
            return -value
        message = _("{symbol} cannot be applied to {what}.")
        words = {"symbol": call.name, "what": kind_of(value)}
        raise ExpressionError(message.format(**words), Span.of(node))

    def _indexed(self, node: ast.expr, value: Value, index: ast.expr) -> Value:
        if isinstance(value, Tensor):
            return self.perform(INDEX, (value, self.index(index)), node)
        return item_of(value, self.index(index), node)

    def index(self, node: ast.expr) -> Value:
        """Return what stands in brackets: integers, slices, None, ..., lists, tensors."""
        if isinstance(node, ast.Tuple):
            values = tuple(self.index(item) for item in node.elts)
            check_list(values, node)
            return values
        if isinstance(node, ast.Slice):
            ends = (node.lower, node.upper, node.step)
            return slice(*(self._end_of_slice(end) for end in ends))
        value = self.value(node)
        if not is_index(value):
            message = _("An index cannot be {what}.").format(what=kind_of(value))
            raise ExpressionError(message, Span.of(node))
        return value

    def _end_of_slice(self, node: ast.expr | None) -> int | None:
        if node is None:
            return None
        value = self.value(node)
        if value is not None and type(value) is not int:
            message = _("A slice takes integers, not {what}.").format(what=kind_of(value))
            raise ExpressionError(message, Span.of(node))
        return value

    def perform(self, call: Call, arguments: tuple[Value, ...], node: ast.expr | ast.stmt) -> Value:
        """Have an operation done."""
        text = self._program.text(node)
        is_method = call.name in self._profile.methods or call.name in self._profile.properties
        span = Span.of_last(node) if is_method or call is INDEX else Span.of(node)
        operation = Operation(call=call, arguments=arguments, text=text, span=span)
        return self._execution.perform(operation)
