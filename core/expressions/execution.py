"""Operations done one by one, each after a dry run, within the limits of a program.

A dry run is the operation on tensors without data: shapes, bytes and FLOPs are known before
anything is allocated.
"""

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from functools import cache
from typing import Any, Final

import torch
from einops import EinopsError
from torch import Tensor

from core.expressions.dispatch import Watching, storage_id
from core.expressions.error import ExpressionError, Span
from core.expressions.limits import MAX_VALUES, Limits
from core.expressions.methods import GRADIENT_METHODS, NUM_PARTS
from core.expressions.operation import INDEX, WRITE, Operation, Value, tensors_in
from core.language import _
from core.units import format_bytes, format_exact

Execute = Callable[[Operation, torch.Generator | None], Value]
# What torch and einops raise where a call cannot be: shapes, indices, dtypes, patterns. Parts of
# torch that are written in Python assert; a number may be too large for its C++.
_REFUSALS: Final = (
    *(RuntimeError, ValueError, IndexError, TypeError, AssertionError, OverflowError),
    EinopsError,
)
_MASKS: Final = {torch.bool, torch.uint8}  # whose values an index reads


@cache
def load_checks() -> None:
    """Load what torch checks shapes with, at a first product: seconds that no program shall pay."""
    x = torch.empty((1, 1), device="meta")
    x.mm(x)


class Execution:
    """Does what a program asks for, and counts steps, seconds and bytes."""

    def __init__(
        self, limits: Limits, execute: Execute, *, records_gradients: bool = False
    ) -> None:
        self._limits, self._execute = limits, execute
        self._switch = nullcontext if records_gradients else torch.no_grad
        self._records_gradients = records_gradients
        self._with_grad: list[Tensor] = []
        self._num_steps = self._num_bytes = 0
        load_checks()
        self._ends = limits.ends or time.monotonic() + limits.seconds
        self._generator = None if limits.on_meta else torch.Generator().manual_seed(0)
        self._device = torch.device("meta") if limits.on_meta else nullcontext()

    def perform(self, operation: Operation) -> Value:
        """Return what an operation gives.

        Raises:
            ExpressionError: If it passes a limit, or torch refuses it.
        """
        self._num_steps += 1
        if self._num_steps > self._limits.num_steps:
            message = _("More than {limit} steps; shorten the program.")
            _refuse(operation, message, limit=self._limits.num_steps)
        self.check_time(operation.span)
        if operation.call.is_written_out:
            self.check_written(operation.arguments, operation.span)
        if self._records_gradients:
            self._remember(operation)
        if operation.call.is_stateful:  # no dry run foretells it: it is counted as it runs
            with self._counting(operation, is_timed=True):
                return self._run(operation)
        was_refused = False
        try:
            self._foretell(operation)
        except ExpressionError:
            raise
        except _REFUSALS:
            was_refused = True
        result = self._run(operation)
        if was_refused or operation.reads_values:
            self._check_result(operation, result)
        return result

    def _run(self, operation: Operation) -> Value:
        try:
            with self._switch(), self._device:  # what a program makes has no data either
                return self._execute(operation, self._generator)
        except ExpressionError:
            raise
        except _REFUSALS as error:
            message = _("{call} is refused.").format(call=operation.call.name)
            raise ExpressionError(message, operation.span, torch_message=str(error)) from None

    def check_time(self, span: Span) -> None:
        """Refuse what comes after the program's seconds."""
        if time.monotonic() > self._ends:
            message = _("The program took longer than {seconds} s.")
            raise ExpressionError(message.format(seconds=self._limits.seconds), span)

    def check_written(self, values: Value, span: Span) -> None:
        """Refuse to write out more elements than can be read."""
        count = sum(x.numel() for x in tensors_in(values))
        if count > MAX_VALUES:
            message = _("{count} elements are too many to write out; the limit is {limit}.")
            counts = {"count": format_exact(count), "limit": format_exact(MAX_VALUES)}
            raise ExpressionError(message.format(**counts), span)

    # gradients

    def _remember(self, operation: Operation) -> None:
        """Remember what may hold a gradient at the end, whatever its name stands for then."""
        keeps = operation.call is GRADIENT_METHODS["retain_grad"]
        self._with_grad += [x for x in operation.inputs if keeps or x.is_leaf]

    def cut_gradients(self) -> None:
        """Take the graph away from each `.grad`, and leave its values.

        `create_graph` makes a circle of a leaf, its gradient and the graph, which nothing else
        would ever free.
        """
        for x in self._with_grad:
            if (x.is_leaf or x.retains_grad) and x.grad is not None and x.grad.requires_grad:
                x.grad = x.grad.detach()

    # limits

    def _foretell(self, operation: Operation) -> None:
        """Run an operation on `meta` and count; refuse it if it would pass a limit."""
        count_parts = NUM_PARTS.get(operation.call.name)
        if count_parts:  # before torch makes each of them
            self._check_num_outputs(operation, count_parts(*operation.arguments))
        if operation.call is WRITE:  # as many elements as may be read may be written
            self._foretell(replace(operation, call=INDEX, arguments=operation.arguments[:2]))
        if operation.reads_values:
            self._check_unknown(operation)
            return
        if operation.call is INDEX and (read := read_by(operation.arguments[1])):
            self._check_coordinates(operation, read)
            x, index = operation.arguments
            operation = replace(operation, arguments=(x, with_coordinates(index)))
        shadows = tuple(shadow(value) for value in operation.arguments)
        chance = (None,) if operation.call.is_random else ()
        with self._counting(operation), torch.no_grad(), torch.device("meta"):
            self._check_result(operation, operation.call.run(*shadows, *chance))

    @contextmanager
    def _counting(self, operation: Operation, *, is_timed: bool = False) -> Iterator[None]:
        """Add up bytes and FLOPs as an operation runs, hidden copies too, up to the limit."""
        num_bytes = num_flops = num_calls = 0

        def tell(
            _func: object, inputs: Sequence[Tensor], outputs: Sequence[Tensor], n: int
        ) -> None:
            nonlocal num_bytes, num_flops, num_calls
            if is_timed:
                self.check_time(operation.span)
            num_calls += 1
            if num_calls > self._limits.num_calls:
                message = _("This takes more than {limit} calls of PyTorch underneath; shorten it.")
                _refuse(operation, message, limit=format_exact(self._limits.num_calls))
            known = {storage_id(x) for x in inputs}
            made = [x for x in outputs if storage_id(x) not in known]
            num_bytes += sum(x.untyped_storage().nbytes() for x in made)
            num_flops += n
            self._check_work(operation, num_bytes, num_flops)

        with Watching(tell):
            yield
        self._num_bytes += num_bytes

    def _check_num_outputs(self, operation: Operation, count: int) -> None:
        """Refuse more tensors than can be shown."""
        limit = self._limits.num_outputs
        if count > limit:
            message = _("This gives {count} tensors; at most {limit} can be shown.")
            _refuse(operation, message, count=format_exact(count), limit=limit)

    def _check_result(self, operation: Operation, result: Value) -> None:
        """Refuse more outputs, dimensions or elements than can be shown."""
        outputs = list(tensors_in(result))
        self._check_num_outputs(operation, len(outputs))
        for x in outputs:
            self._check_size(operation, x)

    def _check_size(self, operation: Operation, x: Tensor) -> None:
        if x.ndim > self._limits.rank:
            message = _("The result has {rank} dimensions; at most {limit} can be drawn.")
            _refuse(operation, message, rank=x.ndim, limit=self._limits.rank)
        if x.numel() > self._limits.num_elements:
            message = _(
                "The result has {count} elements; at most {limit} are computed here. With a "
                "larger x, only shapes and bytes are computed, without data."
            )
            limit = format_exact(self._limits.num_elements)
            _refuse(operation, message, count=format_exact(x.numel()), limit=limit)

    def _check_work(self, operation: Operation, num_bytes: int, num_flops: int) -> None:
        """Refuse what would take too much memory or time."""
        if self._num_bytes + num_bytes > self._limits.num_bytes:
            message = _("The program would allocate {size} up to this step; the limit is {limit}.")
            size = format_bytes(self._num_bytes + num_bytes)
            _refuse(operation, message, size=size, limit=format_bytes(self._limits.num_bytes))
        if num_flops > self._limits.flops:
            message = _("This product takes {count} FLOPs; the limit here is {limit}.")
            limit = format_exact(self._limits.flops)
            _refuse(operation, message, count=format_exact(num_flops), limit=limit)

    def _check_unknown(self, operation: Operation) -> None:
        """Bound what only the values decide: all elements, if every one is taken."""
        self._check_coordinates(operation, operation.inputs)
        shape = torch.broadcast_shapes(*(x.shape for x in operation.inputs))
        self._check_size(operation, torch.empty((), device="meta").expand(shape))

    def _check_coordinates(self, operation: Operation, tensors: Sequence[Tensor]) -> None:
        """Count 8 bytes for each coordinate of each element, as if all were taken."""
        if self._limits.on_meta:
            message = _(
                "The shape of the result depends on the values; tensors as large as x "
                "have none here."
            )
            _refuse(operation, message)
        num_bytes = sum(8 * max(x.ndim, 1) * x.numel() for x in tensors)
        self._check_work(operation, num_bytes, 0)
        self._num_bytes += num_bytes


