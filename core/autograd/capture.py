"""One forward and one backward of real torch, as plain data."""

import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Final

import torch
from torch import Tensor, nn

from core.autograd.assembly import Assembly
from core.autograd.forward import LimitReached, Limits
from core.autograd.graph import Capture, Failure
from core.autograd.session import Session, kept_as_it_was
from core.expressions import ExpressionError
from core.models.chance import alone_with_chance

DEFAULT: Final = Limits()
_REFUSALS: Final = (RuntimeError, ValueError, TypeError, IndexError)


def capture(
    function: Callable[..., Tensor],
    leaves: Mapping[str, Tensor],
    module: nn.Module | None = None,
    *,
    limits: Limits = DEFAULT,
    jacobian_of: str = "",
    **how: Any,  # noqa: ANN401  retain_graph, create_graph, gradient
) -> Capture:
    """Run `function(**leaves)` and its backward, and return the graph that the engine ran.

    What was handed in is not changed, a module's gradients, buffers and the state of torch's random
    numbers are given back as they were, and nothing of torch outlives the call.

    Args:
        function: Called once.
        leaves: Its arguments by name; copies of them are used.
        module: The model that it calls, if it calls one: its parameters are leaves too.
        limits: Where they end the capture, what was captured until then is kept.
        jacobian_of: Id of a node whose local Jacobian is wanted; ids never change.
        how: `gradient`, `retain_graph` and `create_graph` of `Tensor.backward`.
    """
    with alone_with_chance(), kept_as_it_was(module), all_warnings() as told:
        session = Session(leaves, module, limits, jacobian_of)

        def run() -> Tensor:
            with session.recording():
                result = function(**session.inputs)
            session.find_nodes()
            session.backward(result, **how)
            return result

        return finish(session, run, told)


@contextmanager
def all_warnings() -> Iterator[list[warnings.WarningMessage]]:
    """Record every warning within, also those that torch gives once in the life of a process."""
    was_always = torch.is_warn_always_enabled()
    torch.set_warn_always(True)
    try:
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            yield told
    finally:
        torch.set_warn_always(was_always)


def finish(
    session: Session, run: Callable[[], Tensor | None], told: list[warnings.WarningMessage]
) -> Capture:
    """Run what is captured and return all of it, also where an error or a limit ends it early."""
    result: Tensor | None = None
    error: Exception | None = None
    limits: tuple[str, ...] = ()
    try:
        result = run()
    except LimitReached as reached:
        limits = (reached.limit,)
    except _REFUSALS as refused:
        error = refused
    try:
        session.find_nodes()
    except LimitReached as reached:
        limits = tuple(dict.fromkeys((*limits, reached.limit)))
    assembly = Assembly(session)
    passes = session.engine.passes
    roots = [each.root for each in passes]
    return Capture(
        nodes=assembly.nodes(),
        edges=tuple(assembly.edges()),
        ghosts=tuple(assembly.ghosts()),
        events=tuple(assembly.events()),
        leaves=assembly.leaves(),
        root=assembly.ids.get(roots[-1], "") if roots and roots[-1] is not None else "",
        result=session.budget.info(result) if result is not None else None,
        planned=tuple(assembly.ids[node] for node in passes[-1].planned) if passes else (),
        warnings=tuple(str(each.message) for each in told),
        limits_hit=limits,
        error=_failure(session, assembly, error) if error else None,
        jacobian=session.jacobian,
        torch_version=torch.__version__,
        printed=session.printed,
    )


def _failure(session: Session, assembly: Assembly, error: Exception) -> Failure:
    passes = session.engine.passes
    failed = passes[-1].failed if passes else None
    words = error.torch_message if isinstance(error, ExpressionError) else ""
    if isinstance(error, ExpressionError):
        session.recorder.place.line = error.line
    return Failure(
        kind="RuntimeError" if words else type(error).__name__,
        message=words or str(error),
        node=assembly.ids[failed] if failed is not None else "",
        line=session.recorder.place.line,
    )
