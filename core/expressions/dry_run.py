"""An operation on tensors without data: shapes, bytes and FLOPs before anything is allocated."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, Final

import torch
from einops import EinopsError
from torch import Tensor

from core.expressions.dispatch import Watching, storage_id
from core.expressions.error import ExpressionError
from core.expressions.limits import Limits
from core.expressions.methods import NUM_PARTS
from core.expressions.operation import INDEX, WRITE, Operation, Value, tensors_in
from core.language import _
from core.units import format_bytes, format_exact

# What torch and einops raise where a call cannot be: shapes, indices, dtypes, patterns. Parts of
# torch that are written in Python assert; a number may be too large for its C++.
REFUSALS = (
    *(RuntimeError, ValueError, IndexError, TypeError, AssertionError, OverflowError),
    EinopsError,
)
_MASKS: Final = {torch.bool, torch.uint8}  # whose values an index reads


class Allowance:
    """What is left of the limits of one program; asked before each operation."""

    def __init__(self, limits: Limits) -> None:
        self.limits = limits
        self._num_bytes = 0

    def check(self, operation: Operation) -> None:
        """Run it on `meta` and count.

        Raises:
            ExpressionError: If it would pass a limit.
            RuntimeError, ValueError, IndexError, TypeError, EinopsError: What torch refuses.
        """
        self._check_num_parts(operation)
        if operation.call is WRITE:  # as many elements as may be read may be written
            self.check(replace(operation, call=INDEX, arguments=operation.arguments[:2]))
        if operation.call.reads_values:
            self._check_unknown(operation)
            return
        if operation.call is INDEX and read_by(operation.arguments[1]):
            operation = self._with_coordinates(operation)
        watch = _Counting(operation, self)
        shadows = tuple(shadow(value) for value in operation.arguments)
        chance = (None,) if operation.call.is_random else ()
        with torch.no_grad(), torch.device("meta"), watch.watching:
            result = operation.call.run(*shadows, *chance)
        self.check_result(operation, result)
        self._num_bytes += watch.num_bytes

    @contextmanager
    def watching(self, operation: Operation, check_time: Callable[[], None]) -> Iterator[None]:
        """Count what runs within, as it runs: no tensor there is larger than those before it.

        Raises:
            ExpressionError: From within, once it passes a limit.
        """
        watch = _Counting(operation, self, check_time)
        with watch.watching:
            yield
        self._num_bytes += watch.num_bytes

    def _check_num_parts(self, operation: Operation) -> None:
        """Refuse more parts than can be shown, before torch makes each of them."""
        count_parts = NUM_PARTS.get(operation.call.name)
        num_parts = count_parts(*operation.arguments) if count_parts else 0
        if num_parts > self.limits.num_outputs:
            self._refuse_outputs(operation, num_parts)

    def check_result(self, operation: Operation, result: Value) -> None:
        """Refuse more outputs or dimensions than can be shown."""
        outputs = list(tensors_in(result))
        if len(outputs) > self.limits.num_outputs:
            self._refuse_outputs(operation, len(outputs))
        for x in outputs:
            self._check_size(operation, x)

    def _refuse_outputs(self, operation: Operation, count: int) -> None:
        message = _("This gives {count} tensors; at most {limit} can be shown.")
        limit = self.limits.num_outputs
        self.refuse(operation, message, count=format_exact(count), limit=limit)

    def _check_size(self, operation: Operation, x: Tensor) -> None:
        if x.ndim > self.limits.rank:
            message = _("The result has {rank} dimensions; at most {limit} can be drawn.")
            self.refuse(operation, message, rank=x.ndim, limit=self.limits.rank)
        if x.numel() > self.limits.num_elements:
            message = _(
                "The result has {count} elements; at most {limit} are computed here. With a "
                "larger x, only shapes and bytes are computed, without data."
            )
            limit = format_exact(self.limits.num_elements)
            self.refuse(operation, message, count=format_exact(x.numel()), limit=limit)

    def check_work(self, operation: Operation, num_bytes: int, flops: int) -> None:
        """Refuse what would take too much memory or time."""
        if self._num_bytes + num_bytes > self.limits.num_bytes:
            message = _("The program would allocate {size} up to this step; the limit is {limit}.")
            size = format_bytes(self._num_bytes + num_bytes)
            self.refuse(operation, message, size=size, limit=format_bytes(self.limits.num_bytes))
        if flops > self.limits.flops:
            message = _("This product takes {count} FLOPs; the limit here is {limit}.")
            limit = format_exact(self.limits.flops)
            self.refuse(operation, message, count=format_exact(flops), limit=limit)

    def check_num_calls(self, operation: Operation, count: int) -> None:
        """Refuse a backward pass through a graph that has grown too large."""
        if count > self.limits.num_calls:
            message = _("This takes more than {limit} calls of PyTorch underneath; shorten it.")
            self.refuse(operation, message, limit=format_exact(self.limits.num_calls))

    def refuse(self, operation: Operation, message: str, **values: Any) -> None:  # noqa: ANN401
        """Raise the error of an operation."""
        raise ExpressionError(message.format(**values), operation.span)

    def _check_unknown(self, operation: Operation) -> None:
        """Bound what only the values decide: all elements, if every one is taken."""
        self._check_coordinates(operation, operation.inputs)
        shape = torch.broadcast_shapes(*(x.shape for x in operation.inputs))
        everything = torch.empty((), device="meta").expand(shape)
        self._check_size(operation, everything)

    def _with_coordinates(self, operation: Operation) -> Operation:
        """Return an index whose result has a shape that a dry run can tell."""
        x, index = operation.arguments
        self._check_coordinates(operation, read_by(index))
        return replace(operation, arguments=(x, with_coordinates(index)))

    def _check_coordinates(self, operation: Operation, tensors: Sequence[Tensor]) -> None:
        """Count 8 bytes for each coordinate of each element, as if all were taken."""
        if self.limits.on_meta:
            message = _(
                "The shape of the result depends on the values; tensors as large as x "
                "have none here."
            )
            self.refuse(operation, message)
        num_bytes = sum(8 * max(x.ndim, 1) * x.numel() for x in tensors)
        self.check_work(operation, num_bytes, 0)
        self._num_bytes += num_bytes


class _Counting:
    """Adds up the bytes and FLOPs of one operation, hidden copies too."""

    def __init__(
        self,
        operation: Operation,
        allowance: Allowance,
        check_time: Callable[[], None] = lambda: None,
    ) -> None:
        self.num_bytes, self.flops, self._num_calls = 0, 0, 0
        self._check_time = check_time
        self.watching = Watching(self._tell)
        self._operation, self._allowance = operation, allowance

    def _tell(
        self, _overload: object, inputs: Sequence[Tensor], outputs: Sequence[Tensor], flops: int
    ) -> None:
        self._check_time()
        self._num_calls += 1
        self._allowance.check_num_calls(self._operation, self._num_calls)
        known = {storage_id(x) for x in inputs}
        self.flops += flops
        for x in outputs:
            if storage_id(x) not in known:
                self.num_bytes += x.untyped_storage().nbytes()
        self._allowance.check_work(self._operation, self.num_bytes, self.flops)


def shadow(value: Value) -> Value:
    """Return the value with tensors that have shape, strides, offset and dtype, but no data."""
    if isinstance(value, Tensor):
        return _shadow_of(value)
    if type(value) in {tuple, list}:
        return type(value)(shadow(each) for each in value)
    return value


def _shadow_of(x: Tensor) -> Tensor:
    if x.is_meta:
        return x
    num_elements = x.untyped_storage().nbytes() // x.element_size()
    storage = torch.empty(num_elements, dtype=x.dtype, device="meta")
    return storage.as_strided(x.shape, x.stride(), x.storage_offset())


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
