"""A checked program, evaluated on real tensors, one operation at a time."""

import ast
import math
import operator
import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, nullcontext, suppress
from dataclasses import dataclass
from types import EllipsisType
from typing import Any, Final

import torch
from torch import Tensor

from core.expressions.dispatch import unwatched
from core.expressions.error import ExpressionError, Span
from core.expressions.execution import Execute, Execution
from core.expressions.grammar import PLAIN, Program, Statement
from core.expressions.limits import INT64, MATERIALIZED, MAX_LEVELS, MAX_VALUES, Limits
from core.expressions.names import (
    LAYOUT,
    NAMESPACES,
    Profile,
    constant,
    dotted,
    function,
    kind_of,
    no_tensor,
    unknown,
    variable,
)
from core.expressions.operation import (
    BINARY,
    COMPARISONS,
    IN_PLACE,
    INDEX,
    RESET,
    UNARY,
    WRITE,
    Operation,
    Value,
    tensors_in,
)
from core.expressions.signature import Call
from core.language import _

# What torch names in the pairs that `max`, `topk` and `sort` give.
_PARTS: Final = {"values": 0, "indices": 1}
INT64_BITS: Final = 64
_FORMAT: Final = re.compile(r"[<>^]?\d{0,2}(?:\.\d{1,2})?[defgs%]?")
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
        result: The last tensor, or tuple of tensors, that a statement gave; without any, the last
            that was printed; None where gradients are recorded and no statement gave one.
        num_statements: Up to the one that gave the result; all of them if none did.
        printed: What the program prints, and what its last line is where that is no tensor.
    """

    variables: Mapping[str, Value]
    result: Value
    printed: tuple[str, ...]
    num_statements: int


def evaluate(
    program: Program,
    tensors: Mapping[str, Tensor],
    limits: Limits = MATERIALIZED,
    profile: Profile = LAYOUT,
    execute: Execute = Operation.run,
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
    num_statements = 0
    with torch.enable_grad() if profile.records_gradients else nullcontext():
        try:
            for number, statement in enumerate(program.statements):
                if before:
                    before(number, interpreter.variables)
                value = interpreter.do(statement)
                num_statements = number + 1 if _is_of_tensors(value) else num_statements
            interpreter.show_last(value)
        except ExpressionError as refused:
            refused.printed = tuple(interpreter.printed)
            raise
        finally:
            execution.cut_gradients()
    result = interpreter.last
    if result is None and not profile.records_gradients:
        result = interpreter.shown
    if result is None and not profile.records_gradients:
        message = _("The last line must give a tensor; this gives {what}.")
        span = Span.of(program.statements[-1])
        raise ExpressionError(message.format(what=kind_of(value)), span)
    return Evaluation(
        variables=interpreter.variables,
        result=result,
        printed=tuple(interpreter.printed),
        num_statements=num_statements or len(program.statements),
    )


def _is_of_tensors(value: Value) -> bool:
    outputs = value if isinstance(value, tuple) else (value,)
    return bool(outputs) and all(isinstance(x, Tensor) for x in outputs)


class _Interpreter:
    def __init__(
        self, program: Program, variables: dict[str, Value], profile: Profile, execution: Execution
    ) -> None:
        self.variables = variables
        self.last: Value = None  # of the statements' values
        self.shown: Value = None  # of what was printed
        self.printed: list[str] = []
        self._program, self._profile, self._execution = program, profile, execution

    def show_last(self, value: Value) -> None:
        """Show what the last line is, as Python's own prompt does."""
        last = self._program.statements[-1]
        if isinstance(last, ast.Expr) and value is not None and not _is_of_tensors(value):
            self._tell((value,), last)

    def _print(self, node: ast.Call) -> None:
        """Show values as Python's `print`, which gives nothing."""
        if node.keywords:
            message = _("print takes what it shows, and nothing by its name.")
            raise ExpressionError(message, Span.of(node.keywords[0]))
        values = self._given(node)
        self._tell(values, node)
        if _is_of_tensors(tuple(values)):
            self.shown = values[-1]

    def _tell(self, values: Sequence[Value], node: ast.expr | ast.stmt) -> None:
        self._execution.check_written(values, Span.of(node))
        with unwatched():
            self.printed.append(" ".join(map(str, values)))

    def do(self, statement: Statement) -> Value:
        value = self._done(statement)
        if _is_of_tensors(value):
            self.last = value
        return value

    def _done(self, statement: Statement) -> Value:
        match statement:
            case ast.Expr(value=value):
                return self._value(value)
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
        value = self._value(statement.value)
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
        return self._perform(RESET, (self._tensor_before(target),), statement)

    def _update(self, statement: ast.AugAssign) -> Value:
        """Do `w -= ...`: a tensor is changed in place, a number replaced, as Python does it."""
        target, operator = statement.target, type(statement.op)
        if isinstance(target, ast.Subscript):
            return self._update_elements(target, statement)
        old = self._value(target)
        new = self._value(statement.value)
        call = IN_PLACE[operator] if isinstance(old, Tensor) else BINARY[operator]
        value = self._binary(statement, call, old, new)
        if isinstance(target, ast.Name):
            self._name(target, value)
        elif not isinstance(old, Tensor):
            message = _("{name} is None; there is nothing to change in place.")
            raise ExpressionError(message.format(name=ast.unparse(target)), Span.of(target))
        return value

    def _update_elements(self, target: ast.Subscript, statement: ast.AugAssign) -> Value:
        """Do `x[i] += ...`: read the elements, change what was read, write it back, as Python."""
        x, index = self._elements(target)
        old = self._perform(INDEX, (x, index), target)
        new = self._value(statement.value)
        value = self._binary(statement, IN_PLACE[type(statement.op)], old, new)
        self._perform(WRITE, (x, index, value), statement)
        return x

    def _elements(self, target: ast.Subscript) -> tuple[Tensor, Value]:
        """Return what a subscript on the left stands for: a tensor, and where in it."""
        x = self._value(target.value)
        if not self._profile.writes_elements or not isinstance(x, Tensor):
            message = _("Elements of {what} cannot be assigned here; assign to a name.")
            raise ExpressionError(message.format(what=kind_of(x)), Span.of(target))
        return x, self._index(target.slice)

    def _tensor_before(self, node: ast.Attribute) -> Tensor:
        """Return the tensor that something is asked of."""
        value = self._value(node.value)
        if not isinstance(value, Tensor):
            raise no_tensor(node, value)
        return value

    def _unpack(self, names: list[ast.expr], value: Value) -> None:
        if not isinstance(value, tuple | list) or len(value) != len(names):
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
        value = self._value(statement.value)
        if type(value) not in {int, float, bool, Tensor}:
            message = _("Only a number or a tensor can be assigned to elements, not {what}.")
            span = Span.of(statement.value)
            raise ExpressionError(message.format(what=kind_of(value)), span)
        self._perform(WRITE, (x, index, value), statement)
        return x

    # expressions

    def _value(self, node: ast.expr) -> Value:
        """Return what an expression comes to."""
        self._execution.check_time(Span.of(node))
        match node:
            case ast.Constant(value=value):
                return value
            case ast.Tuple(elts=items) | ast.List(elts=items):
                values = [self._value(item) for item in items]
                _check_list(values, node)
                return tuple(values) if isinstance(node, ast.Tuple) else values
            case ast.Name():
                return variable(node, self.variables, self._profile)
            case ast.Call():
                return self._called(node)
            case ast.Attribute():
                return self._attribute(node)
        return self._operated(node)

    def _written(self, part: ast.expr) -> str:
        """Return a part of an f-string as Python writes it; none is wider than a line."""
        if not isinstance(part, ast.FormattedValue):
            return str(self._value(part))
        value, span = self._value(part.value), Span.of(part.value)
        form = str(self._value(part.format_spec)) if part.format_spec else ""
        self._execution.check_written((value,), span)
        with suppress(TypeError, ValueError), unwatched():
            if _FORMAT.fullmatch(form):
                return format(value, form)
        raise ExpressionError(_("This cannot be written as {form}.").format(form=form), span)

    def _operated(self, node: ast.expr) -> Value:
        match node:
            case ast.JoinedStr(values=parts):
                return "".join(map(self._written, parts))
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
        """Return a property of a tensor, or what a dotted name stands for."""
        if name := dotted(node):
            return constant(node, name)
        value = self._value(node.value)
        if type(value).__module__ == "torch.return_types" and node.attr in _PARTS:
            return value[_PARTS[node.attr]]
        if not isinstance(value, Tensor):
            raise no_tensor(node, value)
        if call := self._profile.properties.get(node.attr):
            return self._perform(call, (value,), node)
        if node.attr in self._profile.methods:
            message = _("{name} is a method; call it: {name}().").format(name=node.attr)
            raise ExpressionError(message, Span.of_last(node))
        raise unknown(node, node.attr, self._profile.properties)

    def _called(self, node: ast.Call) -> Value:
        if isinstance(node.func, ast.Name) and node.func.id == "print":
            self._print(node)
            return None
        call, own = self._callee(node.func)
        positional = self._given(node)
        named: dict[str, Value] = {}
        for each in node.keywords:
            name = str(each.arg)
            if name in named:
                message = _("{name} is given twice").format(name=name)
                raise ExpressionError(message, Span.of(each))
            named[name] = self._value(each.value)
        return self._perform(call, (*own, *call.bind(positional, named, node)), node)

    def _given(self, node: ast.Call) -> list[Value]:
        """Return what a call is given by its place; `*x.shape` are several."""
        values: list[Value] = []
        for each in node.args:
            value = self._value(each.value if isinstance(each, ast.Starred) else each)
            if isinstance(each, ast.Starred) and not isinstance(value, tuple | list):
                message = _("Only a list can be unpacked with *, not {what}.")
                raise ExpressionError(message.format(what=kind_of(value)), Span.of(each))
            values += value if isinstance(each, ast.Starred) else [value]
        if any(isinstance(each, ast.Starred) for each in node.args):
            _check_list(values, node)
        return values

    def _callee(self, node: ast.expr) -> tuple[Call, tuple[Tensor, ...]]:
        """Return the row of what is called, and a method's tensor."""
        if isinstance(node, ast.Name) or (isinstance(node, ast.Attribute) and dotted(node)):
            return function(node, self._profile), ()
        if not isinstance(node, ast.Attribute):
            raise ExpressionError(_("This cannot be called."), Span.of(node))
        value = self._tensor_before(node)
        call = self._profile.methods.get(node.attr)
        if call is None:
            raise unknown(node, node.attr, self._profile.methods)
        return call, (value,)

    # operators

    def _binary(
        self, node: ast.expr | ast.AugAssign, call: Call, left: Value, right: Value
    ) -> Value:
        """Return what an operator gives, of tensors or of plain numbers."""
        has_tensor = isinstance(left, Tensor) or isinstance(right, Tensor)
        if {type(left), type(right)} <= {Tensor, int, float, bool} and has_tensor:
            return self._perform(call, (left, right), node)
        if isinstance(node, ast.Compare) and not list(tensors_in([left, right])):
            return _compared(node, call, left, right)
        are_lists = any(
            isinstance(left, kind) and isinstance(right, kind) for kind in (tuple, list)
        )
        if are_lists and call is BINARY[ast.Add]:
            _check_list([left, right], node)
            return left + right
        are_plain = {type(left), type(right)} <= {int, float}
        if are_plain and isinstance(node, (ast.BinOp, ast.AugAssign)):
            return _calculated(node, left, right)
        raise _inapplicable(node, call, left, right)

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
        return _item_of(value, self._index(index), node)

    def _index(self, node: ast.expr) -> Value:
        """Return what stands in brackets: integers, slices, None, ..., lists, tensors."""
        if isinstance(node, ast.Tuple):
            values = tuple(self._index(item) for item in node.elts)
            _check_list(values, node)
            return values
        if isinstance(node, ast.Slice):
            ends = (node.lower, node.upper, node.step)
            return slice(*(self._end_of_slice(end) for end in ends))
        value = self._value(node)
        if not _is_index(value):
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
        """Have an operation done."""
        text = self._program.text(node)
        is_method = call.name in self._profile.methods or call.name in self._profile.properties
        span = Span.of_last(node) if is_method or call is INDEX else Span.of(node)
        operation = Operation(call=call, arguments=arguments, text=text, span=span)
        return self._execution.perform(operation)


