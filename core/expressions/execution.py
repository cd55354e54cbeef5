"""Operations done one by one, each after a dry run, within the limits of a program."""

import time
from collections.abc import Callable
from contextlib import nullcontext
from functools import cache

import torch
from torch import Tensor

from core.expressions.dry_run import REFUSALS, Allowance
from core.expressions.error import ExpressionError, Span
from core.expressions.gradients import GRADIENT_METHODS
from core.expressions.limits import Limits
from core.expressions.operation import Operation, Value
from core.language import _

Execute = Callable[[Operation, torch.Generator | None], Value]


def run_plainly(operation: Operation, generator: torch.Generator | None) -> Value:
    """Do an operation, and nothing else."""
    return operation.run(generator)


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
        self._allowance = Allowance(limits)
        self._num_steps = 0
        load_checks()
        self._ends = limits.ends or time.monotonic() + limits.seconds
        self._generator = None if limits.on_meta else torch.Generator().manual_seed(0)
        self._device = torch.device("meta") if limits.on_meta else nullcontext()

    def perform(self, operation: Operation) -> Value:
        """Return what an operation gives.

        Raises:
            ExpressionError: If it passes a limit, or torch refuses it.
        """
        self._check_effort(operation)
        if self._records_gradients:
            self._remember(operation)
        if operation.call.is_stateful:
            return self._perform_watched(operation)
        try:
            self._allowance.check(operation)
        except REFUSALS as error:
            if isinstance(error, ExpressionError):
                raise
            refused: Exception | None = error
        else:
            refused = None
        try:
            result = self._run(operation)
        except REFUSALS as error:
            raise _refusal(operation, error) from None
        if refused is not None or operation.call.reads_values:
            self._allowance.check_result(operation, result)
        return result

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

    def _run(self, operation: Operation) -> Value:
        with self._switch(), self._device:  # what a program makes has no data either
            return self._execute(operation, self._generator)

    def _perform_watched(self, operation: Operation) -> Value:
        """Do what no dry run foretells; end it when what ran underneath passes a limit."""
        try:
            with self._allowance.watching(operation, lambda: self.check_time(operation.span)):
                return self._run(operation)
        except REFUSALS as error:
            raise _refusal(operation, error) from None

    def _check_effort(self, operation: Operation) -> None:
        self._num_steps += 1
        if self._num_steps > self._limits.num_steps:
            message = _("More than {limit} steps; shorten the program.")
            limit = self._limits.num_steps
            raise ExpressionError(message.format(limit=limit), operation.span)
        self.check_time(operation.span)

    def check_time(self, span: Span) -> None:
        """Refuse what comes after the program's seconds."""
        if time.monotonic() > self._ends:
            message = _("The program took longer than {seconds} s.")
            raise ExpressionError(message.format(seconds=self._limits.seconds), span)


def _refusal(operation: Operation, error: Exception) -> ExpressionError:
    if isinstance(error, ExpressionError):
        return error
    message = _("{call} is refused.").format(call=operation.call.name)
    return ExpressionError(message, operation.span, torch_message=str(error))