def _refuse(operation: Operation, message: str, **values: Any) -> None:  # noqa: ANN401
    raise ExpressionError(message.format(**values), operation.span)


def shadow(value: Value) -> Value:
    """Return the value with tensors that have shape, strides, offset and dtype, but no data."""
    if isinstance(value, Tensor) and not value.is_meta:
        num_elements = value.untyped_storage().nbytes() // value.element_size()
        storage = torch.empty(num_elements, dtype=value.dtype, device="meta")
        return storage.as_strided(value.shape, value.stride(), value.storage_offset())
    if isinstance(value, tuple | list):
        parts = [shadow(each) for each in value]
        return parts if isinstance(value, list) else tuple(parts)
    return value


def read_by(index: Value) -> list[Tensor]:
    """Return the tensors that torch reads before it knows the shape; of a list, as a tensor."""
    return [x for item in _items(index) if (x := _read_by(item)) is not None]


def with_coordinates(index: Value) -> tuple[Value, ...]:
    """Return the index with each mask replaced by the coordinates where it is true, as torch does.

    A tensor without dimensions becomes its number.
    """
    return tuple(part for item in _items(index) for part in _coordinates(item))


def _items(index: Value) -> tuple[Value, ...]:
    return index if type(index) is tuple else (index,)


def _read_by(item: Value) -> Tensor | None:
    if isinstance(item, Tensor):
        return item if item.dtype in _MASKS or not item.ndim else None
    is_mask = type(item) is list and {type(each) for each in _leaves(item)} == {bool}
    return torch.tensor(item) if is_mask else None


def _coordinates(item: Value) -> tuple[Value, ...]:
    x = _read_by(item)
    if x is None:
        return (item,)
    if x.ndim:
        return x.nonzero(as_tuple=True)
    return (bool(x) if x.dtype in _MASKS else int(x),)


def _leaves(items: list[Value]) -> Iterator[Value]:
    for each in items:
        if type(each) is list:
            yield from _leaves(each)
        else:
            yield each