def _is_index(value: Value) -> bool:
    """Whether it may stand alone in the brackets behind a tensor."""
    if type(value) is list:
        return all(type(each) in {int, bool} or type(each) is list for each in value)
    if type(value) is Tensor:
        return not value.is_floating_point()
    return value is None or type(value) in {int, bool, EllipsisType, slice}


def _check_list(items: Sequence[Value], node: ast.expr | ast.stmt) -> None:
    """Count what a new list holds: names in lists multiply, and later walks go through all."""
    count, waiting = 0, [(items, 1)]
    while waiting:
        values, level = waiting.pop()
        count += len(values)
        if count > MAX_VALUES:
            message = _("A list may hold at most {limit} values, with those of the lists in it.")
            raise ExpressionError(message.format(limit=f"{MAX_VALUES:,}"), Span.of(node))
        if level > MAX_LEVELS:
            message = _("Lists may be nested at most {limit} deep.").format(limit=MAX_LEVELS)
            raise ExpressionError(message, Span.of(node))
        waiting += [(each, level + 1) for each in values if isinstance(each, tuple | list)]


def _calculated(node: ast.BinOp | ast.AugAssign, left: float, right: float) -> int | float:
    """Return the result of plain arithmetic on sizes; refuse one beyond int64."""
    if isinstance(node.op, ast.MatMult | ast.BitAnd | ast.BitOr):
        message = _("Between numbers, only +, -, *, /, //, % and ** are supported.")
        raise ExpressionError(message, Span.of(node))
    is_whole = type(left) is type(right) is int and 0 <= right < INT64_BITS
    power = operator.pow if is_whole else math.pow  # of whole numbers, never one with many digits
    run = power if isinstance(node.op, ast.Pow) else BINARY[type(node.op)].run
    try:
        result: int | float = run(left, right)
    except (ZeroDivisionError, OverflowError, ValueError):
        result = math.inf
    is_given = not (math.isfinite(left) and math.isfinite(right))  # as torch.inf
    if is_given or (math.isfinite(result) and abs(result) <= INT64):
        return result
    raise ExpressionError(_("This divides by zero, or its result is too large."), Span.of(node))


def _compared(node: ast.Compare, call: Call, left: Value, right: Value) -> bool:
    try:
        return bool(call.run(left, right))
    except TypeError:
        raise _inapplicable(node, call, left, right) from None


def _inapplicable(
    node: ast.expr | ast.stmt, call: Call, left: Value, right: Value
) -> ExpressionError:
    message = _("{symbol} cannot be applied to {left} and {right}.")
    words = {"symbol": call.name, "left": kind_of(left), "right": kind_of(right)}
    return ExpressionError(message.format(**words), Span.of(node))


def _item_of(value: Value, place: Value, node: ast.expr) -> Value:
    """Return an item or a part of a list."""
    if not isinstance(value, tuple | list) or type(place) not in {int, slice}:
        message = _("Only tensors and lists can be indexed, not {what}.").format(
            what=kind_of(value)
        )
        raise ExpressionError(message, Span.of(node))
    try:
        return value[place]
    except IndexError:
        message = _("Index {index} is out of range: the list has {count} items.")
        counts = {"count": len(value), "index": place}
        raise ExpressionError(message.format(**counts), Span.of(node)) from None
    except ValueError:
        raise ExpressionError(_("The step of a slice cannot be 0."), Span.of(node)) from None
